"""Learning new types without forgetting the old ones (paper §3.2, equations 5 to 8).

A round starts from the deployed model, its frozen teacher. Each new type takes a reserved row. The
round runs in up to three stages that train more and more of the model; what stands after a stage
can be deployed, so a round may stop there when its time is used up.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from smartrag.perception.training.data import Batch, Example, collate
from smartrag.perception.training.loop import Group, Report, Schedule, fit
from smartrag.perception.training.losses import distillation_loss, task_loss
from smartrag.perception.training.span_model import EvoNER, Scores, reserve

Distil = Literal["deployed rows", "all rows", "nothing"]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of equation 8: `blocks` of the encoder, counted from the output, learn with the
    heads."""

    name: str
    blocks: int
    epochs: int
    head_rate: float
    block_rate: float


STAGES = (
    Stage("heads", 0, 12, 1e-3, 0.0),
    Stage("top blocks", 2, 10, 5e-4, 1e-4),
    Stage("all blocks", 3, 4, 2e-4, 3e-5),
)


@dataclass(frozen=True, slots=True)
class Round:
    """How a round learns. `weight` is λ_KD, `temperature` T_kd and `gate` τ of equations 5 to 7.

    `distil` says over which labels the teacher is asked: those deployed before the round, as the
    paper does; all, so that reserved rows are held back too; or none.
    """

    stages: tuple[Stage, ...] = STAGES
    weight: float = 1.0
    temperature: float = 2.0
    gate: float = 0.7
    distil: Distil = "deployed rows"
    tokens: int = 800
    seed: int = 0


def activate(model: EvoNER, rows: Mapping[int, int], first: int) -> None:
    """Wake the reserved rows in `rows` (row → row of the parent type, 0 for none).

    A row starts as its parent's, so that it takes over what it is a kind of and leaves the borders
    of things to what is known; without a parent it starts as the mean of the `first` − 1 rows that
    are deployed. Its bias is lower, so that the old type is said until examples speak.
    """
    with torch.no_grad():
        weight, bias = model.labels.weight, model.labels.bias
        mean_weight, mean_bias = weight[1:first].mean(0), bias[1:first].mean()
        for row, parent in rows.items():
            weight[row] = weight[parent] if parent else mean_weight
            bias[row] = (bias[parent] if parent else mean_bias) - 1.0


def learn(
    model: EvoNER,
    new: Sequence[Example],
    replay: Sequence[Example],
    used: int,
    deployed: int,
    round_: Round,
    report: Report = lambda _: None,
    may_go_on: Callable[[Stage], bool] = lambda _: True,
) -> Iterator[tuple[Stage, float]]:
    """Train `model` in place; yields each stage that is done, with its seconds.

    The first `deployed` rows were there before the round, the first `used` are in use now. Whoever
    iterates may keep the model as it stands, or stop; `may_go_on` is asked before each stage.
    """
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    texts = [*new, *replay]

    def loss_of(chosen: list[Example], chance: random.Random) -> Tensor:
        batch = collate(chosen, used, model.shape.widths)
        scores = model(batch.states, batch.mask, batch.first, batch.codes, used)
        loss = task_loss(scores, batch)
        if round_.distil == "nothing":
            return loss
        held = deployed if round_.distil == "deployed rows" else used
        return loss + round_.weight * _distilled(teacher, scores, batch, deployed, held, round_)

    for stage in round_.stages:
        if not may_go_on(stage):
            return
        began = time.monotonic()
        model.eval()  # a few hundred sentences: the teacher holds better than dropout does
        schedule = Schedule(stage.epochs, round_.tokens, seed=round_.seed)
        fit(_groups(model, stage), texts, schedule, loss_of, report)
        reserve(model, used)  # weight decay has reached them too
        yield stage, time.monotonic() - began


def _distilled(
    teacher: EvoNER, scores: Scores, batch: Batch, deployed: int, held: int, round_: Round
) -> Tensor:
    with torch.no_grad():
        told = teacher(batch.states, batch.mask, batch.first, batch.codes, deployed).labels
        if held > deployed:  # to the teacher the rows of this round do not exist
            nothing = told.new_full((*told.shape[:-1], held - deployed), -1e4)
            told = torch.cat([told, nothing], -1)
    return distillation_loss(
        scores.labels[batch.valid][:, :held],
        told[batch.valid],
        temperature=round_.temperature,
        gate=round_.gate,
    )


def _groups(model: EvoNER, stage: Stage) -> list[Group]:
    """What a stage trains; everything else is frozen."""
    top = list(model.blocks)[len(model.blocks) - stage.blocks :]
    blocks = [p for block in top for p in block.parameters()]
    heads = [p for name, p in model.named_parameters() if not name.startswith("blocks.")]
    model.requires_grad_(False)
    for parameter in (*blocks, *heads):
        parameter.requires_grad_(True)
    groups = [Group(heads, stage.head_rate)]
    return [*groups, Group(blocks, stage.block_rate)] if blocks else groups
