"""Few-NERD's 66 fine types in eleven steps of six, as class-incremental learning is measured.

Every step shows sentences in which its six types are marked and nothing else is; after it, all
types so far are scored on sentences that hold one of them. Macro-F1 is the mean over types, and the
published figure is the mean of that over the steps.

What differs from the published runs: ours begin with the shipped model, which knows the eight
coarse types above the 66, and see `--sentences` a step where those see the task's whole training
file; training sentences are of Few-NERD's development file, and test sentences its tenth that no
training of the shipped model saw, since the files of all eleven steps are not to be had.

    python -m experiments.class_incremental --data ../shared/data/ner
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from experiments.crossner import CHECK, HELD, REPLAY, Domain, Learner, named, read
from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.labelled import Sentence, lines_of
from smartrag.perception.training import base
from smartrag.perception.training.checkpoint import trainable
from smartrag.perception.training.data import Example, labelled
from smartrag.perception.training.guidelines import guideline
from smartrag.perception.training.incremental import STAGES, Round
from smartrag.perception.training.loop import f1, predict
from smartrag.settings import PerceptionSettings

STAGES_OF: Mapping[str, Round] = {"three": Round(), "heads": Round(stages=STAGES[:1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--sentences", type=int, default=200, help="that a step shows")
    parser.add_argument("--stages", choices=list(STAGES_OF), default="heads")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    path = arguments.data / "few-nerd.dev.jsonl.gz"
    tasks = tasks_of(path)
    corpus = base.corpus(arguments.data, base.Recipe(partly=0))
    chance = random.Random(arguments.seed)
    test = read(corpus.test, encoder)
    learner = Learner(
        trainable(evoner.SHIPPED),
        known.inventory,
        known.caution,
        encoder,
        read(named(chance.sample(corpus.few_nerd, REPLAY)), encoder),
        read(named(corpus.dev[:CHECK]), encoder),
        read(named(corpus.test[:HELD]), encoder),
        {name: name.partition("-")[0] for types in tasks for name in types},
    )
    rows: list[Row] = []
    learned: list[str] = []
    for step, types in enumerate(tasks):
        shown = chance.sample(list(of_task(corpus.few_nerd, types)), arguments.sentences)
        task = Domain(f"step {step}", tuple(shown), ())
        [*_, last] = learner.learn(task, replace(STAGES_OF[arguments.stages], seed=arguments.seed))
        learned += types
        kept = {key: last[key] for key in ("seconds", "base_f1", "base_f1_lost")}
        rows.append({"step": step, "types": len(learned), **scored(learner, test, learned), **kept})
        print(rows[-1], flush=True)
    rows.append({"step": "mean", "types": "", **means(rows)})
    command = shlex.join(["python", "-m", "experiments.class_incremental", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
    ]
    files = [DataFile.of(path, sum(1 for _ in lines_of(path)))]
    result = Result.of_this_run("class_incremental", command, arguments.seed, rows, files, used)
    print(write(result, arguments.results))


def tasks_of(path: Path) -> list[list[str]]:
    """The types of each step. A row says which steps its types belong to, not which to which."""
    possible: dict[str, set[int]] = {}
    for _, line in lines_of(path):
        row = json.loads(line)
        for name in {entity[2] for entity in row["entities"]}:
            possible.setdefault(name, set(row["tasks"])).intersection_update(row["tasks"])
    steps = [sorted(n for n, tasks in possible.items() if tasks == {step}) for step in range(11)]
    assert sum(map(len, steps)) == len(possible), "the steps of some types are not settled"
    return steps


def of_task(sentences: Sequence[Sentence], types: Sequence[str]) -> Iterator[Sentence]:
    """The sentences that hold one of these types, with nothing else marked."""
    for sentence in sentences:
        marked = tuple(e for e in sentence.entities if e.type in types)
        if marked:
            yield replace(sentence, entities=marked)


def scored(learner: Learner, test: Sequence[Example], learned: Sequence[str]) -> dict[str, float]:
    """Micro- and macro-F1 over the types learned so far."""
    with_one = [e for e in test if any(g.name in learned for g in e.gold)]
    told = guideline(learner.inventory, learned)
    found = labelled(with_one, told, learner.inventory.used)
    logits = predict(learner.model, found, learner.inventory.used)
    rows = [frozenset(told.rows_of[name]) for name in learned]
    of_each = [f1(found, logits, learner.caution, row).typed for row in rows]
    every = f1(found, logits, learner.caution, frozenset().union(*rows)).typed
    return {"micro_f1": every, "macro_f1": sum(of_each) / len(of_each)}


def means(rows: Sequence[Row]) -> dict[str, float]:
    """The means of the two over all steps."""
    return {
        key: sum(float(row[key] or 0) for row in rows) / len(rows)
        for key in ("micro_f1", "macro_f1")
    }


if __name__ == "__main__":
    main()
