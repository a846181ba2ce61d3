"""Evidence cut to a token budget: the most telling sentences of the best passages first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from smartrag.types import Passage

_ORDER = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (3, 0), (4, 0), (0, 2), (1, 2))
"""(passage, sentence) in the order of what they are worth, both counted from the best."""


def pack(
    passages: Sequence[Passage],
    budget_tokens: int,
    count_tokens: Callable[[Sequence[Passage]], int],
) -> tuple[Passage, ...]:
    """The passages with as many of their kept sentences as the budget holds.

    `count_tokens` measures passages as they will stand in the prompt, with the model's own
    tokenizer, so nothing is estimated. A sentence that does not fit is passed over
    and shorter ones after it are tried. Passages that keep no sentence are left out; the others
    keep theirs in text order.
    """
    taken: dict[int, list[int]] = {}
    for i, j in _worth(passages):
        trial = {**taken, i: [*taken.get(i, []), passages[i].kept[j]]}
        if count_tokens(_with(passages, trial)) <= budget_tokens:
            taken = trial
    return _with(passages, taken)


def _worth(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    there = [(i, j) for i, p in enumerate(passages) for j in range(len(p.kept))]
    known = {pair: place for place, pair in enumerate(_ORDER)}
    return sorted(there, key=lambda pair: (known.get(pair, len(_ORDER)), pair[1], pair[0]))


def _with(passages: Sequence[Passage], taken: dict[int, list[int]]) -> tuple[Passage, ...]:
    return tuple(replace(passages[i], kept=tuple(sorted(taken[i]))) for i in sorted(taken))
