"""A tiny EvoNER with an encoder of eight numbers a token, and texts made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from smartrag.perception.training.data import Example, Gold
from smartrag.perception.training.span_model import EvoNER, Shape, reserve
from smartrag.perception.words import CHARACTERS, Words

TINY = Shape(*(6, 2), hidden=8, heads=2, widths=3, characters=4, product=6, span=10, dropout=0.0)

MakeExample = Callable[..., Example]

torch.set_num_threads(1)  # the models are so small that a second thread only waits


@pytest.fixture
def tiny() -> EvoNER:
    """Three types and two reserved rows."""
    torch.manual_seed(0)
    model = EvoNER(TINY)
    reserve(model, 4)
    return model.eval()


@pytest.fixture
def text() -> MakeExample:
    """A text of n words, each one token, with random states that its seed decides."""

    def made(n: int, gold: Sequence[Gold] = (), seed: int = 0, **more: object) -> Example:
        chance = np.random.default_rng(seed)
        words = Words(
            states=chance.standard_normal((n + 2, 8)).astype(np.float32),
            first=np.arange(1, n + 1),
            codes=chance.integers(1, 102, (n, CHARACTERS)),
            spans=np.stack([np.arange(n) * 2, np.arange(n) * 2 + 1], axis=1),
        )
        return Example(words, tuple(gold), **more)  # type: ignore[arg-type]

    return made
