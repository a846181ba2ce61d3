"""The formulas of the evaluation, each a pure function with its definition beside it.

Every score is a fraction from 0 to 1 and a float, so that a mean over questions is the figure to
report. Rankings are indices of passages, best first.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np


# --- retrieval ------------------------------------------------------------------------------------
def recall_at(ranked: Sequence[int], gold: Set[int], k: int) -> float:
    """|top-k ∩ gold| / |gold|: the share of the gold passages among the first `k`, 0 to 1.

    `gold` must not be empty; an unanswerable question has no recall.
    """
    _demand_gold(gold)
    return len(gold & set(ranked[:k])) / len(gold)


def all_at(ranked: Sequence[int], gold: Set[int], k: int) -> float:
    """1 if gold ⊆ top-k, else 0: whether a reader of the first `k` has the whole chain."""
    return float(recall_at(ranked, gold, k) == 1.0)


def reciprocal_rank(ranked: Sequence[int], gold: Set[int]) -> float:
    """1 / rank of the first gold passage, ranks counted from 1; 0 where none was ranked."""
    _demand_gold(gold)
    return next((1.0 / rank for rank, p in enumerate(ranked, start=1) if p in gold), 0.0)


def _demand_gold(gold: Set[int]) -> None:
    if not gold:
        raise ValueError("a question without gold passages cannot be scored for retrieval")


# --- answers --------------------------------------------------------------------------------------
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})


def normalise_answer(text: str) -> str:
    """Lower case, without ASCII punctuation, English articles and superfluous white space.

    The normaliser of the official SQuAD 1.1 script (Rajpurkar et al. 2016), steps in its order.
    """
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def token_f1(prediction: str, answers: Sequence[str]) -> float:
    """max over answers of 2PR / (P + R) on the bags of normalised tokens, 0 to 1.

    With c common tokens, P = c / |prediction| and R = c / |answer|. As in the official HotpotQA
    script (Yang et al. 2018) *yes*, *no* and *noanswer* score only when both sides are equal. Where
    one side has no token left, equality decides, as in that of SQuAD 2.0. 0 without answers.
    """
    return max(
        (_f1(normalise_answer(prediction), normalise_answer(a)) for a in answers), default=0.0
    )


def _f1(prediction: str, answer: str) -> float:
    if prediction == answer:
        return 1.0
    if not _CLOSED.isdisjoint((prediction, answer)):
        return 0.0
    predicted, wanted = prediction.split(), answer.split()
    common = (Counter(predicted) & Counter(wanted)).total()
    return 2 * common / (len(predicted) + len(wanted))


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1 if the normalised prediction equals a normalised answer, else 0 (SQuAD)."""
    return float(normalise_answer(prediction) in {normalise_answer(a) for a in answers})


def contains(prediction: str, answers: Sequence[str]) -> float:
    """1 if a normalised answer occurs in the normalised prediction, else 0.

    It may not be part of a longer Latin word or number: *no* is not in *know*, nor 19 in 1923. In
    scripts without spaces any place will do. An answer without a token left occurs nowhere.
    """
    said = normalise_answer(prediction)
    wanted = filter(None, map(normalise_answer, answers))
    return float(any(re.search(rf"(?<![a-z0-9]){re.escape(a)}(?![a-z0-9])", said) for a in wanted))


def citation_scores(
    predicted: Set[tuple[int, int]], gold: Set[tuple[int, int]]
) -> tuple[float, float]:
    """(|predicted ∩ gold| / |predicted|, |predicted ∩ gold| / |gold|): precision and recall.

    Both sides are sets of (passage, sentence). A quotient over nothing is 0, as in the score for
    supporting facts of the official HotpotQA script.
    """
    right = len(predicted & gold)
    return right / max(len(predicted), 1), right / max(len(gold), 1)


# --- over many questions --------------------------------------------------------------------------
def bootstrap_interval(
    values: Sequence[float], seed: int, rounds: int = 2000, level: float = 0.95
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean (Efron 1979), as (low, high).

    `rounds` samples of len(values) are drawn with replacement; low and high are the (1 - level) / 2
    and (1 + level) / 2 quantiles of their means. `values` must not be empty; the same seed gives
    the same interval.
    """
    sample = np.asarray(values, dtype=np.float64)
    if not sample.size:
        raise ValueError("an interval needs at least one value")
    random = np.random.default_rng(seed)
    # One round at a time: all at once would take rounds · n · 8 bytes.
    means = [sample[random.integers(sample.size, size=sample.size)].mean() for _ in range(rounds)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_bootstrap(
    a: Sequence[float], b: Sequence[float], seed: int
) -> tuple[float, float, float]:
    """(mean(a) - mean(b), low, high) with the 95 % bootstrap interval of the difference.

    `a[i]` and `b[i]` belong to the same question and are drawn together, so that the difficulty of
    a question cancels out. The difference is significant at 5 % where the interval leaves out 0.
    """
    differences = [x - y for x, y in zip(a, b, strict=True)]
    low, high = bootstrap_interval(differences, seed)
    return float(np.mean(differences)), low, high


def percentile(values: Sequence[float], q: float) -> float:
    """The value below which `q` per cent (0 to 100) lie, interpolated linearly between ranks.

    It has the unit of `values`, which must not be empty.
    """
    if not values:
        raise ValueError("a percentile needs at least one value")
    return float(np.percentile(np.asarray(values, dtype=np.float64), q))
