"""What counts as gold and as a mistake when a model is scored."""

from __future__ import annotations

import numpy as np
import pytest

from smartrag.perception.training.data import Gold
from smartrag.perception.training.loop import F1, f1
from smartrag.types import FloatArray
from tests.perception.training.conftest import MakeExample

ANYTHING = (0, 1, 2, 3)


def saying(n: int, *spans: tuple[int, int]) -> FloatArray:
    """Logits (n, 1, 4) that say a row of a word, and "no entity" elsewhere."""
    logits = np.zeros((n, 1, 4), np.float32)
    logits[:, :, 0] = 9
    for word, row in spans:
        logits[word, 0] = np.eye(4, dtype=np.float32)[row] * 9
    return logits


def test_only_things_of_the_types_that_are_asked_for_are_gold(text: MakeExample) -> None:
    gold = [Gold(0, 0, (1,)), Gold(1, 1, (2,)), Gold(2, 2, (1, 2)), Gold(3, 3, ANYTHING)]
    example = text(5, gold)
    found = saying(5, (0, 1), (1, 2), (2, 2))
    assert f1([example], [found], rows=frozenset({1, 2})) == F1(1, 1)
    assert f1([example], [found], rows=frozenset({2})).typed == pytest.approx(2 / 3)
    # Finding what may be of another type is a mistake, as is finding nothing at all.
    wrong = saying(5, (0, 1), (3, 1))
    assert f1([example], [wrong], rows=frozenset({1})).typed == pytest.approx(2 / 3)
    assert f1([example], [saying(5)], rows=frozenset({1})).typed == 0


def test_a_thing_of_two_possible_types_is_right_as_either(text: MakeExample) -> None:
    example = text(3, [Gold(0, 0, (1, 2))])
    for row in (1, 2):
        assert f1([example], [saying(3, (0, row))]) == F1(1, 1)
    assert f1([example], [saying(3, (0, 3))]) == F1(0, 1)
