"""Files from the Hugging Face hub, continued where an earlier attempt ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from smartrag.models.disk import (
    BLOCK,
    Progress,
    SourceError,
    need_room,
    read_line,
    tag_of,
    write,
)
from smartrag.models.registry import HubSource, ModelFile, size_of

_TIMEOUT_S = 5.0
"""For the connection and for every wait in between; a broken one is taken up again."""


def from_hub(file: ModelFile, source: HubSource, partial: Path, progress: Progress) -> str:
    """Fetch `partial` from the hub; returns its sum.

    A broken connection is taken up again for as long as every attempt gets further.
    """
    while True:
        before = size_of(partial)
        try:
            return _attempt(file, source, partial, progress)
        except SourceError:
            if size_of(partial) <= before:
                raise


def _attempt(file: ModelFile, source: HubSource, partial: Path, progress: Progress) -> str:
    # Continued only under the tag it was begun with, so that no two versions are ever mixed. The
    # server compares: it sends the rest (206), or all of a file that has changed since (200).
    tag = read_line(tag_of(partial))
    start = size_of(partial) if tag else 0
    with _open(source, start, tag) as response:
        if response.status != 206:
            start = 0
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else file.size_bytes or 0
        if file.size_bytes not in (None, total):
            raise SourceError(f"it has {total:,} bytes in place of {file.size_bytes:,}")
        if not start:
            partial.unlink(missing_ok=True)
        need_room(partial.parent, total - start)
        if not start:
            tag_of(partial).write_text(_strong_tag(response), encoding="latin-1")
        found = write(
            partial, _blocks(response), start, lambda done: progress(file.name, done, total)
        )
    if total and size_of(partial) != total:
        raise SourceError(f"the connection broke after {size_of(partial):,} of {total:,} bytes")
    return found


def _open(source: HubSource, start: int, tag: str) -> HTTPResponse:
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    url = f"{endpoint.rstrip('/')}/{source.repository}/resolve/{source.revision}/"
    headers = {"User-Agent": "smartrag"}
    try:
        # A partial file that is complete already cannot be continued (416): begin again.
        for extra in ({"Range": f"bytes={start}-", "If-Range": tag}, {}) if start else ({},):
            try:
                request = Request(url + quote(source.file), headers=headers | extra)
                response = urlopen(request, timeout=_TIMEOUT_S)
            except HTTPError as error:
                error.close()
                if error.code == 416 and extra:
                    continue
                raise SourceError(f"HTTP {error.code} {error.reason}") from error
            if not isinstance(response, HTTPResponse):
                raise SourceError("HF_ENDPOINT is no address of a web server")
            return response
    except (OSError, HTTPException, ValueError) as error:
        raise SourceError(_network_reason(error)) from error
    raise AssertionError("the last attempt returns or raises")


def _blocks(response: HTTPResponse) -> Iterator[bytes]:
    # Errors of the network become SourceError here, so that an OSError of a pull is the disk's.
    try:
        while block := response.read(BLOCK):
            yield block
    except (OSError, HTTPException) as error:
        raise SourceError(_network_reason(error)) from error


def _strong_tag(response: HTTPResponse) -> str:
    # A weak tag promises the same meaning, not the same bytes.
    tag = response.headers.get("ETag", "")
    return "" if tag.startswith("W/") else tag


def _network_reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return f"it did not answer within {_TIMEOUT_S:.0f} seconds"
    return f"it cannot be reached ({reason})"
