"""EvoNER in torch (paper §3.2, equations 1 to 3).

Shapes: B texts, t tokens, n words, W = 10 widths, d = 384 encoder states, k rows of labels. Row 0
says "no entity", then come the base types, then reserved rows for types of the future.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from smartrag.perception.words import N_CODES

INACTIVE = -1.0e4
"""The bias of a reserved row that no type has taken: its probability is 0."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an EvoNER. `blocks` counts the encoder blocks of its own, above the shared ones;
    without `characters` the character channel is left out (for ablations)."""

    rows: int
    blocks: int = 3
    hidden: int = 384
    heads: int = 12
    widths: int = 10
    characters: int = 48
    product: int = 192
    span: int = 256
    dropout: float = 0.1


class Scores(NamedTuple):
    """What EvoNER says: logits of labels, of starts and of ends, and the vectors of spans."""

    labels: Tensor  # (B, n, W, k)
    starts: Tensor  # (B, n)
    ends: Tensor  # (B, n)
    z: Tensor  # (B, n, W, z)


class Block(nn.Module):
    """One BERT block: self-attention and feed-forward, each with a residual and a norm after it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d = shape.hidden
        self.heads = shape.heads
        self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))
        self.output = nn.Linear(d, d)
        self.norm = nn.LayerNorm(d, eps=1e-12)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.last_norm = nn.LayerNorm(d, eps=1e-12)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """(B, t, d) → (B, t, d); `mask` is bool (B, t), true for tokens that are there."""
        b, t, d = states.shape

        def split(x: Tensor) -> Tensor:
            return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)  # (B, h, t, d/h)

        q, k, v = split(self.query(states)), split(self.key(states)), split(self.value(states))
        scores = q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5  # (B, h, t, t)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)  # (B, t, d)
        states = self.norm(states + self.dropout(self.output(mixed)))
        fed = self.down(functional.gelu(self.up(states)))  # (B, t, 4d) → (B, t, d)
        normed: Tensor = self.last_norm(states + self.dropout(fed))
        return normed


class CharacterChannel(nn.Module):
    """c(t) of equation 2: a convolution over the characters of a word, its maximum over places."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(N_CODES, 24, padding_idx=0)
        self.convolution = nn.Conv1d(24, size, 3, padding=1)

    def forward(self, codes: Tensor) -> Tensor:
        """(m, characters) → (m, size)."""
        seen = self.embedding(codes).transpose(1, 2)  # (m, 24, characters)
        best: Tensor = functional.relu(self.convolution(seen)).amax(-1)  # (m, size)
        return best


class EvoNER(nn.Module):
    """Scores every span of up to W words for every label, and every word as a start and an end.

    The span vector is z = MLP([h_i ; h_j ; h_i ⊙ h_j ; width]); the first layer of the MLP is
    taken apart over the four, which is the same sum without building the long vector for each span.
    The product is taken of two projections of h.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        word = shape.hidden + shape.characters
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.blocks))
        self.characters = CharacterChannel(shape.characters) if shape.characters else None
        self.start, self.end = nn.Linear(word, shape.span), nn.Linear(word, shape.span, bias=False)
        self.start_factor = nn.Linear(word, shape.product)
        self.end_factor = nn.Linear(word, shape.product)
        self.product = nn.Linear(shape.product, shape.span, bias=False)
        self.width = nn.Embedding(shape.widths, shape.span)
        self.second = nn.Linear(shape.span, shape.span)
        self.labels = nn.Linear(shape.span, shape.rows)
        self.starts, self.ends = nn.Linear(word, 1), nn.Linear(word, 1)
        self.dropout = nn.Dropout(shape.dropout)
        nn.init.normal_(self.width.weight, std=0.1)

    def raised(self, states: Tensor, mask: Tensor | None, first: int, last: int) -> Tensor:
        """The states (B, t, d) after blocks `first` … `last` − 1, from those before them."""
        for block in list(self.blocks)[first:last]:
            states = block(states, mask)
        return states

    def word_vectors(
        self, states: Tensor, mask: Tensor | None, first: Tensor, codes: Tensor, lowest: int = 0
    ) -> Tensor:
        """h of equation 2 at the first token of each word.

        `states` (B, t, d), `mask` (B, t), `first` (B, n), `codes` (B, n, characters) → (B, n, h).
        The states are those before block `lowest`.
        """
        states = self.raised(states, mask, lowest, len(self.blocks))
        index = first[..., None].expand(-1, -1, states.shape[-1])  # (B, n, d)
        words = states.gather(1, index)  # (B, n, d)
        if self.characters is not None:
            b, n, c = codes.shape
            seen = self.characters(codes.reshape(b * n, c)).view(b, n, -1)  # (B, n, c)
            words = torch.cat([words, seen], -1)  # (B, n, h)
        dropped: Tensor = self.dropout(words)
        return dropped

    def span_vectors(self, words: Tensor) -> Tensor:
        """z of every span: (B, n, h) → (B, n, W, z); span (i, w) covers words i … i + w.

        Spans that run over the end see zeros there; whoever reads them leaves them out.
        """
        over = self.shape.widths - 1

        def at_end(x: Tensor) -> Tensor:
            longer = functional.pad(x, (0, 0, 0, over))  # (B, n + W - 1, ·)
            shifted = [longer[:, w : w - over or None] for w in range(over + 1)]
            return torch.stack(shifted, 2)  # (B, n, W, ·)

        product = self.start_factor(words)[:, :, None] * at_end(self.end_factor(words))
        summed = self.start(words)[:, :, None] + at_end(self.end(words))
        inner = functional.gelu(summed + self.product(product) + self.width.weight)
        z: Tensor = functional.gelu(self.second(self.dropout(inner)))  # (B, n, W, z)
        return z

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None,
        first: Tensor,
        codes: Tensor,
        rows: int | None = None,
        lowest: int = 0,
    ) -> Scores:
        """Scores of every span and word; with `rows`, of the first so many labels only.

        With `lowest`, the states are those before that block.
        """
        words = self.word_vectors(states, mask, first, codes, lowest)
        z = self.span_vectors(words)
        labels = functional.linear(z, self.labels.weight[:rows], self.labels.bias[:rows])
        return Scores(labels, self.starts(words).squeeze(-1), self.ends(words).squeeze(-1), z)


def with_encoder_blocks(model: EvoNER, weights: Mapping[str, Tensor], first: int) -> None:
    """Start the blocks of `model` from blocks `first`, `first` + 1, … of a BERT encoder."""
    for number, block in enumerate(model.blocks):
        there = f"encoder.layer.{first + number}."
        names = {
            "query": "attention.self.query",
            "key": "attention.self.key",
            "value": "attention.self.value",
            "output": "attention.output.dense",
            "norm": "attention.output.LayerNorm",
            "up": "intermediate.dense",
            "down": "output.dense",
            "last_norm": "output.LayerNorm",
        }
        block.load_state_dict(
            {
                f"{ours}.{part}": weights[f"{there}{theirs}.{part}"]
                for ours, theirs in names.items()
                for part in ("weight", "bias")
            }
        )


def reserve(model: EvoNER, first: int) -> None:
    """Make the label rows from `first` on inactive: no weight and a bias that nothing outweighs."""
    with torch.no_grad():
        model.labels.weight[first:] = 0
        model.labels.bias[first:] = INACTIVE
