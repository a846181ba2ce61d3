"""The final order: a few guaranteed places, then everything else by score.

Hop scores of several bridges would otherwise push the first hop out of the list, so passages that
the question names, and the best dense one, keep a place whatever the hops say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smartrag.focus.channels import Relevance, highest
from smartrag.focus.hops import Hops
from smartrag.focus.linking import Link
from smartrag.memory.graph import Graph
from smartrag.settings import FocusSettings
from smartrag.types import FloatArray, Stage

_BASE_AMONG_NAMESAKES = 0.2


@dataclass(frozen=True, slots=True)
class Start:
    """Scores before any hop: `fused` without and `scores` with the question's links, float32[n]."""

    fused: FloatArray
    link: FloatArray
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class Ranked:
    """A paragraph row, why it is here, and its score."""

    row: int
    stage: Stage
    score: float


def start(
    graph: Graph,
    scored: Relevance,
    sentence: FloatArray,
    found: Sequence[Link],
    settings: FocusSettings,
) -> Start:
    """Lexical, dense and sentence relevance, plus a bonus for what the question names."""
    fused = (
        scored.lexical + settings.dense_weight * scored.dense + settings.sentence_weight * sentence
    )
    link = np.zeros_like(fused)
    for k in found:
        nested = 1.0 if k.outermost else settings.nested_link
        for entity in k.entities:
            rows, about = graph.described_by.weighted(entity)
            np.maximum.at(link, rows, nested * graph.rarity[entity] * about)
    return Start(fused, link, fused + settings.link_weight * link)


def seeds(started: Start, settings: FocusSettings) -> list[int]:
    """Rows from which hops start, best first; ties go to the older paragraph."""
    return highest(started.scores, settings.seeds)


def rank(
    graph: Graph,
    scored: Relevance,
    started: Start,
    hopped: Hops | None,
    found: Sequence[Link],
    settings: FocusSettings,
) -> list[Ranked]:
    """The best `top_k` rows: places that are kept first, in the order of the start score."""
    total = started.scores if hopped is None else started.scores + hopped.scores
    kept: dict[int, Stage] = {}
    for row in _linked_rows(graph, started, found, settings):
        kept.setdefault(row, "linked")
    for row in highest(started.scores, settings.linked_slots):
        if len(kept) < settings.linked_slots:
            kept.setdefault(row, "fused")
    for row in highest(scored.cosine, settings.dense_slots):
        kept.setdefault(row, "dense")
    first = sorted(kept, key=lambda row: (-started.scores[row], row))
    seeded = set(seeds(started, settings))
    rest = [row for row in highest(total, settings.top_k + len(kept)) if row not in kept]
    ordered = [Ranked(row, kept[row], float(total[row])) for row in first] + [
        Ranked(row, "fused" if row in seeded or hopped is None else "graph", float(total[row]))
        for row in rest[: settings.top_k]
    ]
    return ordered[: settings.top_k]


def _linked_rows(
    graph: Graph, started: Start, found: Sequence[Link], settings: FocusSettings
) -> list[int]:
    """The best bearer of each strongly linked name, strongest first."""
    strong = [k for k in found if k.outermost and k.strength >= settings.slot_strength]
    rows = []
    for link in sorted(strong, key=lambda k: (-k.strength, k.start)):
        bearers: dict[int, float] = {}
        for entity in link.entities:
            for row, about in zip(*graph.described_by.weighted(entity), strict=True):
                value = float(about) + _BASE_AMONG_NAMESAKES * float(started.fused[row])
                bearers[int(row)] = max(value, bearers.get(int(row), 0.0))
        rows.append(max(bearers, key=lambda row: (bearers[row], -row)))
    return list(dict.fromkeys(rows))[: settings.linked_slots]
