"""Bytes become text: any bytes give a defined result, and the name of the encoding that gave it."""

from __future__ import annotations

import codecs
import re

# Longer marks first: the one of UTF-16 is the beginning of the one of UTF-32.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_END = re.compile(r"\r\n?")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_CONTROL = 0.1
"""Random bytes have 23 % in Latin-1; text with the curly quotes of Windows stays below 5 %."""
_MOSTLY_ASCII = 0.7
_SHORTEST_UTF_16 = 4
"""Two bytes with a NUL may be anything."""


def decode(data: bytes) -> tuple[str, str]:
    r"""The text of `data` and the name of its encoding, which is also Python's name of the codec.

    A byte order mark decides ("utf-8-sig", "utf-16", "utf-32"; what is broken behind it becomes
    U+FFFD); then NULs in every second byte of mostly ASCII text ("utf-16-le", "utf-16-be"); then
    "utf-8"; and "latin-1", which never fails, comes last. The text is that of `clean`.
    """
    raw, encoding = _decode(data)
    return clean(raw), encoding


def clean(text: str) -> str:
    r"""`text` with "\n" as its only line end, and without control characters and lone surrogates.

    Each control character other than "\n" and "\t" becomes one space, so that once the line ends
    are normalised no offset moves.
    """
    return _SURROGATE.sub(" ", _CONTROL.sub(" ", _LINE_END.sub("\n", text)))


def is_binary(data: bytes) -> bool:
    """Whether `data` is no text: its characters include a NUL, or one in ten is a control."""
    raw, _ = _decode(data)
    if "\0" in raw:
        return True
    controls = sum(1 for _ in _CONTROL.finditer(_LINE_END.sub("\n", raw)))
    return controls > _MOST_CONTROL * len(raw)


def _decode(data: bytes) -> tuple[str, str]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # Files joined by hand repeat the mark; it is never part of the text.
            return data.decode(encoding, errors="replace").lstrip("\ufeff"), encoding
    for encoding in (*_utf_16_without_mark(data), "utf-8"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def _utf_16_without_mark(data: bytes) -> tuple[str, ...]:
    half = len(data) // 2
    if len(data) % 2 or len(data) < _SHORTEST_UTF_16:
        return ()
    nul_first, nul_second = data[::2].count(0), data[1::2].count(0)
    if nul_first == 0 and nul_second >= _MOSTLY_ASCII * half:
        return ("utf-16-le",)
    if nul_second == 0 and nul_first >= _MOSTLY_ASCII * half:
        return ("utf-16-be",)
    return ()
