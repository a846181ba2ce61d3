"""Span vectors of a learned model come back to where the shipped one puts them."""

from __future__ import annotations

import copy

import pytest
import torch

from smartrag.perception.training.alignment import alignment
from smartrag.perception.training.data import Example
from smartrag.perception.training.span_model import EvoNER
from tests.perception.training.conftest import MakeExample


def words_of(model: EvoNER, example: Example) -> torch.Tensor:
    """The vectors of the single words, (n, z)."""
    with torch.no_grad():
        scores = model(
            torch.from_numpy(example.words.states)[None],
            None,
            torch.from_numpy(example.words.first)[None],
            torch.from_numpy(example.words.codes)[None],
        )
    z: torch.Tensor = scores.z[0][:, 0]
    return z


@pytest.fixture
def texts(text: MakeExample) -> list[Example]:
    return [text(6, seed=seed) for seed in range(30)]


def test_what_did_not_move_stays(tiny: EvoNER, texts: list[Example]) -> None:
    z = words_of(tiny, texts[0])
    with torch.no_grad():
        torch.testing.assert_close(alignment(tiny, tiny, texts)(z), z, atol=1e-2, rtol=0.1)


def test_what_moved_comes_back_on_texts_that_were_not_shown(
    tiny: EvoNER, texts: list[Example], text: MakeExample
) -> None:
    moved = copy.deepcopy(tiny)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in moved.second.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.5)
        back = alignment(moved, tiny, texts)
        for other in (text(6, seed=seed) for seed in range(100, 110)):
            wanted, found = words_of(tiny, other), words_of(moved, other)
            assert (back(found) - wanted).norm() < 0.5 * (found - wanted).norm()


def test_texts_without_entities_are_enough(tiny: EvoNER, texts: list[Example]) -> None:
    with torch.no_grad():
        tiny.labels.bias[0] = 100.0
        assert alignment(tiny, tiny, texts).weight.isfinite().all()
