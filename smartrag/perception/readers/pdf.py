"""PDF: the text layer, page by page."""

from __future__ import annotations

import io
import logging
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from smartrag.errors import MissingExtra, ReadError
from smartrag.perception.readers.parts import Part, join_parts, one_line, title_from
from smartrag.types import Document

_HEADER_WITHIN = 1024
"""Readers of the format accept the header anywhere in the first kilobyte."""
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n[ \t]*([^\W\d_])")
_SILENCE = threading.Lock()


def read_pdf(data: bytes, name: str) -> Document:
    """The document of a PDF, one section a page that has text, with its number from 1.

    Words hyphenated at a line end are joined. The title is that of the metadata, else the file's
    name. An empty password is tried on encrypted files. Raises ReadError for files that are
    damaged, encrypted or without text, and MissingExtra where pypdf is not installed.
    """
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise _damaged(name, "it does not begin as a PDF")
    if b"%%EOF" not in data:
        raise _damaged(name, "its end is missing")
    with _silent():
        title, pages = _extract(data, name)
    parts = [Part(_joined_words(page), page=n) for n, page in enumerate(pages, start=1)]
    text, sections = join_parts(parts)
    if not sections:
        raise ReadError(
            "the PDF has no text layer; its pages may be scanned images",
            subject=name,
            remedy="Run text recognition (OCR) on it first",
        )
    return Document(name, text, one_line(title) or title_from(name), sections, "application/pdf")


def _extract(data: bytes, name: str) -> tuple[str, list[str]]:
    """The title in the metadata ("" for none) and the text of each page."""
    try:
        import pypdf
        from pypdf.errors import DependencyError, FileNotDecryptedError
    except ImportError as error:
        raise MissingExtra("pypdf", extra="pdf", stage="read") from error
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted(name, "the PDF is encrypted with a password")
        title = reader.metadata.title if reader.metadata else None
        pages = [page.extract_text() for page in reader.pages]
    except ReadError:
        raise
    except DependencyError as error:
        raise _encrypted(name, "the PDF is encrypted by a method that pypdf alone lacks") from error
    except FileNotDecryptedError as error:
        raise _encrypted(name, "the PDF is encrypted with a password") from error
    # On damaged files pypdf raises whatever the damage leads to (KeyError, TypeError, zlib.error,
    # RecursionError, …); to the user all of them say that the file is damaged.
    except Exception as error:
        raise _damaged(name, f"{type(error).__name__}: {one_line(str(error))}") from error
    if not pages:
        raise _damaged(name, "it has no pages")
    return title or "", pages


def _joined_words(page: str) -> str:
    """Hyphens at a line end removed before a small letter: "Anglo-" above "Saxon" is kept."""
    return _LINE_END_HYPHEN.sub(lambda m: m[1] if m[1].islower() else m[0], page)


@contextmanager
def _silent() -> Iterator[None]:
    """Keep pypdf's log messages and warnings from the user, who gets a document or an error.

    Both switches belong to the whole process, hence one thread at a time: two that save and
    restore them in turn could leave them off for good.
    """
    log = logging.getLogger("pypdf")
    with _SILENCE, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        level = log.level
        log.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            log.setLevel(level)


def _damaged(name: str, why: str) -> ReadError:
    return ReadError(
        f"the PDF is damaged or incomplete ({why})",
        subject=name,
        remedy="Fetch or export the file again",
    )


def _encrypted(name: str, problem: str) -> ReadError:
    return ReadError(problem, subject=name, remedy="Save a copy without encryption and read that")
