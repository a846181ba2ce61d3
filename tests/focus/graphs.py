"""Small graphs and passages, written out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from smartrag.memory.graph import Edges, Graph
from smartrag.text import folded_words
from smartrag.types import ChannelScores, Passage


def f32(*values: float) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def graph(
    names: Sequence[str],
    sentences: Sequence[Sequence[Sequence[int]]],
    about: Sequence[Mapping[int, float]],
    *,
    rarity: Sequence[float] | None = None,
    frequency: Sequence[int] | None = None,
) -> Graph:
    """`sentences[p]` holds the entities of each sentence of paragraph p, `about[p]` the weights.

    `rarity` is 1 for all and `frequency` counted, unless they are given.
    """
    mentioned = [{e for x in of_p for e in x} for of_p in sentences]
    described = [{p: w[e] for p, w in enumerate(about) if e in w} for e in range(len(names))]
    counted = [
        sum(e in m or e in a for m, a in zip(mentioned, about, strict=True))
        for e in range(len(names))
    ]
    aliases: dict[tuple[str, ...], tuple[int, ...]] = {}
    for e, bearers in enumerate(described):
        if bearers:
            key = folded_words(names[e])
            aliases[key] = (*aliases.get(key, ()), e)
    firsts = {key[0] for key in aliases}
    return Graph(
        first_sentence=np.cumsum([0, *(len(of_p) for of_p in sentences)], dtype=np.int64),
        entities_in=_edges([dict.fromkeys(x, 1.0) for of_p in sentences for x in of_p]),
        mentioned_by=_edges(
            [{p: 1.0 for p, m in enumerate(mentioned) if e in m} for e in range(len(names))]
        ),
        described_by=_edges(described),
        about=_edges(about),
        frequency=np.array(frequency or counted, dtype=np.int64),
        rarity=np.array(rarity or [1.0] * len(names), dtype=np.float32),
        names=tuple(names),
        aliases=aliases,
        alias_lengths={
            word: tuple(sorted({len(k) for k in aliases if k[0] == word}, reverse=True))
            for word in firsts
        },
    )


def passage(number: int, *sentences: str, label: str = "", start: int = 0) -> Passage:
    """A passage of these sentences, joined by a space, of which all are kept."""
    spans, text = [], ""
    for sentence in sentences:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    return Passage(
        paragraph_id=number,
        document=f"d{number}",
        label=label,
        heading=(),
        page=None,
        start=start,
        end=start + len(text),
        text=text,
        sentences=tuple(spans),
        kept=tuple(range(len(sentences))),
        stage="fused",
        score=1.0,
        channels=ChannelScores(),
    )


def _edges(rows: Sequence[Mapping[int, float]]) -> Edges:
    ordered = [sorted(row.items()) for row in rows]
    return Edges(
        np.cumsum([0, *(len(row) for row in ordered)], dtype=np.int64),
        np.array([t for row in ordered for t, _ in row], dtype=np.int64),
        np.array([w for row in ordered for _, w in row], dtype=np.float32),
    )
