"""Training the relation classifier on frozen span vectors, and writing it for the runtime.

Re-DocRED's development documents, cut to sentences and to paragraphs, and three of KnowledgeNet's
four folds. A tenth of the documents of both, by CRC-32 of their ids, chooses the thresholds.
"""

from __future__ import annotations

import hashlib
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from smartrag.perception.encoder import Encoder
from smartrag.perception.evoner import EvoNERModel
from smartrag.perception.labels import BASE_TYPES
from smartrag.perception.relations import DESCRIPTION, GRAPH, RelationType
from smartrag.perception.training.export import graph_of
from smartrag.perception.training.loop import Group, Report, descend
from smartrag.perception.training.relation_data import (
    INVERSE,
    RELATIONS,
    SYMMETRIC,
    knowledgenet,
    re_docred_documents,
)
from smartrag.perception.training.relation_examples import (
    RelationExample,
    SpanReader,
    relation_examples,
)
from smartrag.perception.training.relation_model import (
    RelationModel,
    RelationShape,
    adaptive_threshold_loss,
    scores,
)
from smartrag.types import FloatArray


@dataclass(frozen=True, slots=True)
class RelationRecipe:
    """How the relation classifier is trained."""

    seed: int = 0
    epochs: int = 8
    rate: float = 1e-3
    weight_decay: float = 0.01
    pairs: int = 2000
    """Of a batch."""
    paragraph: int = 150
    """Documents are cut into passages of up to so many tokens, and into sentences."""
    folds: tuple[int, ...] = (1, 2, 3)
    """Of KnowledgeNet; the fourth is kept for tests."""
    seldom: float = 0.02
    """A pair of types that so small a share of a relation's facts has is not said of it."""


def train_relations(
    folder: Path, encoder: Encoder, evoner: EvoNERModel, recipe: RelationRecipe, report: Report
) -> tuple[RelationModel, tuple[RelationType, ...]]:
    """The classifier and what it can say, from the files of a folder."""
    reader = SpanReader(encoder, evoner)
    documents = folder / "re-docred-doc.dev.jsonl.gz"
    passages = [
        *re_docred_documents(documents, 1, references=True),
        *re_docred_documents(documents, recipe.paragraph, references=True),
        *knowledgenet(folder / "knowledgenet.train.jsonl.gz", recipe.folds),
    ]
    found = relation_examples(passages, reader)
    report(f"{len(found)} passages with {sum(len(e.pairs) for e in found)} pairs are read")
    dev = [example for example in found if is_dev(example)]
    train = [example for example in found if not is_dev(example)]
    model = fit_relations(train, RELATIONS, recipe, report)
    return model, relation_types(model, train, dev, recipe)


def is_dev(example: RelationExample) -> bool:
    """Whether a passage belongs to the tenth that chooses."""
    return zlib.crc32(example.passage.document.encode()) % 10 == 0


def fit_relations(
    found: Sequence[RelationExample],
    relations: Sequence[str],
    recipe: RelationRecipe,
    report: Report = lambda _: None,
) -> RelationModel:
    """A classifier of these relations, the columns of the examples' gold."""
    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    model = RelationModel(RelationShape(len(relations), len(BASE_TYPES)))
    planned = [
        batch for _ in range(recipe.epochs) for batch in _batches(found, recipe.pairs, chance)
    ]

    def loss_of(chosen: list[RelationExample]) -> Tensor:
        inputs, gold, there = _collate(chosen)
        return adaptive_threshold_loss(model(*inputs)[there], gold[there])

    model.train()
    groups = [Group(list(model.parameters()), recipe.rate)]
    descend(groups, planned, loss_of, weight_decay=recipe.weight_decay, report=report)
    return model.eval()


@torch.no_grad()
def predicted(model: RelationModel, found: Sequence[RelationExample]) -> list[FloatArray]:
    """The scores (p, relations) of the pairs of each example."""
    model.eval()
    return [scores(model(*_collate([example])[0])[0]).numpy() for example in found]


def relation_types(
    model: RelationModel,
    train: Sequence[RelationExample],
    dev: Sequence[RelationExample],
    recipe: RelationRecipe,
) -> tuple[RelationType, ...]:
    """What the classifier says: each relation at the best threshold, of types that it was seen of.

    One threshold for all would serve the frequent relations only; one for each, on a tenth of the
    data, would follow chance. So each starts from the common one and moves half of the way.
    """
    said = predicted(model, dev)
    common = best_threshold(dev, said)
    return tuple(
        RelationType(
            name=name,
            threshold=(common + best_threshold(dev, said, column)) / 2,
            types=_types_of(train, column, recipe.seldom),
            symmetric=name in SYMMETRIC,
            inverse=INVERSE.get(name, ""),
        )
        for column, name in enumerate(RELATIONS)
    )


def best_threshold(
    found: Sequence[RelationExample], said: Sequence[FloatArray], column: int | None = None
) -> float:
    """The threshold, 0.1 to 0.9, with the highest micro-F1 over all relations or over one."""
    columns = slice(None) if column is None else slice(column, column + 1)
    gold = np.concatenate([example.gold[:, columns].ravel() for example in found])
    score = np.concatenate([s[:, columns].ravel() for s in said])

    def f1(threshold: float) -> float:
        over = (score >= threshold) & (gold >= 0)
        right = int((over & (gold == 1)).sum())
        return 2 * right / max(1, int(over.sum()) + int((gold == 1).sum()))

    tried = np.arange(0.1, 0.91, 0.05).round(2).tolist()
    return float(max(tried, key=lambda t: (f1(t), -abs(t - 0.5))))


def _types_of(
    found: Sequence[RelationExample], column: int, seldom: float
) -> frozenset[tuple[str, str]]:
    """The types of head and tail of which a relation holds in training, rare slips left out."""
    counts = Counter(
        (BASE_TYPES[head], BASE_TYPES[tail])
        for example in found
        for head, tail in example.types[
            np.stack([example.pairs.heads, example.pairs.tails], -1)[example.gold[:, column] == 1]
        ].tolist()
    )
    return frozenset(pair for pair, n in counts.items() if n > seldom * counts.total())


# --- batches --------------------------------------------------------------------------------------
def _batches(
    found: Sequence[RelationExample], pairs: int, chance: random.Random
) -> Iterator[list[RelationExample]]:
    """All examples once, in batches of about so many pairs; texts with as many share one."""
    order = sorted(found, key=lambda e: len(e.pairs) * chance.uniform(0.8, 1.25))
    groups: list[list[RelationExample]] = [[]]
    for example in order:
        most = max(len(e.pairs) for e in (*groups[-1], example))
        if groups[-1] and most * (len(groups[-1]) + 1) > pairs:
            groups.append([])
        groups[-1].append(example)
    chance.shuffle(groups)
    yield from groups


def _collate(chosen: Sequence[RelationExample]) -> tuple[list[Tensor], Tensor, Tensor]:
    """The inputs of the model, gold (B, p, r), and which pairs are there, bool (B, p)."""
    b = len(chosen)
    n, m, p = (
        max(map(len, sizes))
        for sizes in zip(*((e.words, e.mentions, e.pairs) for e in chosen), strict=True)
    )
    z, r = chosen[0].words.shape[1], chosen[0].gold.shape[1]
    words, mentions = np.zeros((b, n, z), np.float32), np.zeros((b, m, z), np.float32)
    types, regions = np.zeros((b, m), np.int64), np.zeros((b, p, n), np.int64)
    heads, tails, distances = (np.zeros((b, p), np.int64) for _ in range(3))
    gold, there = np.full((b, p, r), -1, np.int8), np.zeros((b, p), bool)
    for row, example in enumerate(chosen):
        k, own = len(example.pairs), len(example.words)
        words[row, :own] = example.words
        mentions[row, : len(example.mentions)] = example.mentions
        types[row, : len(example.types)] = example.types
        heads[row, :k], tails[row, :k] = example.pairs.heads, example.pairs.tails
        distances[row, :k] = example.pairs.distances
        regions[row, :k, :own] = example.pairs.regions
        gold[row, :k], there[row, :k] = example.gold, True
    arrays = (words, mentions, types, heads, tails, distances, regions)
    return [torch.from_numpy(a) for a in arrays], torch.from_numpy(gold), torch.from_numpy(there)


# --- for the runtime ------------------------------------------------------------------------------
class OneText(nn.Module):
    """The classifier as the runtime calls it: one text, no padding, scores in place of logits."""

    def __init__(self, model: RelationModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: Tensor) -> Tensor:
        """The inputs of `RelationModel` without their first axis → scores (p, r)."""
        return scores(self.model(*(each[None] for each in inputs)))[0]


def to_onnx(model: RelationModel) -> bytes:
    """The graph in float32: 1.6 MB, and INT8 would save a megabyte of a package of 18."""
    names = ["words", "mentions", "types", "heads", "tails", "distances", "regions"]
    z = model.shape.span
    pairs = torch.tensor([0, 1])
    example = (
        *(torch.zeros(5, z), torch.zeros(2, z), torch.tensor([0, 1])),
        *(pairs, pairs.flip(0), pairs, torch.ones(2, 5, dtype=torch.int64)),
    )
    axes = {
        **{name: {0: "pairs"} for name in ("heads", "tails", "distances", "scores")},
        **{name: {0: "mentions"} for name in ("mentions", "types")},
        "words": {0: "words"},
        "regions": {0: "pairs", 1: "words"},
    }
    return graph_of(OneText(model), example, names, ["scores"], axes)


def save_relations(
    folder: Path, model: RelationModel, relations: Sequence[RelationType], evoner: EvoNERModel
) -> None:
    """Write a classifier to a folder, which is made if need be; its description is written last."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = to_onnx(model)
    described = {
        "sha256": hashlib.sha256(graph).hexdigest(),
        "evoner_sha256": hashlib.sha256(evoner.graph).hexdigest(),
        "types": list(BASE_TYPES),
        "relations": [
            asdict(replace(r, types=frozenset())) | {"types": sorted(r.types)} for r in relations
        ],
    }
    (folder / DESCRIPTION).unlink(missing_ok=True)
    (folder / GRAPH).write_bytes(graph)
    (folder / DESCRIPTION).write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
