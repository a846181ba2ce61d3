"""The losses of equations 4 to 7."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from smartrag.perception.training.data import Batch
from smartrag.perception.training.span_model import Scores


def task_loss(scores: Scores, batch: Batch) -> Tensor:
    """L_task = L_span + ½ (L_start + L_end), equation 4; a sum over words, divided by their number.

    L_span is −log of the probability of all labels that a span may have, which for one label is
    the usual cross-entropy and for a masked type no pressure at all.
    """
    chosen = scores.labels[batch.valid]  # (s, k)
    permitted = batch.sets[batch.allowed[batch.valid]]  # (s, k)
    inside = chosen.masked_fill(~permitted, torch.finfo(chosen.dtype).min).logsumexp(-1)
    span = (chosen.logsumexp(-1) - inside).sum()
    n_words = batch.valid[:, :, 0].sum()
    borders = _boundary(scores.starts, batch.starts) + _boundary(scores.ends, batch.ends)
    total: Tensor = (span + 0.5 * borders) / n_words
    return total


def _boundary(logits: Tensor, target: Tensor) -> Tensor:
    known = target >= 0
    return functional.binary_cross_entropy_with_logits(
        logits[known], target[known], reduction="sum"
    )


def distillation_loss(
    student: Tensor, teacher: Tensor, *, temperature: float, gate: float
) -> Tensor:
    """L_KD of equation 7 over spans, both (s, 1 + base): gated by equation 6.

    Only spans of which the teacher is sure, its highest probability at least `gate`, hold the
    student back.
    """
    target = functional.softmax(teacher / temperature, -1)  # (s, 1 + base)
    sure = target.amax(-1) >= gate  # (s,)
    log = functional.log_softmax(student / temperature, -1)
    divergence = functional.kl_div(log, target, reduction="none").sum(-1)  # (s,)
    return temperature**2 * (divergence * sure).sum() / (sure.sum() + 1e-6)
