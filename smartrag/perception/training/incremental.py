"""Learning new types without forgetting the old ones (paper §3.2, equations 5 to 8).

A round starts from the deployed model, its frozen teacher. Each new type takes a reserved row. The
round runs in up to three stages that train more and more of the model; what stands after a stage
can be deployed, so a round may stop there when its time is used up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from smartrag.perception.training.adapters import adapted
from smartrag.perception.training.data import Batch, Example, collate
from smartrag.perception.training.loop import Group, Report, Schedule, fit, predict
from smartrag.perception.training.losses import distillation_loss, task_loss
from smartrag.perception.training.span_model import EvoNER, Scores, reserve
from smartrag.perception.training.update import Update, joined

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
    Stage("top blocks", 2, 5, 3e-4, 3e-4),
    Stage("all blocks", 3, 3, 2e-4, 1e-4),
)


@dataclass(frozen=True, slots=True)
class Round:
    """How a round learns. `weight` is λ_KD, `temperature` T_kd and `gate` τ of equations 5 to 7.

    `distil` says over which labels the teacher is asked: those deployed before the round, as the
    paper does; all, so that reserved rows are held back too; or none. `rank` is that of the
    adapters through which blocks learn; with 0 their own weights do, at a lower rate. `copies` is
    how often the sentences of the lesson are shown again with other mentions.
    """

    stages: tuple[Stage, ...] = STAGES
    weight: float = 10.0
    temperature: float = 2.0
    gate: float = 0.7
    distil: Distil = "deployed rows"
    rank: int = 16
    copies: int = 1
    tokens: int = 800
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The label rows of a round: the first `deployed` were there before it, `used` are in use."""

    deployed: int
    used: int


@dataclass(frozen=True, slots=True)
class Again:
    """Sentences of what is known already. An epoch shows `at_once` of them, and each epoch others:
    what is shown every time is learned by heart, and holds little else."""

    texts: Sequence[Example]
    at_once: int


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that is done: how long it took, and what the round has changed so far."""

    stage: Stage
    seconds: float
    update: Update


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
    teacher: EvoNER,
    texts: Sequence[Example],
    rows: Rows,
    round_: Round,
    again: Sequence[Again] = (),
    done: int = 0,
    update: Update | None = None,
    report: Report = lambda _: None,
    may_go_on: Callable[[Stage], bool] = lambda _: True,
) -> Iterator[Step]:
    """Train `model` in place on new texts and some of what is known; yields each finished stage.

    `teacher` is the model before the round. Whoever iterates may keep what stands after a stage, or
    stop; `may_go_on` is asked before each one. A round that was interrupted goes on from the model
    after `done` stages and from their `update`.
    """
    held = rows.used if round_.distil == "all rows" else rows.deployed
    every = [*texts, *(text for known in again for text in known.texts)]
    told = [] if round_.distil == "nothing" else predict(teacher, every, rows.deployed)
    said = {id(text): logits.astype(np.float16) for text, logits in zip(every, told, strict=False)}
    for stage in round_.stages[done:]:
        if not may_go_on(stage):
            return
        began = time.monotonic()
        model.eval()  # a few hundred sentences: the teacher holds better than dropout does
        chance = random.Random(f"{round_.seed} {stage.name}")
        planned = epochs(texts, again, stage.epochs, chance)
        raised = _raised(model, planned, len(model.blocks) - stage.blocks)
        answers = {id(raised[text]): said[text] for text in raised if text in said}
        loss_of = _loss(model, rows, round_, stage, answers, held)
        with _trained(model, stage, round_.rank) as (groups, changed):
            schedule = Schedule(round_.tokens, seed=round_.seed)
            shown = [[raised[id(text)] for text in epoch] for epoch in planned]
            fit(groups, shown, schedule, loss_of, report)
            reserve(model, rows.used)  # weight decay has reached them too
            of_stage = {name: p.detach().clone() for name, p in changed.items()}
        update = joined(update or {}, of_stage)
        yield Step(stage, time.monotonic() - began, update)


def epochs(
    texts: Sequence[Example], again: Sequence[Again], number: int, chance: random.Random
) -> list[list[Example]]:
    """What each epoch shows: all texts, and the next ones of what is known, round and round."""
    planned = [list(texts) for _ in range(number)]
    for known in again:
        turns = cycle(chance.sample(known.texts, len(known.texts)))
        for epoch in planned:
            epoch += islice(turns, min(known.at_once, len(known.texts)))
    return planned


def _raised(model: EvoNER, planned: Sequence[Sequence[Example]], lowest: int) -> dict[int, Example]:
    """By its id() each text with the states before block `lowest`: what is below learns nothing in
    a stage, so it is computed once."""
    raised = {}
    with torch.no_grad():
        for key, text in {id(text): text for epoch in planned for text in epoch}.items():
            states = torch.from_numpy(text.words.states.astype(np.float32))[None]
            above: Any = model.raised(states, None, 0, lowest)[0].numpy().astype(np.float16)
            words = replace(text.words, states=above)  # half the memory; read back as float32
            raised[key] = replace(text, words=words)
    return raised


def _loss(
    model: EvoNER,
    rows: Rows,
    round_: Round,
    stage: Stage,
    answers: Mapping[int, NDArray[np.float16]],
    held: int,
) -> Callable[[list[Example], random.Random], Tensor]:
    """L_inc of a batch, equation 5. `answers` are the teacher's logits of a text by its id()."""
    lowest = len(model.blocks) - stage.blocks

    def loss_of(chosen: list[Example], chance: random.Random) -> Tensor:
        batch = collate(chosen, rows.used, model.shape.widths)
        scores = model(*(batch.states, batch.mask, batch.first, batch.codes), rows.used, lowest)
        loss = task_loss(scores, batch)
        if not answers:
            return loss
        told = _padded([answers[id(text)] for text in chosen], batch, held)
        return loss + round_.weight * _distilled(scores, told, batch, round_)

    return loss_of


def _padded(answers: Sequence[NDArray[np.float16]], batch: Batch, held: int) -> Tensor:
    """The teacher's logits of a batch, (B, n, W, held); rows that it does not know cannot be."""
    b, n, widths = batch.valid.shape
    told = np.full((b, n, widths, held), -1e4, dtype=np.float32)
    for place, logits in enumerate(answers):
        told[place, : len(logits), :, : logits.shape[-1]] = logits
    return torch.from_numpy(told)


def _distilled(scores: Scores, told: Tensor, batch: Batch, round_: Round) -> Tensor:
    return distillation_loss(
        scores.labels[batch.valid][:, : told.shape[-1]],
        told[batch.valid],
        temperature=round_.temperature,
        gate=round_.gate,
    )


@contextmanager
def _trained(
    model: EvoNER, stage: Stage, rank: int
) -> Iterator[tuple[list[Group], dict[str, nn.Parameter]]]:
    """What a stage trains, in groups and by name; everything else is frozen."""
    lowest = len(model.blocks) - stage.blocks
    heads = {n: p for n, p in model.named_parameters() if not n.startswith("blocks.")}
    model.requires_grad_(False)
    if not stage.blocks:
        yield _learning(heads, stage.head_rate), heads
    elif rank:
        with adapted(model, lowest, rank) as pairs:
            groups = _learning(heads, stage.head_rate) + _learning(pairs, stage.block_rate)
            yield groups, {**heads, **pairs}
    else:
        blocks = {
            f"blocks.{b}.{name}": p
            for b, block in enumerate(model.blocks)
            for name, p in block.named_parameters()
            if b >= lowest
        }
        groups = _learning(heads, stage.head_rate) + _learning(blocks, stage.block_rate)
        yield groups, {**heads, **blocks}


def _learning(parameters: Mapping[str, nn.Parameter], rate: float) -> list[Group]:
    for parameter in parameters.values():
        parameter.requires_grad_(True)
    return [Group(list(parameters.values()), rate)]
