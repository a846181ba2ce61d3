"""CrossRE's 17 relations as a second head: trained on a domain's hundred sentences, told apart on
its test sentences.

As in the authors' baseline, the pairs that stand in a relation are given and the relation is to be
said; macro-F1 over the relations that the test holds. Beside their own numbers, whose encoder (108
million parameters) is trained along; here only the head learns, on EvoNER's span vectors. The tests
of politics and literature are held back, so their development files stand in. CrossRE is under
GPL-3.0: nothing that was trained on it is shipped.

    python -m experiments.crossre --data ../shared/data/re
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.labelled import Entity
from smartrag.perception.training.relation_data import (
    Passage,
    rows_of,
)
from smartrag.perception.training.relation_examples import (
    RelationExample,
    SpanReader,
    relation_examples,
)
from smartrag.perception.training.relations import RelationRecipe, fit_relations, predicted
from smartrag.settings import PerceptionSettings
from smartrag.types import FloatArray

BASELINE = {
    "ai": (30.7, 45.3),
    "literature": (37.4, 67.4),
    "music": (39.3, 76.0),
    "politics": (20.3, 58.2),
    "science": (25.3, 40.1),
}
"""The authors' macro- and micro-F1, mean of five seeds, on the official tests."""
SEALED = ("literature", "politics")
SEEDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the relation files")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--choose", action="store_true", help="score on development files")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    reader = SpanReader(Encoder(encoder_path, PerceptionSettings(), shared=known.shared), known)
    files: list[DataFile] = []
    rows: list[Row] = []
    name = "crossre.choosing" if arguments.choose else "crossre"
    command = shlex.join(["python", "-m", "experiments.crossre", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
    ]
    for domain, (macro, micro) in BASELINE.items():
        split = "dev" if arguments.choose or domain in SEALED else "test"
        train, test = (
            passages(arguments.data / f"crossre-{domain}.{part}.jsonl.gz", files)
            for part in ("train", split)
        )
        names = sorted({name for p in (*train, *test) for _, _, name in p.holds})
        shown, asked = (relation_examples(part, reader, names) for part in (train, test))
        counts = Counter(name for p in test for _, _, name in set(p.holds))
        n_gold = np.array([counts[name] for name in names])
        runs = []
        for seed in range(SEEDS):
            recipe = RelationRecipe(seed=seed, epochs=arguments.epochs, pairs=1000)
            model = fit_relations(shown, names, recipe)
            runs.append(f1(asked, predicted(model, asked), n_gold))
        macros, micros = np.array(runs).T
        rows.append(
            {
                "domain": domain,
                "split": split,
                "macro_f1": float(macros.mean()),
                "macro_f1_spread": float(macros.std()),
                "micro_f1": float(micros.mean()),
                "baseline_macro_f1": macro / 100,
                "baseline_micro_f1": micro / 100,
                "n": int(n_gold.sum()),
            }
        )
        print(rows[-1], flush=True)
        # After every domain: five seeds of one take a quarter of an hour.
        result = Result.of_this_run(name, command, 0, rows, files, used)
        print(write(result, arguments.results), flush=True)


def passages(path: Path, files: list[DataFile]) -> list[Passage]:
    """The sentences of a file, which is added to `files`."""
    found = list(_passages(path))
    files.append(DataFile.of(path, len(found)))
    return found


def _passages(path: Path) -> Iterator[Passage]:
    for row in rows_of(path):
        yield Passage(
            id=row["id"],
            document=row["id"],
            tokens=tuple(row["tokens"]),
            sentences=(0,),
            entities=tuple(Entity(*entity) for entity in row["entities"]),
            holds=tuple((head, tail, name) for head, tail, name in row["relations"]),
        )


def f1(
    found: Sequence[RelationExample], scores: Sequence[FloatArray], n_gold: NDArray[np.int64]
) -> tuple[float, float]:
    """Macro- and micro-F1 of the likeliest relation of each pair that has one.

    `n_gold` counts all gold relations, those of mentions that cannot be seen (such as of more than
    ten words) included.
    """
    gold = np.concatenate([e.gold[(e.gold == 1).any(axis=1)] == 1 for e in found])
    said = np.zeros_like(gold)
    best = np.concatenate(
        [s[(e.gold == 1).any(axis=1)].argmax(axis=1) for e, s in zip(found, scores, strict=True)]
    )
    said[np.arange(len(said)), best] = True
    right, n_said = (said & gold).sum(0), said.sum(0)
    there = n_gold > 0
    macro = (2 * right / np.maximum(1, n_said + n_gold))[there].mean()
    micro = 2 * right.sum() / (n_said.sum() + n_gold.sum())
    return float(macro), float(micro)


if __name__ == "__main__":
    main()
