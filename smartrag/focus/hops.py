"""Typed, directed one-hop edges from the best passages to those that complete them.

This max-product over one hop is the first-order term of a Personalised PageRank on the same
edges. From a seed s of weight w_s, an entity e mentioned in its sentence x is activated with
a_e = max w_s · r(x) · rarity(e), where r(x) grows with the sentence's likeness to the question, and
an entity the seed is about with t_e = max w_s · rarity(e) · about(s, e). Then, for a passage p ≠ s,

    forward   F_p = max a_e · about(e, p)                       mention → the passage about it
    backward  B_p = max t_e / (1 + ln frequency(e))             passage → who mentions it
    shared    C_p = max a_e / frequency(e) ** 0.75              both mention a rare entity …
    residual  R_p = max a_e · rest_p                            … and p answers the rest

over the entities e; C and R leave out what the question itself names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smartrag.memory.graph import Graph, IntArray
from smartrag.settings import FocusSettings
from smartrag.types import FloatArray

_SHARED_DAMPING = 0.75


@dataclass(frozen=True, slots=True)
class Hops:
    """Weighted sum of the four kinds, float32[n], and the strongest edge into each passage.

    `via_entity` and `via_seed` are int64[n], −1 where no edge ends.
    """

    scores: FloatArray
    via_entity: IntArray
    via_seed: IntArray


@dataclass(frozen=True, slots=True)
class Seed:
    """A passage from which hops start.

    `mentioned` are the entities in each of its sentences, `cosines` (float32, one a sentence) say
    how much the sentences are like the question.
    """

    row: int
    mentioned: tuple[tuple[int, ...], ...]
    cosines: FloatArray


@dataclass(frozen=True, slots=True)
class _Activation:
    entity: int
    strength: float
    seed: int


def hops(
    graph: Graph,
    seeds: Sequence[Seed],
    typical: float,
    best_sentence: float,
    rest: FloatArray | None,
    named: set[int],
    settings: FocusSettings,
) -> Hops:
    """Score all passages by one hop from `seeds`, best first.

    `typical` is the cosine of an average passage with the question, `best_sentence` that of the
    sentence most like it; between the two a mention gains weight. `rest` (float32[n], 0 … 1) says
    how well each passage answers the rest of the question; None when nothing was cut out of it, and
    then R is left out. `named` are entities of the question.
    """
    n = graph.n_paragraphs
    best = {kind: np.zeros(n, dtype=np.float32) for kind in ("F", "B", "C", "R")}
    via_entity, via_seed = np.full((2, n), -1, dtype=np.int64)
    via_strength = np.zeros(n, dtype=np.float32)

    def raise_to(
        kind: str, weight: float, rows: IntArray, values: FloatArray, a: _Activation
    ) -> None:
        keep = rows != a.seed
        rows, values = rows[keep], values[keep]
        np.maximum.at(best[kind], rows, values)
        stronger = weight * values > via_strength[rows]
        via_strength[rows[stronger]] = weight * values[stronger]
        via_entity[rows[stronger]], via_seed[rows[stronger]] = a.entity, a.seed

    weights = (np.arange(len(seeds)) + 1.0) ** -settings.seed_decay
    on_topic = [_on_topic(seed.cosines, typical, best_sentence, settings) for seed in seeds]
    for a in _mentioned(graph, seeds, weights, on_topic):
        rows, about = graph.described_by.weighted(a.entity)
        raise_to("F", settings.forward_weight, rows, a.strength * about, a)
        frequency = int(graph.frequency[a.entity])
        if a.entity in named or not 1 < frequency <= settings.residual_most:
            continue
        rows = graph.mentioned_by.of(a.entity)
        if frequency <= settings.shared_most:
            shared = np.full(len(rows), a.strength / frequency**_SHARED_DAMPING, np.float32)
            raise_to("C", settings.shared_weight, rows, shared, a)
        if rest is not None:
            raise_to("R", settings.residual_weight, rows, a.strength * rest[rows], a)
    for a in _described(graph, seeds, weights):
        rows = graph.mentioned_by.of(a.entity)
        damped = a.strength / (1 + np.log(graph.frequency[a.entity]))
        raise_to("B", settings.backward_weight, rows, np.full(len(rows), damped, np.float32), a)

    scores = (
        settings.forward_weight * best["F"]
        + settings.backward_weight * best["B"]
        + settings.shared_weight * best["C"]
        + settings.residual_weight * best["R"]
    )
    return Hops(scores.astype(np.float32), via_entity, via_seed)


def _on_topic(
    cosines: FloatArray, typical: float, best_sentence: float, settings: FocusSettings
) -> FloatArray:
    """r(x): `off_topic` up to the typical cosine, 1 for the sentence most like the question."""
    if best_sentence <= typical:
        return np.ones_like(cosines)
    likeness = np.clip((cosines - typical) / (best_sentence - typical), 0, 1)
    weight: FloatArray = settings.off_topic + (1 - settings.off_topic) * likeness
    return weight


def _mentioned(
    graph: Graph, seeds: Sequence[Seed], weights: FloatArray, on_topic: Sequence[FloatArray]
) -> list[_Activation]:
    """The strongest activation of each entity that a seed mentions."""
    found: dict[int, _Activation] = {}
    for seed, weight, topical in zip(seeds, weights, on_topic, strict=True):
        for entities, r in zip(seed.mentioned, topical, strict=True):
            for entity in entities:
                strength = float(weight * r * graph.rarity[entity])
                if entity not in found or found[entity].strength < strength:
                    found[entity] = _Activation(entity, strength, seed.row)
    return list(found.values())


def _described(graph: Graph, seeds: Sequence[Seed], weights: FloatArray) -> list[_Activation]:
    """The strongest activation of each entity that a seed is about."""
    found: dict[int, _Activation] = {}
    for seed, weight in zip(seeds, weights, strict=True):
        for entity, about in zip(*graph.about.weighted(seed.row), strict=True):
            strength = float(weight * graph.rarity[entity] * about)
            if entity not in found or found[entity].strength < strength:
                found[int(entity)] = _Activation(int(entity), strength, seed.row)
    return list(found.values())
