"""The loop that every training here runs: AdamW, warm-up, linear decay, clipped gradients."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from smartrag.perception.spans import decode
from smartrag.perception.training.data import Example, batches, collate
from smartrag.perception.training.span_model import EvoNER
from smartrag.types import FloatArray

Report = Callable[[str], None]
_REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class Schedule:
    """In what steps; `tokens` is the size of a batch."""

    tokens: int = 1200
    warmup: float = 0.06
    weight_decay: float = 0.01
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that learn at the same rate."""

    parameters: Sequence[nn.Parameter]
    rate: float


Item = TypeVar("Item")


def fit(
    groups: Iterable[Group],
    shown: Sequence[Sequence[Example]],
    schedule: Schedule,
    loss_of: Callable[[list[Example], random.Random], Tensor],
    report: Report = lambda _: None,
    after_epoch: Callable[[int], None] = lambda _: None,
) -> None:
    """Lower the loss of the examples that each epoch shows; `loss_of` gets a batch and the run's
    source of chance."""
    chance = random.Random(schedule.seed)
    epochs = [list(batches(found, schedule.tokens, chance)) for found in shown]
    ends = {end: epoch for epoch, end in enumerate(accumulate(map(len, epochs)))}

    def after_step(step: int) -> None:
        if step in ends:
            after_epoch(ends[step])

    descend(
        groups,
        [batch for of_epoch in epochs for batch in of_epoch],
        lambda chosen: loss_of(chosen, chance),
        warmup=schedule.warmup,
        weight_decay=schedule.weight_decay,
        report=report,
        after_step=after_step,
    )


def descend(
    groups: Iterable[Group],
    planned: Sequence[Item],
    loss_of: Callable[[Item], Tensor],
    *,
    warmup: float = 0.06,
    weight_decay: float = 0.01,
    report: Report = lambda _: None,
    after_step: Callable[[int], None] = lambda _: None,
) -> None:
    """One step of AdamW for each batch of `planned`; raises FloatingPointError when a loss is no
    number. `after_step` gets how many steps are done."""
    optimiser = torch.optim.AdamW(
        [{"params": list(g.parameters), "lr": g.rate} for g in groups], weight_decay=weight_decay
    )
    every = [p for group in optimiser.param_groups for p in group["params"]]
    steps = len(planned)
    warm = max(1, round(warmup * steps))

    def rate(step: int) -> float:
        return min((step + 1) / warm, (steps - step) / max(1, steps - warm))

    decay = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    began = time.monotonic()
    for step, batch in enumerate(planned, 1):
        loss = loss_of(batch)
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"the loss is {loss.item()} in step {step}")
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(every, 1.0)
        optimiser.step()
        decay.step()
        if step % _REPORT_EVERY == 0:
            seconds = time.monotonic() - began
            report(f"step {step} of {steps}: loss {loss.item():.3f}, {seconds:.0f} s")
        after_step(step)


@torch.no_grad()
def predict(
    model: EvoNER, found: Sequence[Example], rows: int, tokens: int = 4096
) -> list[FloatArray]:
    """Logits (n, W, rows) of each example, in their order."""
    model.eval()
    scored: list[FloatArray] = [np.empty(0, np.float32)] * len(found)
    order = sorted(range(len(found)), key=lambda i: len(found[i].words.states))
    while order:
        at_once = max(1, tokens // len(found[order[-1]].words.states))
        chosen, order = order[-at_once:], order[:-at_once]
        unlabelled = [Example(found[i].words, ()) for i in chosen]
        batch = collate(unlabelled, rows, model.shape.widths)
        labels = model(batch.states, batch.mask, batch.first, batch.codes, rows).labels
        for place, i in enumerate(chosen):
            scored[i] = labels[place, : len(found[i].words)].numpy()
    return scored


@dataclass(frozen=True, slots=True)
class F1:
    """Micro-averaged, 0 to 1; `typed` asks for borders and type, `spans` for the borders only."""

    typed: float
    spans: float


def f1(
    found: Sequence[Example],
    logits: Sequence[FloatArray],
    caution: float = 0.0,
    rows: frozenset[int] | None = None,
) -> F1:
    """How well scores find the gold of examples; with `rows`, of these types only.

    A found entity is right in type if its row is one of those that the gold may be. With `rows`, an
    entity that may be of another type too is none to be found, and finding it is a mistake.
    """
    marked = said = right = bordered = 0
    for example, scores in zip(found, logits, strict=True):
        gold = {
            (g.first, g.last): g.rows
            for g in example.gold
            if rows is None or rows.issuperset(g.rows)
        }
        spans = [s for s in decode(scores, caution=caution) if rows is None or s.row in rows]
        marked, said = marked + len(gold), said + len(spans)
        bordered += sum((s.first, s.last) in gold for s in spans)
        right += sum(s.row in gold.get((s.first, s.last), ()) for s in spans)
    return F1(2 * right / max(1, marked + said), 2 * bordered / max(1, marked + said))


def best_caution(
    found: Sequence[Example], logits: Sequence[FloatArray], rows: frozenset[int]
) -> float:
    """What added to the logit of "no entity" gives the types in `rows` the highest typed F1: −2 to
    1, in quarters."""
    tried = np.arange(-2.0, 1.01, 0.25).tolist()
    return float(max(tried, key=lambda caution: f1(found, logits, caution, rows).typed))
