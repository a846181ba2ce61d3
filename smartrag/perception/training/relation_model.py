"""The relation classifier in torch.

Shapes: B texts, n words, m mentions, p pairs, z = 256 numbers of a span vector, r relations. The
span vectors are EvoNER's, which stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from smartrag.perception.relations import DISTANCES, HIDDEN, REGIONS


@dataclass(frozen=True, slots=True)
class RelationShape:
    """The sizes of a relation classifier."""

    relations: int
    types: int
    span: int = 256
    type: int = 32
    hidden: int = 256
    product: int = 128
    heads: int = 4
    key: int = 32
    dropout: float = 0.3


class RelationModel(nn.Module):
    """Scores every pair for every relation and for the threshold between what holds and what not.

    The pair is MLP([head ; tail ; U·head ⊙ V·tail ; distance ; context]), head and tail each the
    span vector with an embedding of the type. The context is an attention over the words of their
    sentences: the pair asks, every word answers with its one-word span vector and its region (left,
    head, between, tail, right).
    """

    def __init__(self, shape: RelationShape) -> None:
        super().__init__()
        self.shape = shape
        d = shape.hidden
        mention, attended = shape.span + shape.type, shape.heads * shape.key
        self.types = nn.Embedding(shape.types, shape.type)
        self.head, self.tail = nn.Linear(mention, d), nn.Linear(mention, d, bias=False)
        self.head_factor = nn.Linear(mention, shape.product)
        self.tail_factor = nn.Linear(mention, shape.product)
        self.product = nn.Linear(shape.product, d, bias=False)
        self.distance = nn.Embedding(DISTANCES, d)
        self.query = nn.Linear(d, attended)
        self.key = nn.Linear(shape.span, attended)
        self.value = nn.Linear(shape.span, d)
        self.region = nn.Embedding(REGIONS, shape.heads)
        self.region_value = nn.Linear(REGIONS * shape.heads, d, bias=False)
        self.context = nn.Linear(d, d, bias=False)
        self.second = nn.Linear(d, d)
        self.logits = nn.Linear(d, 1 + shape.relations)
        self.dropout = nn.Dropout(shape.dropout)
        nn.init.normal_(self.distance.weight, std=0.1)
        nn.init.normal_(self.region.weight, std=0.1)

    def forward(
        self,
        words: Tensor,
        mentions: Tensor,
        types: Tensor,
        heads: Tensor,
        tails: Tensor,
        distances: Tensor,
        regions: Tensor,
    ) -> Tensor:
        """`words` (B, n, z), `mentions` (B, m, z), `types` (B, m), `heads`, `tails` and `distances`
        (B, p), `regions` (B, p, n) → logits (B, p, 1 + r), that of the threshold first."""
        vectors = self.dropout(torch.cat([mentions, self.types(types)], -1))  # (B, m, z + type)
        product = _taken(self.head_factor(vectors), heads) * _taken(
            self.tail_factor(vectors), tails
        )
        pair = _taken(self.head(vectors), heads) + _taken(self.tail(vectors), tails)
        pair = pair + self.product(product) + self.distance(distances)  # (B, p, d)
        pair = pair + self.context(
            self.attended(functional.gelu(pair), self.dropout(words), regions)
        )
        inner = functional.gelu(self.second(self.dropout(functional.gelu(pair))))
        logits: Tensor = self.logits(self.dropout(inner))
        return logits

    def attended(self, pair: Tensor, words: Tensor, regions: Tensor) -> Tensor:
        """What each pair (B, p, d) reads in the words (B, n, z) that it sees: (B, p, d)."""
        (b, p, _), n, h = pair.shape, words.shape[1], self.shape.heads
        query = self.query(pair).view(b, p, h, -1).transpose(1, 2)  # (B, h, p, key)
        key = self.key(words).view(b, n, h, -1).permute(0, 2, 3, 1)  # (B, h, key, n)
        scores = query @ key * self.shape.key**-0.5  # (B, h, p, n)
        scores = scores + self.region(regions).permute(0, 3, 1, 2)
        scores = scores.masked_fill((regions == HIDDEN)[:, None], torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)  # (B, h, p, n)
        value = self.value(words).view(b, n, h, -1).transpose(1, 2)  # (B, h, n, d/h)
        read = (weights @ value).transpose(1, 2).reshape(b, p, -1)  # (B, p, d)
        places = functional.one_hot(regions, REGIONS).to(weights.dtype)  # (B, p, n, regions)
        mass = weights.permute(0, 2, 1, 3) @ places  # (B, p, h, regions)
        attended: Tensor = read + self.region_value(mass.reshape(b, p, -1))
        return attended


def _taken(x: Tensor, index: Tensor) -> Tensor:
    """The rows (B, p, ·) of x (B, m, ·) at index (B, p)."""
    found: Tensor = x.gather(1, index[..., None].expand(-1, -1, x.shape[-1]))
    return found


def adaptive_threshold_loss(logits: Tensor, gold: Tensor) -> Tensor:
    """The mean over pairs of the adaptive-threshold loss (Zhou et al. 2021, equation 5).

    `logits` (q, 1 + r) with the threshold class first; `gold` (q, r) is 1 where a relation holds,
    0 where it does not, and -1 where nobody knows: such a relation takes no part. Relations that
    hold are pushed above the threshold, and the threshold above those that do not.
    """
    lowest = torch.finfo(logits.dtype).min
    threshold = torch.ones_like(gold[:, :1], dtype=torch.bool)
    above = logits.masked_fill(~torch.cat([threshold, gold == 1], 1), lowest).log_softmax(-1)
    below = logits.masked_fill(~torch.cat([threshold, gold == 0], 1), lowest).log_softmax(-1)
    positive = (above[:, 1:] * (gold == 1)).sum(-1)
    loss: Tensor = -(positive + below[:, 0]).mean()
    return loss


def scores(logits: Tensor) -> Tensor:
    """How far each relation is above the threshold, as a probability: (…, 1 + r) → (…, r)."""
    return (logits[..., 1:] - logits[..., :1]).sigmoid()
