"""Where a learned version puts its span vectors, seen from where the shipped one does.

Learning moves the span vectors, and others have learned from them where they were: the relation
classifier, and the clusters of what fits no type. A map back costs no plasticity, as holding the
vectors still would.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from smartrag.perception.spans import decode
from smartrag.perception.training.data import Example
from smartrag.perception.training.span_model import EvoNER, Scores

_RIDGE = 1e-5
"""Added to the diagonal, as a share of its mean."""


@torch.no_grad()
def alignment(model: EvoNER, shipped: EvoNER, texts: Sequence[Example]) -> nn.Linear:
    """The affine map, z → z, by which the span vectors of `model` come closest to those of
    `shipped`: least squares over the words of the texts and over the entities that `shipped` finds
    in them, both kinds with the same weight."""
    model.eval()
    shipped.eval()
    size = shipped.shape.span
    squares = torch.zeros(2, size + 1, size + 1, dtype=torch.float64)
    products = torch.zeros(2, size + 1, size, dtype=torch.float64)
    counts = torch.zeros(2, dtype=torch.float64)
    for text in texts:
        ours, theirs = _scores(model, text), _scores(shipped, text)
        found = decode(theirs.labels[0].numpy())
        words = torch.arange(len(text.words)), torch.zeros(len(text.words), dtype=torch.int64)
        first = torch.tensor([s.first for s in found], dtype=torch.int64)
        entities = first, torch.tensor([s.last for s in found], dtype=torch.int64) - first
        for kind, place in enumerate((words, entities)):
            z = nn.functional.pad(ours.z[0][place].double(), (0, 1), value=1.0)  # (m, z + 1)
            squares[kind] += z.T @ z
            products[kind] += z.T @ theirs.z[0][place].double()
            counts[kind] += len(z)
    share = 1 / counts.clamp(min=1)[:, None, None]
    square, product = (squares * share).sum(0), (products * share).sum(0)
    square.diagonal().add_(_RIDGE * square.diagonal().mean())
    solved = torch.linalg.solve(square, product).float()  # (z + 1, z)
    aligned = nn.Linear(size, size)
    aligned.weight.copy_(solved[:-1].T)
    aligned.bias.copy_(solved[-1])
    return aligned


def _scores(model: EvoNER, text: Example) -> Scores:
    states: Tensor = torch.from_numpy(text.words.states.astype(np.float32))
    first, codes = torch.from_numpy(text.words.first), torch.from_numpy(text.words.codes)
    scores: Scores = model(states[None], None, first[None], codes[None])
    return scores
