"""From scores of all spans to the entities of a text: greedy, best first, without overlap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smartrag.types import FloatArray

NO_ENTITY = 0
"""The row of the label that says "no entity"."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words `first` to `last` (inclusive) are an entity of the type in `row`; `score` is 0 to 1."""

    first: int
    last: int
    row: int
    score: float


def decode(logits: FloatArray, *, caution: float = 0.0) -> list[Span]:
    """The entities of n words, in text order.

    `logits` has shape (n, W, k); entry (i, w) scores words i … i + w. A span is an entity when all
    types together are likelier than "no entity": a writer who may be a person or a researcher too
    is somebody. `caution` is added to the logit of "no entity": more of it finds fewer and surer
    entities. Of overlapping spans the one that is likelier an entity stays; ties go to the earlier
    and then to the shorter span. The type is the likeliest, `score` its probability.
    """
    probabilities = label_probabilities(logits, caution)
    none = probabilities[..., NO_ENTITY]  # (n, W)
    n, widths = none.shape
    inside = np.arange(n)[:, None] + np.arange(widths)[None, :] < n
    starts, reach = np.nonzero((none < 0.5) & inside)
    order = np.argsort(none[starts, reach], kind="stable")
    taken = np.zeros(n, dtype=bool)
    found = []
    for start, width in zip(starts[order].tolist(), reach[order].tolist(), strict=True):
        if taken[start : start + width + 1].any():
            continue
        taken[start : start + width + 1] = True
        row = 1 + int(probabilities[start, width, 1:].argmax())
        found.append(Span(start, start + width, row, float(probabilities[start, width, row])))
    return sorted(found, key=lambda s: s.first)


def decode_untyped(
    logits: FloatArray, *, sure: float, vague: frozenset[int] = frozenset(), caution: float = 0.0
) -> list[Span]:
    """The entities of n words that no type fits, in text order.

    None fits when the best of them holds less than the share `sure` of what all types hold, or is
    one of `vague`; `score` is its share.
    """
    probabilities = label_probabilities(logits, caution)
    untyped = []
    for span in decode(logits, caution=caution):
        types = probabilities[span.first, span.last - span.first, 1:]
        share = float(types.max() / types.sum())
        if share < sure or span.row in vague:
            untyped.append(replace(span, score=share))
    return untyped


def label_probabilities(logits: FloatArray, caution: float = 0.0) -> NDArray[np.float32]:
    """Softmax over the last axis, (…, k), with `caution` added to the first logit."""
    shifted = logits.astype(np.float32)
    shifted[..., NO_ENTITY] += np.float32(caution)
    shifted -= shifted.max(axis=-1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=-1, keepdims=True)
    return shifted
