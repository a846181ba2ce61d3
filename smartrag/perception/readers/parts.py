"""What every reader needs: a title from a name, a heading path, and parts joined into a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from smartrag.perception.readers.encoding import clean
from smartrag.types import Section


@dataclass(frozen=True, slots=True)
class Part:
    """The text of a section to be, for formats whose text is not that of the file."""

    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None


class Outline:
    """The headings above the place that a reader has reached."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        """Go below `heading`; those of the same or a deeper level are left. "" only leaves."""
        self._open = [(depth, above) for depth, above in self._open if depth < level]
        if heading := one_line(heading):
            self._open.append((level, heading))

    @property
    def path(self) -> tuple[str, ...]:
        """The headings from the top down."""
        return tuple(heading for _, heading in self._open)


def join_parts(parts: Iterable[Part], separator: str = "\n\n") -> tuple[str, tuple[Section, ...]]:
    """The text of all parts and the section of each; parts of only white space are left out.

    Texts and headings are cleaned here, since JSON escapes and PDF fonts can bring back what
    `decode` removed.
    """
    texts: list[str] = []
    sections: list[Section] = []
    start = 0
    for part in parts:
        text = clean(part.text).strip()
        if not text:
            continue
        heading = tuple(line for line in map(one_line, part.heading) if line)
        sections.append(Section(start, start + len(text), heading, part.page))
        texts.append(text)
        start += len(text) + len(separator)
    return separator.join(texts), tuple(sections)


def one_line(text: str) -> str:
    """`text` cleaned, with each run of white space as one space and none around it."""
    return " ".join(clean(text).split())


def title_from(name: str) -> str:
    """The stem of the file name with "-" and "_" as spaces: "a/road_map-2.md" → "road map 2"."""
    stem = PurePath(name).stem.replace("-", " ").replace("_", " ")
    return one_line(stem) or one_line(name)
