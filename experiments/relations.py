"""The relation classifier on Re-DocRED's test documents, as the runtime runs it.

A triple counts once a document: two entities (clusters of mentions) and a relation that the
classifier knows. With gold mentions the pairs are those of marked mentions; with found ones EvoNER
finds them, and a mention with other borders than a marked one makes its triples wrong. Triples
whose entities never stand in one sentence or in neighbouring ones are out of reach, and count all
the same; `reachable` is the share of the others.

    python -m experiments.relations --data ../shared/data/re
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner, relations
from smartrag.perception.relations import Place, RelationClassifier
from smartrag.perception.training.base import TYPES
from smartrag.perception.training.relation_data import (
    Passage,
    re_docred_documents,
    rows_of,
)
from smartrag.perception.training.relation_examples import (
    SpanReader,
    SpanReading,
    likeliest_type,
    marked_words,
)
from smartrag.settings import PerceptionSettings

PARAGRAPH = 150

Triple = tuple[object, object, str]


@dataclass(frozen=True, slots=True)
class Document:
    """Gold of one document: the cluster of each mention, the triples, and those within reach."""

    clusters: Mapping[int, int]
    triples: frozenset[Triple]
    reachable: frozenset[Triple]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the relation files")
    parser.add_argument("--model", type=Path, default=relations.SHIPPED)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    path = arguments.data / "re-docred-doc.test.jsonl.gz"
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    classifier = RelationClassifier(relations.load(arguments.model), known)
    names = {r.name for r in classifier.model.relations}
    symmetric = {r.name for r in classifier.model.relations if r.symmetric}
    gold = {row["id"]: document(row, names, symmetric) for row in rows_of(path)}
    passages = re_docred_documents(path, PARAGRAPH)
    reader = SpanReader(encoder, known)
    readings = reader.read([p.sentence().text for p in passages])
    rows: list[Row] = []
    for mentions in ("gold", "found"):
        said: dict[str, set[Triple]] = {name: set() for name in gold}
        seconds = 0.0
        for passage, reading in zip(passages, readings, strict=True):
            places, owners = places_of(passage, reading, gold[passage.document], mentions, reader)
            began = time.perf_counter()
            found = classifier.relations(
                reading.words, places, reading.spans, passage.sentence_spans()
            )
            seconds += time.perf_counter() - began
            for one in found:
                triple = (owners[one.head], owners[one.tail], one.name)
                said[passage.document].add(turned(triple, symmetric))
        speed = 1000 * seconds / len(passages)
        rows += scored(said, gold, mentions, sorted(names), speed)
    for row in rows:
        print(row)
    command = shlex.join(["python", "-m", "experiments.relations", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
        ModelFile.of(relations.GRAPH, arguments.model / relations.GRAPH),
    ]
    files = [DataFile.of(path, len(gold))]
    print(write(Result.of_this_run("relations", command, 0, rows, files, used), arguments.results))


# --- gold -----------------------------------------------------------------------------------------
def document(row: Mapping[str, Any], names: set[str], symmetric: set[str]) -> Document:
    clusters = {m: number for number, of in enumerate(row["clusters"]) for m in of}
    starts = row["sentence_starts"]
    sentence = {
        number: {bisect_right(starts, row["entities"][m][0]) - 1 for m in of}
        for number, of in enumerate(row["clusters"])
    }
    triples, near = set(), set()
    for head, tail, name in row["cluster_relations"]:
        if name in names:
            triples.add(turned((head, tail, name), symmetric))
            if any(abs(a - b) <= 1 for a in sentence[head] for b in sentence[tail]):
                near.add(turned((head, tail, name), symmetric))
    return Document(clusters, frozenset(triples), frozenset(near))


def turned(triple: tuple[Any, Any, str], symmetric: set[str]) -> Triple:
    """Both directions of a symmetric relation are one triple."""
    head, tail, name = triple
    if name in symmetric and repr(tail) < repr(head):
        head, tail = tail, head
    return head, tail, name


# --- what the classifier is shown -----------------------------------------------------------------
def places_of(
    passage: Passage, reading: SpanReading, gold: Document, mentions: str, reader: SpanReader
) -> tuple[list[Place], list[object]]:
    """Mentions in the words of a passage, and of each what entity it is of: the number of a
    cluster, or its own words where it is of none."""
    words = reading.words
    known = zip(passage.entities, passage.mentions, marked_words(passage, reading), strict=True)
    marked = {
        (first, last): (entity, gold.clusters[number])
        for entity, number, (first, last) in known
        if 0 <= first <= last < first + reading.labels.shape[1]
    }
    if mentions == "gold":
        places = [
            Place(first, last, TYPES[likeliest_type(entity, reading.labels[first, last - first])])
            for (first, last), (entity, _) in marked.items()
        ]
        return places, [cluster for _, cluster in marked.values()]
    places = [Place(s.first, s.last, TYPES[s.row - 1]) for s in reader.found(reading)]
    text = passage.sentence().text
    owners: list[object] = []
    for place in places:
        start, end = words.characters(place.first, place.last)
        cluster = marked.get((place.first, place.last))
        owners.append(cluster[1] if cluster else text[start:end].casefold())
    return places, owners


# --- scores ---------------------------------------------------------------------------------------
def scored(
    said: Mapping[str, set[Triple]],
    gold: Mapping[str, Document],
    mentions: str,
    names: Sequence[str],
    milliseconds: float,
) -> Iterator[Row]:
    """Micro-averages over all relations, then a row for each."""

    def counted(wanted: Iterable[str]) -> dict[str, float | int]:
        chosen = set(wanted)
        pairs = [
            ({t for t in said[d] if t[2] in chosen}, {t for t in g.triples if t[2] in chosen})
            for d, g in gold.items()
        ]
        right = sum(len(s & g) for s, g in pairs)
        n_said, n = sum(len(s) for s, _ in pairs), sum(len(g) for _, g in pairs)
        near = sum(1 for g in gold.values() for t in g.reachable if t[2] in chosen)
        return {
            "f1": 2 * right / max(1, n_said + n),
            "precision": right / max(1, n_said),
            "recall": right / max(1, n),
            "n": n,
            "reachable": round(near / max(1, n), 3),
        }

    yield {"mentions": mentions, "relation": "all", **counted(names), "paragraph_ms": milliseconds}
    for name in names:
        yield {"mentions": mentions, "relation": name, **counted([name])}


if __name__ == "__main__":
    main()
