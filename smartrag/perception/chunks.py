"""A document cut into paragraphs: the unit of writing and of retrieval (paper §3.3).

Neighbouring blocks (pieces between blank lines) of one section share a paragraph while they fit;
a block that does not fit alone is split between sentences, and each piece repeats the last tokens
of the one before it. Nothing crosses a section border, so a heading and a page belong to a whole
paragraph (Android RAG: 180–220 tokens, 30 tokens overlap, boundaries preserved).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from smartrag.perception.encoder import TokenSpans
from smartrag.settings import PerceptionSettings
from smartrag.text import sentence_spans
from smartrag.types import Document, Paragraph, Section

_BLOCK = re.compile(r"\S(?:.*?\S)?(?=[^\S\n]*\n[^\S\n]*\n|\s*\Z)", re.DOTALL)


def chunk(
    document: Document, settings: PerceptionSettings, token_spans: TokenSpans
) -> list[Paragraph]:
    """The paragraphs of `document` in text order; each has at most `chunk_tokens` tokens.

    Every character that is not white space lies in at least one paragraph.
    """
    paragraphs: list[Paragraph] = []
    for section in document.sections or (Section(0, len(document.text)),):
        label = label_of(document.title, section.heading)
        for start, end in _spans(document.text, section, settings, token_spans):
            paragraphs.append(
                Paragraph(
                    position=len(paragraphs),
                    start=start,
                    end=end,
                    text=document.text[start:end],
                    label=label,
                    heading=section.heading,
                    page=section.page,
                )
            )
    return paragraphs


def label_of(title: str, heading: tuple[str, ...]) -> str:
    """Title and heading path in one line, without repeating a name that follows itself."""
    parts: list[str] = []
    for name in (title, *heading):
        clean = " ".join(name.split())
        if clean and (not parts or clean.casefold() != parts[-1].casefold()):
            parts.append(clean)
    return " › ".join(parts)


def _spans(
    text: str, section: Section, settings: PerceptionSettings, token_spans: TokenSpans
) -> Iterator[tuple[int, int]]:
    limit = max(1, settings.chunk_tokens)
    pending: tuple[int, int] | None = None
    pending_tokens = 0
    for block in _BLOCK.finditer(text, section.start, section.end):
        start, end = block.span()
        starts = [start + a for a, _ in token_spans(text[start:end])]
        if pending and pending_tokens + len(starts) <= limit:
            pending = (pending[0], end)
            pending_tokens += len(starts)
            continue
        if pending:
            yield pending
            pending = None
        if len(starts) <= limit:
            pending, pending_tokens = (start, end), len(starts)
        else:
            yield from _split(text, start, end, starts, limit, settings.overlap_tokens)
    if pending:
        yield pending


def _split(
    text: str, start: int, end: int, token_starts: list[int], limit: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Pieces of `text[start:end]` of roughly equal length, each at most `limit` tokens."""

    def tokens(a: int, b: int) -> int:
        return bisect_left(token_starts, b) - bisect_left(token_starts, a)

    overlap = min(overlap, limit // 4)
    n_pieces = -(-len(token_starts) // max(1, limit - overlap))
    target = min(limit, -(-len(token_starts) // n_pieces) + overlap)
    begin = last = start
    for unit_start, unit_end in _units(text, start, end, token_starts, target):
        if last > begin and tokens(begin, unit_end) > target:
            yield begin, last
            begin = _step_back(text, token_starts, unit_start, overlap)
            if tokens(begin, unit_end) > target:
                begin = unit_start
        last = unit_end
    yield begin, end


def _units(
    text: str, start: int, end: int, token_starts: list[int], most: int
) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, cut where one is longer than `most` tokens."""
    for a, b in sentence_spans(text[start:end]):
        first, stop = start + a, start + b
        row = bisect_left(token_starts, first)
        while bisect_left(token_starts, stop) - row > most:
            cut = token_starts[row + most]
            yield first, first + len(text[first:cut].rstrip())
            first, row = cut, row + most
        yield first, stop


def _step_back(text: str, token_starts: list[int], position: int, n_tokens: int) -> int:
    """Where the last `n_tokens` tokens before `position` begin, moved on to the start of a word."""
    row = bisect_left(token_starts, position)
    for start in token_starts[max(0, row - n_tokens) : row]:
        if start == 0 or not text[start - 1].isalnum():
            return start
    return position
