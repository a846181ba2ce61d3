from __future__ import annotations

import math

import pytest
import torch

from smartrag.perception.training.data import Batch, Gold, collate
from smartrag.perception.training.losses import distillation_loss, task_loss
from smartrag.perception.training.span_model import Scores
from tests.perception.training.conftest import MakeExample


def scores(batch: Batch, labels: torch.Tensor, border: float = -50.0) -> Scores:
    starts = torch.full(batch.starts.shape, border)
    return Scores(labels, starts, starts.clone(), torch.zeros(1))


def test_the_loss_of_a_span_is_minus_log_of_all_it_may_be(text: MakeExample) -> None:
    """One word, widths of one: a set of two equal logits out of four costs ln 2."""
    batch = collate([text(1, [Gold(0, 0, (1, 2))])], 4, 1)
    batch.starts[:] = batch.ends[:] = -1
    loss = task_loss(scores(batch, torch.zeros(1, 1, 1, 4)), batch)
    assert loss.item() == pytest.approx(math.log(2))


def test_borders_count_half(text: MakeExample) -> None:
    batch = collate([text(1, [Gold(0, 0, (1,))])], 2, 1)
    labels = torch.tensor([[[[-50.0, 50.0]]]])  # the span itself is certain
    loss = task_loss(scores(batch, labels, border=0.0), batch)
    assert loss.item() == pytest.approx(0.5 * 2 * math.log(2))


def test_spans_that_may_be_anything_press_nothing(text: MakeExample) -> None:
    batch = collate([text(3, unmarked=(1, 2, 3))], 4, 2)
    labels = torch.randn(1, 3, 2, 4, requires_grad=True)
    task_loss(scores(batch, labels), batch).backward()  # type: ignore[no-untyped-call]
    assert labels.grad is not None
    torch.testing.assert_close(labels.grad, torch.zeros_like(labels.grad))


def test_distillation_is_the_divergence_where_the_teacher_is_sure() -> None:
    """By hand: T = 2 halves logits, so the teacher says (0.9, 0.1) and the student (0.5, 0.5)."""
    teacher = torch.tensor([[2 * math.log(9), 0.0], [0.0, 0.0]])  # the second span: unsure
    student = torch.zeros(2, 2)
    expected = 4 * (0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5))
    loss = distillation_loss(student, teacher, temperature=2.0, gate=0.7)
    assert loss.item() == pytest.approx(expected, rel=1e-4)
    assert distillation_loss(student, teacher, temperature=2.0, gate=0.95).item() == 0
    assert distillation_loss(teacher, teacher, temperature=2.0, gate=0.7).item() < 1e-6
