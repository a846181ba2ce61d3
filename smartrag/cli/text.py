"""Text on its way in from the shell and out to the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import typer

LONGEST_QUESTION = 2000
"""Characters of a question; a longer one would leave no room for evidence."""

# Control characters would let a document move the cursor or rename the window; a lone surrogate
# cannot be written at all. Line ends and tabs are left to the caller.
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def cleaned(argument: str) -> str:
    """An argument as valid Unicode: bytes that were no UTF-8 arrive as lone surrogates."""
    try:
        raw = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        raw = argument.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")


def question_of(argument: str) -> str:
    """The question in an argument; raises typer.BadParameter if it is empty or too long."""
    question = cleaned(argument).strip()
    if not question:
        raise typer.BadParameter("the question is empty")
    if len(question) > LONGEST_QUESTION:
        raise typer.BadParameter(
            f"the question has {len(question):,} characters and may have {LONGEST_QUESTION:,}"
        )
    return question


def shown(text: str) -> str:
    """`text` with � in place of every character that would steer the terminal."""
    return _UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str, most: int = 0) -> str:
    """`text` in one line, cut to `most` characters (0: not at all)."""
    line = shown(" ".join(text.split()))
    return line if not most or len(line) <= most else line[: most - 1].rstrip() + "…"


def document_name(name: str) -> str:
    """A document's name for reading: relative to the current folder where it lies inside."""
    try:
        here = Path.cwd()
    except OSError:  # the current folder has been removed
        return one_line(name)
    path = Path(name)
    if not path.is_absolute() or not path.is_relative_to(here):
        return one_line(name)
    return one_line(path.relative_to(here).as_posix())


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 document", "2 documents"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(size_bytes: int) -> str:
    """Bytes in a unit that keeps the number short."""
    for unit, of_unit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= of_unit:
            return f"{size_bytes / of_unit:.1f} {unit}"
    return f"{size_bytes} B"
