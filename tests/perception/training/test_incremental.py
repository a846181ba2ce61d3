"""Learning one type: it is found, the old ones stay, and each stage trains what it names."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from smartrag.perception.training.data import Example, Gold
from smartrag.perception.training.incremental import (
    STAGES,
    Again,
    Round,
    Rows,
    Stage,
    activate,
    epochs,
    learn,
)
from smartrag.perception.training.loop import f1, predict
from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.training.update import apply, from_bytes, to_bytes
from tests.perception.training.conftest import MakeExample

QUICK = Round(stages=tuple(replace(s, epochs=40, head_rate=1e-2) for s in STAGES[:1]), tokens=64)
SHORT = Round(
    stages=(
        Stage("heads", 0, 1, 1e-2, 0.0),
        Stage("top blocks", 1, 1, 1e-2, 1e-2),
        Stage("all blocks", 2, 1, 1e-2, 1e-2),
    ),
    rank=2,
    tokens=64,
)
ROWS = Rows(deployed=4, used=5)


@pytest.fixture
def new(text: MakeExample) -> list[Example]:
    """Texts in which one word, told by its spelling, is of the new type in row 4."""
    made = []
    for seed in range(24):
        example = text(5, [Gold(2, 2, (4,))], seed=seed, unmarked=(1, 2, 3))
        example.words.codes[2] = 50
        made.append(example)
    return made


def test_a_woken_row_begins_like_its_parent_and_a_little_lower(tiny: EvoNER) -> None:
    activate(tiny, {4: 2, 5: 0}, 4)
    weight, bias = tiny.labels.weight, tiny.labels.bias
    assert torch.equal(weight[4], weight[2])
    assert bias[4].item() == pytest.approx(bias[2].item() - 1)
    torch.testing.assert_close(weight[5], weight[1:4].mean(0))


def test_a_round_teaches_the_type_and_holds_the_others(
    tiny: EvoNER, new: list[Example], text: MakeExample
) -> None:
    others = [text(5, seed=100 + i, unmarked=(1, 2, 3)) for i in range(8)]
    teacher = copy.deepcopy(tiny)
    before = predict(teacher, others, 4)

    def after(round_: Round) -> EvoNER:
        model = copy.deepcopy(teacher)
        activate(model, {4: 1}, 4)
        [step] = learn(model, teacher, new + others, ROWS, round_)
        assert (step.stage.name, step.seconds > 0) == ("heads", True)
        return model

    def drift(model: EvoNER) -> float:
        now = predict(model, others, 5)
        return max(float(abs(a - b[..., :4]).max()) for a, b in zip(before, now, strict=True))

    held = after(replace(QUICK, weight=20.0, gate=0.0))
    assert f1(new, predict(held, new, 5), rows=frozenset({4})).typed > 0.9
    assert drift(held) < drift(after(replace(QUICK, distil="nothing")))


def test_what_the_teacher_says_is_asked_of_the_teacher(
    tiny: EvoNER, new: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answers are those of the whole model, though a stage reads raised states."""
    teacher = copy.deepcopy(tiny)
    activate(tiny, {4: 1}, 4)
    still = tuple(replace(s, epochs=1, head_rate=0.0, block_rate=0.0) for s in SHORT.stages)
    seen: list[float] = []

    def distance(ours: torch.Tensor, told: torch.Tensor, **_: float) -> torch.Tensor:
        if len(ours):
            seen.append(float((ours - told).detach().abs().max()))
        return ours.sum() * 0

    monkeypatch.setattr("smartrag.perception.training.incremental.distillation_loss", distance)
    list(learn(tiny, teacher, new, ROWS, replace(SHORT, stages=still)))
    assert max(seen) < 0.05  # states between blocks are kept in float16


def test_each_epoch_shows_all_that_is_new_and_others_of_what_is_known(
    new: list[Example], text: MakeExample
) -> None:
    known = [text(3, seed=seed) for seed in range(10)]
    planned = epochs(new, [Again(known, 4), Again(new[:2], 5)], 5, random.Random(0))
    numbers = {id(one): place for place, one in enumerate(known)}
    for epoch in planned:
        assert [id(one) for one in epoch[: len(new)]] == [id(one) for one in new]
        shown = [numbers[id(one)] for one in epoch[len(new) : -2]]
        assert len(set(shown)) == 4
        assert {id(one) for one in epoch[-2:]} == {id(one) for one in new[:2]}
    counts = Counter(numbers[id(one)] for epoch in planned for one in epoch if id(one) in numbers)
    assert set(counts.values()) == {2}


@pytest.mark.parametrize("rank", [2, 0])
def test_each_stage_trains_its_part(tiny: EvoNER, new: list[Example], rank: int) -> None:
    changed = []
    last = copy.deepcopy(tiny.state_dict())
    for _ in learn(tiny, tiny, new, ROWS, replace(SHORT, rank=rank, distil="nothing")):
        now = copy.deepcopy(tiny.state_dict())
        changed.append(
            [
                any(not torch.equal(now[k], last[k]) for k in now if k.startswith(part))
                for part in ("blocks.0", "blocks.1", "labels")
            ]
        )
        last = now
    assert changed == [[False, False, True], [False, True, True], [True, True, True]]


@pytest.mark.parametrize("rank", [2, 0])
def test_the_parent_and_the_update_are_what_was_learned(
    tiny: EvoNER, new: list[Example], rank: int
) -> None:
    """After every stage: that is what a store keeps of a round, in float16."""
    parent = copy.deepcopy(tiny)
    activate(tiny, {4: 1}, 4)
    for step in learn(tiny, parent, new, ROWS, replace(SHORT, rank=rank)):
        restored = copy.deepcopy(parent)
        apply(restored, from_bytes(to_bytes(step.update)))
        for ours, theirs in zip(predict(tiny, new, 5), predict(restored, new, 5), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-2)


def test_a_round_that_was_interrupted_goes_on_after_its_last_stage(
    tiny: EvoNER, new: list[Example]
) -> None:
    parent = copy.deepcopy(tiny)
    whole = [step.update for step in learn(tiny, parent, new, ROWS, SHORT)]
    resumed = copy.deepcopy(parent)
    apply(resumed, whole[0])
    rest = list(learn(resumed, parent, new, ROWS, SHORT, done=1, update=whole[0]))
    assert [step.stage.name for step in rest] == ["top blocks", "all blocks"]
    assert rest[-1].update.keys() == whole[-1].keys()
    for name, tensor in whole[-1].items():
        assert rest[-1].update[name].shape == tensor.shape


def test_a_round_stops_before_a_stage_that_it_has_no_time_for(
    tiny: EvoNER, new: list[Example]
) -> None:
    steps = learn(
        *(tiny, tiny, new[:2], ROWS, SHORT),
        may_go_on=lambda stage: stage.name != "all blocks",
    )
    assert [step.stage.name for step in steps] == ["heads", "top blocks"]


def test_a_row_that_nobody_took_stays_silent(tiny: EvoNER, new: list[Example]) -> None:
    list(learn(tiny, tiny, new, ROWS, QUICK))
    assert tiny.labels.bias[5].item() == -1e4
    assert (tiny.labels.weight[5] == 0).all()
