"""What a round changed, as it is kept: adapters add up, and what is damaged is refused."""

from __future__ import annotations

import copy

import pytest
import torch

from smartrag.errors import ModelError
from smartrag.perception.training.adapters import adapted
from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.training.update import DOWN, UP, apply, from_bytes, joined, to_bytes

WEIGHT = "blocks.0.query.weight"


def adapter(rank: int, seed: int) -> dict[str, torch.Tensor]:
    chance = torch.Generator().manual_seed(seed)
    return {
        WEIGHT + DOWN: torch.randn(rank, 8, generator=chance),
        WEIGHT + UP: torch.randn(8, rank, generator=chance),
    }


def test_two_updates_joined_change_as_much_as_one_after_the_other(tiny: EvoNER) -> None:
    first = adapter(2, seed=1) | {"labels.bias": torch.zeros(6)}
    second = adapter(3, seed=2) | {"labels.bias": torch.ones(6)}
    at_once = copy.deepcopy(tiny)
    apply(tiny, first)
    apply(tiny, second)
    apply(at_once, joined(first, second))
    for ours, theirs in zip(tiny.parameters(), at_once.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_adapters_are_merged_and_leave_the_model_as_it_was_built(tiny: EvoNER) -> None:
    before = copy.deepcopy(tiny)
    with adapted(tiny, lowest=1, rank=2) as pairs:
        assert {name.split(".")[1] for name in pairs} == {"1"}
        assert {p.requires_grad for p in pairs.values()} == {True}
        with torch.no_grad():
            for parameter in pairs.values():
                parameter.fill_(0.1)
        kept = {name: p.detach().clone() for name, p in pairs.items()}
    assert tiny.state_dict().keys() == before.state_dict().keys()
    apply(before, kept)
    for ours, theirs in zip(tiny.parameters(), before.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_an_update_of_another_model_is_refused_and_changes_nothing(tiny: EvoNER) -> None:
    before = copy.deepcopy(tiny.state_dict())
    for alien in (
        {"labels.bias": torch.zeros(7)},
        {"no.such.weight": torch.zeros(1)},
        {WEIGHT + DOWN: torch.zeros(2, 9), WEIGHT + UP: torch.zeros(8, 2)},
        {WEIGHT + DOWN: torch.zeros(2, 8)},
    ):
        with pytest.raises(ModelError, match="does not fit"):
            apply(tiny, alien)
    for name, tensor in tiny.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_a_damaged_update_is_refused() -> None:
    content = to_bytes(adapter(2, seed=1))
    assert from_bytes(content).keys() == adapter(2, seed=1).keys()
    for damaged in (b"", content[:-7], b"x" * 40):
        with pytest.raises(ModelError, match="cannot be read"):
            from_bytes(damaged)
