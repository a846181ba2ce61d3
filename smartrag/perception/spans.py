"""From scores of all spans to the entities of a text: greedy, best first, without overlap."""

from __future__ import annotations

from dataclasses import dataclass

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

    `logits` has shape (n, W, k); entry (i, w) scores words i … i + w. `caution` is added to the
    logit of "no entity": more of it finds fewer and surer entities. Of overlapping spans the one
    with the higher probability stays; ties go to the earlier and then to the shorter span.
    """
    probabilities = label_probabilities(logits, caution)
    best = probabilities[..., 1:].max(axis=-1)  # (n, W)
    n, widths = best.shape
    inside = np.arange(n)[:, None] + np.arange(widths)[None, :] < n
    starts, reach = np.nonzero((best > probabilities[..., NO_ENTITY]) & inside)
    order = np.argsort(-best[starts, reach], kind="stable")
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
    """The entities of n words that no label fits, in text order.

    A span is an entity when all labels together are likelier than "no entity". None fits when the
    best of them holds less than the share `sure` of that, or is one of `vague`; `score` is its
    share.
    """
    probabilities = label_probabilities(logits, caution)
    anything = np.stack([probabilities[..., NO_ENTITY], probabilities[..., 1:].sum(axis=-1)], -1)
    with np.errstate(divide="ignore"):
        found = decode(np.log(anything).astype(np.float32))
    untyped = []
    for span in found:
        labels = probabilities[span.first, span.last - span.first, 1:]
        row = 1 + int(labels.argmax())
        share = float(labels.max() / labels.sum())
        if share < sure or row in vague:
            untyped.append(Span(span.first, span.last, row, share))
    return untyped


def label_probabilities(logits: FloatArray, caution: float = 0.0) -> NDArray[np.float32]:
    """Softmax over the last axis, (…, k), with `caution` added to the first logit."""
    shifted = logits.astype(np.float32)
    shifted[..., NO_ENTITY] += np.float32(caution)
    shifted -= shifted.max(axis=-1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=-1, keepdims=True)
    return shifted
