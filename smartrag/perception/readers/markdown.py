"""Markdown: the text is the source; headings and front matter stand outside the sections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from smartrag.perception.readers.parts import Outline, one_line, title_from
from smartrag.types import Document, Section

_FRONT_MATTER = re.compile(
    # A key on the first line tells front matter from a text between two thematic breaks.
    r"---[ \t]*\n(?=[^\n]*:|#|---|\.\.\.)(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*$")
_NO_PARAGRAPH = re.compile(r"[ \t]*$| {4}|\t| {0,3}(?:[-+*>|]|\d{1,9}[.)][ \t])")
"""Lines that a row of dashes does not turn into a heading: blank, code, list, quote or table."""


def read_markdown(text: str, name: str) -> Document:
    """The document of a Markdown text (CommonMark headings; its text is unchanged).

    The title is that of the front matter, else the first heading of level 1, else the file's name.
    One difference to CommonMark: a paragraph of several lines above a row of dashes stays text,
    since a heading belongs to no section and the paragraph would be lost.
    """
    front = _FRONT_MATTER.match(text)
    titled = _FRONT_TITLE.search(front[0]) if front else None
    title = one_line(titled[1].strip().strip("\"'")) if titled else ""
    split = _split(text, front.end() if front else 0)
    return Document(
        name=name,
        text=text,
        title=title or split.first_title or title_from(name),
        sections=tuple(split.sections),
        media_type="text/markdown",
    )


@dataclass
class _Split:
    """The sections of `text` so far; the one that is open began at `begin`."""

    text: str
    begin: int
    outline: Outline = field(default_factory=Outline)
    sections: list[Section] = field(default_factory=list)
    first_title: str = ""

    def close(self, end: int) -> None:
        piece = self.text[self.begin : end]
        if stripped := piece.strip():
            start = self.begin + len(piece) - len(piece.lstrip())
            self.sections.append(Section(start, start + len(stripped), self.outline.path))

    def enter(self, level: int, heading: str, start: int, end: int) -> None:
        self.close(start)
        self.begin = end
        self.outline.enter(level, heading)
        if level == 1 and not self.first_title:
            self.first_title = one_line(heading)


def _split(text: str, start: int) -> _Split:
    split = _Split(text, start)
    fence = ""
    fresh = True  # no paragraph is open, so that the next line may begin one
    above: re.Match[str] | None = None  # the line before, where it is a paragraph of one line
    for line in _LINE.finditer(text, start):
        content = line[0].rstrip("\n")
        candidate, above = above, None
        if fence:
            if _closes(content, fence):
                fence, fresh = "", True
        elif opening := _FENCE.match(content):
            fence = opening[1]
        elif atx := _ATX.match(content):
            split.enter(
                len(atx[1]), _without_closing(content[atx.end() :]), line.start(), line.end()
            )
            fresh = True
        elif candidate and (underline := _SETEXT.match(content)):
            level = 1 if underline[1].startswith("=") else 2
            split.enter(level, candidate[0], candidate.start(), line.end())
            fresh = True
        else:
            if fresh and not _NO_PARAGRAPH.match(content):
                above = line
            fresh = not content.strip() or _SETEXT.match(content) is not None
    split.close(len(text))
    return split


def _closes(line: str, fence: str) -> bool:
    """Whether `line` is a fence of the same character, at least as long, with nothing behind it."""
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def _without_closing(heading: str) -> str:
    """`heading` without the optional closing marks: "Plan ##" → "Plan", but "C#" stays."""
    heading = heading.strip()
    bare = heading.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else heading
