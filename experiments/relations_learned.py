"""Whether relations are still found when the entity model has learned new types.

The classifier reads EvoNER's span vectors where they were when it was trained. Rounds of learning
on domains of CrossNER move them, and each round's graph maps them back; *aligned* says whether it
does here. Re-DocRED's test documents, as in `experiments.relations`.

    python -m experiments.relations_learned --data ../shared/data
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from experiments.crossner import PARENTS, named
from experiments.relations import PARAGRAPH, document, measured
from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner, relations
from smartrag.perception.evoner import EvoNERModel
from smartrag.perception.labelled import read_sentences
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import Lesson
from smartrag.perception.relations import RelationClassifier
from smartrag.perception.training import checkpoint
from smartrag.perception.training.export import to_int8, to_onnx
from smartrag.perception.training.incremental import STAGES, Round
from smartrag.perception.training.relation_data import re_docred_documents, rows_of
from smartrag.perception.training.relation_examples import SpanReader
from smartrag.perception.training.rounds import Parent, run
from smartrag.perception.training.update import apply, from_bytes
from smartrag.settings import PerceptionSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the folders re and ner")
    parser.add_argument("--domains", nargs="+", default=["ai", "literature"])
    parser.add_argument("--stages", type=int, default=len(STAGES), help="of a round")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    classifier = RelationClassifier(relations.shipped(), known.graph)
    names = {r.name for r in classifier.model.relations}
    symmetric = {r.name for r in classifier.model.relations if r.symmetric}
    re_docred = arguments.data / "re" / "re-docred-doc.test.jsonl.gz"
    documents = {r["id"]: document(r, names, symmetric) for r in rows_of(re_docred)}
    passages = re_docred_documents(re_docred, PARAGRAPH)
    files = [DataFile.of(re_docred, len(documents))]

    def scored(learned: str, aligned: bool, model: EvoNERModel) -> Iterator[Row]:
        reader = SpanReader(encoder, model)
        for row in measured("Re-DocRED test", passages, documents, reader, classifier):
            if row["relation"] == "all":
                kept = {key: row[key] for key in ("mentions", "f1", "precision", "recall")}
                yield {"learned": learned, "aligned": aligned, **kept}
                print(learned, aligned, kept, flush=True)

    rows: list[Row] = list(scored("nothing", True, known))
    parent = Parent(known)
    round_ = Round(stages=STAGES[: arguments.stages], seed=arguments.seed)
    for number, domain in enumerate(arguments.domains, 1):
        path = arguments.data / "ner" / f"crossner-{domain}.train.jsonl.gz"
        lesson = lesson_of(path, parent.model.inventory)
        files.append(DataFile.of(path, len(lesson.sentences)))
        learned = run(parent, lesson, encoder, round_, bound=100.0, report=print)
        assert learned is not None
        parent = Parent(
            learned.model,
            (*parent.updates, learned.update),
            (*parent.lessons, lesson),
        )
        said = ", ".join(arguments.domains[:number])
        rows += scored(said, True, parent.model)
        rows += scored(said, False, replace(parent.model, graph=unaligned(parent)))
    command = shlex.join(["python", "-m", "experiments.relations_learned", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
        ModelFile.of(relations.GRAPH, relations.SHIPPED / relations.GRAPH),
    ]
    result = Result.of_this_run("relations_learned", command, arguments.seed, rows, files, used)
    print(write(result, arguments.results))


def lesson_of(path: Path, known: Inventory) -> Lesson:
    """A domain's training file; what is of no type of the domain, *misc*, is left unmarked."""
    sentences = tuple(
        replace(s, entities=tuple(e for e in s.entities if e.type != "misc"))
        for s in named(list(read_sentences(path)))
    )
    marked = sorted({e.type for s in sentences for e in s.entities})
    new = {name: PARENTS.get(name, "") for name in marked if not known.named(name)}
    return Lesson(new, sentences)


def unaligned(parent: Parent) -> bytes:
    """The graph of a version, with span vectors where learning left them."""
    built = checkpoint.trainable(evoner.SHIPPED)
    for update in parent.updates:
        apply(built, from_bytes(update))
    return to_int8(to_onnx(built))


if __name__ == "__main__":
    main()
