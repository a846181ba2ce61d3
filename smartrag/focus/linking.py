"""Which stored names a text contains: the question's way into the graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from smartrag.text import STOP_WORDS, words


@dataclass(frozen=True, slots=True)
class Link:
    """`text[start:end]` is the name of these entities; `outermost` is false inside a longer name.

    `strength` (0 to 1) is the rarity of the name times the weight with which the best paragraph
    is about it, shared among all paragraphs that bear it.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    strength: float
    outermost: bool


def links(text: str, graph: Graph) -> list[Link]:
    """Every stored name in `text`, longest first at each word, and the names inside longer ones.

    Case is ignored only when the text has no capital at all, since people type questions in lower
    case; otherwise a name needs a capital somewhere, or "the last day" would be a film.
    """
    cased = text != text.lower()
    found = [
        Link(start, end, entities, _strength(entities, graph), outermost=True)
        for start, end, entities in _occurrences(text, graph, cased=cased)
    ]
    return [
        Link(k.start, k.end, k.entities, k.strength, outermost=not _is_inside(k, found))
        for k in found
    ]


def residual(text: str, found: Sequence[Link], settings: FocusSettings) -> str:
    """The question without the names that are linked strongly: what is asked *about* them.

    The second hop does not look like the question, but it does look like this rest. The whole
    question comes back when nothing can be cut or nothing is left.
    """
    rest = text
    for link in sorted(found, key=lambda k: -k.start):
        if link.outermost and link.strength >= settings.slot_strength:
            rest = rest[: link.start] + rest[link.end :]
    rest = re.sub(r"\s+", " ", rest).strip()
    return rest if any(c.isalnum() for c in rest) else text


def named_in(text: str, graph: Graph) -> set[int]:
    """The entities whose names stand in a text that is written with capitals."""
    return {e for _, _, found in _occurrences(text, graph, cased=True) for e in found}


def _occurrences(text: str, graph: Graph, *, cased: bool) -> list[tuple[int, int, tuple[int, ...]]]:
    inside = words(text)
    found = []
    reached = -1
    for i, first in enumerate(inside):
        for n in graph.alias_lengths.get(first.folded, ()):
            span = inside[i : i + n]
            entities = graph.aliases.get(tuple(w.folded for w in span))
            if entities is None or len(span) < n:
                continue
            if n == 1 and (i < reached or first.folded in STOP_WORDS or len(first.folded) < 3):
                continue
            if cased and not any(w.capital for w in span):
                continue
            found.append((first.start, span[-1].end, entities))
            reached = max(reached, i + n)
    return found


def _strength(entities: Sequence[int], graph: Graph) -> float:
    best = 0.0
    for entity in entities:
        _, weights = graph.described_by.weighted(entity)
        best = max(best, float(graph.rarity[entity]) * float(weights.max(initial=0.0)))
    return best


def _is_inside(link: Link, others: Sequence[Link]) -> bool:
    """Whether `link` overlaps a longer one, or an equally long one before it."""
    size = link.end - link.start
    return any(
        o.start < link.end
        and o.end > link.start
        and (o.end - o.start > size or (o.end - o.start == size and o.start < link.start))
        for o in others
    )
