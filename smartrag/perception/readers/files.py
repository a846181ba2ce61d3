"""Which files are read, by which reader, and what makes a file unreadable before any reader."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from smartrag.errors import ReadError
from smartrag.perception.readers.encoding import decode, is_binary
from smartrag.perception.readers.html import read_html
from smartrag.perception.readers.jsonl import read_json, read_jsonl
from smartrag.perception.readers.markdown import read_markdown
from smartrag.perception.readers.pdf import read_pdf
from smartrag.perception.readers.plain import read_plain
from smartrag.perception.readers.table import read_csv, read_tsv
from smartrag.settings import ReadSettings
from smartrag.types import Document

_PDF = ".pdf"
_TEXT_READERS: dict[str, Callable[[str, str], Document]] = {
    ".txt": read_plain,
    ".text": read_plain,
    ".log": read_plain,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
}

SUFFIXES = frozenset({*_TEXT_READERS, _PDF})
"""Suffixes, in small letters, that have a reader; in a folder only such files are found."""

_BYTES_PER_MB = 1_000_000


def read(path: Path, name: str, settings: ReadSettings) -> Document:
    """The document in the file at `path`, under `name`; its suffix (in any case) says the format.

    A file with another suffix is read as plain text if it is text. Raises ReadError where the file
    cannot be read, is too large, is no text, is damaged or holds nothing but white space, and
    MissingExtra for a PDF where pypdf is not installed.
    """
    data = _load(path, name, settings)
    suffix = path.suffix.lower()
    if suffix == _PDF:
        return read_pdf(data, name)
    if is_binary(data):
        raise ReadError(
            "the file is binary, not text",
            subject=name,
            remedy="Convert it to a text format in UTF-8",
        )
    text, encoding = decode(data)
    reader = _TEXT_READERS.get(suffix, read_plain)
    document = replace(reader(text, name), encoding=encoding)
    if not any(document.text[s.start : s.end].strip() for s in document.sections):
        raise _empty(name)
    return document


def _refuse(error: ReadError) -> None:
    raise error


def find_files(
    paths: Sequence[Path], on_unlistable: Callable[[ReadError], None] = _refuse
) -> Iterator[Path]:
    """Files as they are given; folders with all below them, sorted by name.

    In folders, hidden files, hidden folders, links to folders and files without a known suffix are
    skipped. A path that does not exist is passed on, so that `read` says so. A folder that cannot
    be listed is given to `on_unlistable` as an error, which is raised unless the caller goes on:
    to skip the folder may look as if its files had been removed.
    """
    for path in paths:
        if _is_folder(path):
            yield from _below(path, on_unlistable)
        else:
            yield path


def _below(folder: Path, on_unlistable: Callable[[ReadError], None]) -> Iterator[Path]:
    waiting = [(folder, True)]
    while waiting:
        path, is_folder = waiting.pop()
        if is_folder:
            try:
                # Reversed, since the last one is taken next.
                waiting += sorted(_visible(path), reverse=True)
            except OSError as error:
                on_unlistable(_unreadable(str(path), error))
        elif path.suffix.lower() in SUFFIXES and not _is_folder(path):
            yield path


def _visible(folder: Path) -> list[tuple[Path, bool]]:
    """What `folder` holds and is not hidden, each with whether it is a folder and not a link."""
    with os.scandir(folder) as entries:
        return [
            (folder / entry.name, entry.is_dir(follow_symlinks=False))
            for entry in entries
            if not entry.name.startswith(".")
        ]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # `read` will say why
        return False


def _load(path: Path, name: str, settings: ReadSettings) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ReadError("it is a folder", subject=name, remedy="Give the files in it")
        if not stat.S_ISREG(status.st_mode):
            # A pipe or a device may never end.
            raise ReadError("it is not a regular file", subject=name, remedy="Copy it to a file")
        if status.st_size > settings.largest_file_mb * _BYTES_PER_MB:
            raise _too_large(name, status.st_size, settings)
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(name, error) from error
    if not data.strip():
        raise _empty(name)
    return data


def _too_large(name: str, size: int, settings: ReadSettings) -> ReadError:
    return ReadError(
        f"the file has {round(size / _BYTES_PER_MB, 3):g} MB"
        f" and the limit is {settings.largest_file_mb:g} MB",
        subject=name,
        remedy="Split it, or raise the setting read.largest_file_mb",
    )


def _unreadable(name: str, error: OSError | ValueError) -> ReadError:
    reason = error.strerror if isinstance(error, OSError) else None
    return ReadError(
        f"it cannot be opened ({reason or error})",
        subject=name,
        remedy="Check that it exists and that you may read it",
    )


def _empty(name: str) -> ReadError:
    return ReadError(
        "it is empty: there is no text to read", subject=name, remedy="Leave it out, or fill it"
    )
