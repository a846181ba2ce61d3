"""Learning one type: it is found, the old ones stay, and each stage trains what it names."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch

from smartrag.perception.training.data import Example, Gold
from smartrag.perception.training.incremental import STAGES, Round, Stage, activate, learn
from smartrag.perception.training.loop import f1, predict
from smartrag.perception.training.span_model import EvoNER
from tests.perception.training.conftest import MakeExample

QUICK = Round(stages=tuple(replace(s, epochs=40, head_rate=1e-2) for s in STAGES[:1]), tokens=64)


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
    before = predict(tiny, others, 4)
    activate(tiny, {4: 1}, 4)
    [(stage, seconds)] = learn(tiny, new, others, 5, 4, replace(QUICK, weight=20.0, gate=0.0))
    assert (stage.name, seconds > 0) == ("heads", True)
    assert f1(new, predict(tiny, new, 5), rows=frozenset({4})).typed > 0.9
    held = predict(tiny, others, 5)
    drift = max(abs(a - b[..., :4]).max() for a, b in zip(before, held, strict=True))
    free = copy.deepcopy(tiny)
    [_] = learn(free, new, others, 5, 4, replace(QUICK, distil="nothing"))
    loose = predict(free, others, 5)
    assert drift < max(abs(a - b[..., :4]).max() for a, b in zip(before, loose, strict=True))


def test_each_stage_trains_its_part(tiny: EvoNER, new: list[Example]) -> None:
    stages = (
        Stage("heads", 0, 1, 1e-2, 0.0),
        Stage("top blocks", 1, 1, 1e-2, 1e-2),
        Stage("all blocks", 2, 1, 1e-2, 1e-2),
    )
    changed = []
    last = copy.deepcopy(tiny.state_dict())
    for _ in learn(tiny, new, [], 5, 4, Round(stages=stages, tokens=64)):
        now = copy.deepcopy(tiny.state_dict())
        changed.append(
            [
                any(not torch.equal(now[k], last[k]) for k in now if k.startswith(part))
                for part in ("blocks.0", "blocks.1", "labels")
            ]
        )
        last = now
    assert changed == [[False, False, True], [False, True, True], [True, True, True]]


def test_a_round_stops_before_a_stage_that_it_has_no_time_for(
    tiny: EvoNER, new: list[Example]
) -> None:
    done = [
        stage.name
        for stage, _ in learn(
            *(tiny, new[:2], [], 5, 4, Round(tokens=64)),
            may_go_on=lambda stage: stage.name != "all blocks",
        )
    ]
    assert done == ["heads", "top blocks"]


def test_a_row_that_nobody_took_stays_silent(tiny: EvoNER, new: list[Example]) -> None:
    list(learn(tiny, new, [], 5, 4, QUICK))
    assert tiny.labels.bias[5].item() == -1e4
    assert (tiny.labels.weight[5] == 0).all()
