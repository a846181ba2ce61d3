"""How likely it is that the evidence holds an answer, before any model is asked.

A logistic function of four plain facts about the retrieval. The coefficients were fitted by
`experiments/fit_confidence.py` on questions whose gold paragraphs were in the store and on the same
questions after those paragraphs had been taken out; see `experiments/results/confidence.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple

from smartrag.text import content_words, folded_words
from smartrag.types import Mention, Signals

INTERCEPT = -13.73
COEFFICIENTS = Signals(cosine=9.48, sentence=3.17, coverage=1.47, named=5.94)


def confidence(signals: Signals) -> float:
    """The fitted probability that the question can be answered, 0 to 1."""
    logit = INTERCEPT + sum(
        c * s for c, s in zip(astuple(COEFFICIENTS), astuple(signals), strict=True)
    )
    return 1 / (1 + math.exp(-logit))


def signals(
    question: str,
    mentions: Sequence[Mention],
    passages: Sequence[str],
    cosine: float,
    sentence: float,
) -> Signals:
    """Measure the signals; `passages` are label and text of what was retrieved."""
    occurring = {word for passage in passages for word in folded_words(passage)}
    asked = set(content_words(question))
    names = [content_words(m.surface) for m in mentions]
    return Signals(
        cosine=min(1.0, max(0.0, cosine)),
        sentence=min(1.0, max(0.0, sentence)),
        coverage=len(asked & occurring) / len(asked) if asked else 0.0,
        named=sum(set(n) <= occurring for n in names) / len(names) if names else 1.0,
    )
