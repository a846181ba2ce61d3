"""The relation classifier at work on Re-DocRED's test documents and KnowledgeNet's fold 4.

With *gold* mentions the pairs are those of marked mentions. With *found* ones EvoNER finds them,
and a mention with other borders than a marked one makes its triples wrong; *with references* adds
the pronouns that stand for one of these, as ingest does.

In Re-DocRED a triple counts once a document: two entities (clusters of mentions) and a relation
that the classifier knows. Triples whose entities never stand in one sentence or in neighbouring
ones are out of reach, and count all the same; `reachable` is the share of the others. In
KnowledgeNet a triple is of two marked mentions, pronouns among them, and only what was asked of a
passage counts.

    python -m experiments.relations --data ../shared/data/re
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner, relations
from smartrag.perception.labels import BASE_TYPES
from smartrag.perception.relations import Place, RelationClassifier
from smartrag.perception.training.relation_data import (
    Passage,
    knowledgenet,
    re_docred_documents,
    rows_of,
)
from smartrag.perception.training.relation_examples import (
    SpanReader,
    SpanReading,
    likeliest_type,
    marked_words,
)
from smartrag.perception.triplets import with_references
from smartrag.settings import PerceptionSettings
from smartrag.types import Mention

PARAGRAPH = 150
FOLD = 4
"""Of KnowledgeNet: the one that no training has seen."""

Triple = tuple[object, object, str]

MODES = ("gold", "found", "found, with references")


@dataclass(frozen=True, slots=True)
class Gold:
    """What a document says: the entity of each marked mention, the triples, those within reach,
    those that nobody has judged, and the relations that were looked for (None for all)."""

    entities: Mapping[int, int]
    triples: frozenset[Triple]
    reachable: frozenset[Triple]
    unjudged: frozenset[Triple] = frozenset()
    asked: frozenset[str] | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the relation files")
    parser.add_argument("--model", type=Path, default=relations.SHIPPED)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    classifier = RelationClassifier(relations.load(arguments.model), known.graph)
    names = {r.name for r in classifier.model.relations}
    symmetric = {r.name for r in classifier.model.relations if r.symmetric}
    reader = SpanReader(encoder, known)
    rows: list[Row] = []
    re_docred = arguments.data / "re-docred-doc.test.jsonl.gz"
    of_documents = {r["id"]: document(r, names, symmetric) for r in rows_of(re_docred)}
    passages = re_docred_documents(re_docred, PARAGRAPH)
    rows += measured("Re-DocRED test", passages, of_documents, reader, classifier)
    knowledge_net = arguments.data / "knowledgenet.train.jsonl.gz"
    fold = knowledgenet(knowledge_net, [FOLD])
    of_passages = {p.document: of_passage(p, symmetric) for p in single(fold)}
    rows += measured("KnowledgeNet fold 4", single(fold), of_passages, reader, classifier)
    for row in rows:
        if row["relation"] == "all":
            print(row)
    command = shlex.join(["python", "-m", "experiments.relations", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
        ModelFile.of(relations.GRAPH, arguments.model / relations.GRAPH),
    ]
    files = [DataFile.of(re_docred, len(of_documents)), DataFile.of(knowledge_net, len(fold))]
    print(write(Result.of_this_run("relations", command, 0, rows, files, used), arguments.results))


def measured(
    data: str,
    passages: Sequence[Passage],
    gold: Mapping[str, Gold],
    reader: SpanReader,
    classifier: RelationClassifier,
) -> Iterator[Row]:
    """The rows of one set: for each mode all relations together, then each that it holds."""
    symmetric = {r.name for r in classifier.model.relations if r.symmetric}
    readings = reader.read([p.sentence().text for p in passages])
    for mode in MODES:
        said: dict[str, set[Triple]] = {name: set() for name in gold}
        seconds = 0.0
        for passage, reading in zip(passages, readings, strict=True):
            places, owners = places_of(passage, reading, gold[passage.document], mode, reader)
            began = time.perf_counter()
            found = classifier.relations(
                reading.words, places, reading.spans, passage.sentence_spans()
            )
            seconds += time.perf_counter() - began
            for one in found:
                if owners[one.head] != owners[one.tail]:
                    triple = (owners[one.head], owners[one.tail], one.name)
                    said[passage.document].add(turned(triple, symmetric))
        for row in scored(said, gold):
            yield {
                "data": data,
                "mentions": mode,
                **row,
                "passage_ms": 1000 * seconds / len(readings),
            }


# --- gold -----------------------------------------------------------------------------------------
def document(row: Mapping[str, Any], names: set[str], symmetric: set[str]) -> Gold:
    """Gold of a document of Re-DocRED."""
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
    return Gold(clusters, frozenset(triples), frozenset(near))


def single(passages: Sequence[Passage]) -> list[Passage]:
    """The passages, each a document of its own whose marked mentions are entities of their own."""
    return [replace(p, document=p.id, mentions=tuple(range(len(p.entities)))) for p in passages]


def of_passage(passage: Passage, symmetric: set[str]) -> Gold:
    """Gold of a passage of KnowledgeNet."""
    triples, unjudged = (
        frozenset(turned(fact, symmetric) for fact in facts)
        for facts in (passage.holds, passage.unsure)
    )
    return Gold({m: m for m in passage.mentions}, triples, triples, unjudged, passage.asked)


def turned(triple: tuple[Any, Any, str], symmetric: set[str]) -> Triple:
    """Both directions of a symmetric relation are one triple."""
    head, tail, name = triple
    if name in symmetric and repr(tail) < repr(head):
        head, tail = tail, head
    return head, tail, name


# --- what the classifier is shown -----------------------------------------------------------------
def places_of(
    passage: Passage, reading: SpanReading, gold: Gold, mode: str, reader: SpanReader
) -> tuple[list[Place], list[object]]:
    """Places in the words of a passage, and of each what entity it is of: the number of one, or its
    own name where it is of none."""
    known = zip(passage.entities, passage.mentions, marked_words(passage, reading), strict=True)
    marked = {
        (first, last): (entity, gold.entities[number])
        for entity, number, (first, last) in known
        if 0 <= first <= last < first + reading.labels.shape[1]
    }
    if mode == "gold":
        kinds = (
            likeliest_type(entity, reading.labels[first, last - first])
            for (first, last), (entity, _) in marked.items()
        )
        places = [Place(*ends, BASE_TYPES[k]) for ends, k in zip(marked, kinds, strict=True)]
        return places, [number for _, number in marked.values()]
    text, words = passage.sentence().text, reading.words
    spans = reader.found(reading)
    places = [Place(s.first, s.last, BASE_TYPES[s.row - 1]) for s in spans]
    mentions = []
    for span, place in zip(spans, places, strict=True):
        start, end = words.characters(place.first, place.last)
        mentions.append(Mention(start, end, text[start:end], place.type, span.score))
    names = [m.surface for m in mentions]
    if mode != "found":
        places, names = with_references(text, words, mentions, places)
    of_place = [marked.get((p.first, p.last)) for p in places]
    of_name = {n: m[1] for n, m in zip(names, of_place, strict=True) if m}
    return places, [m[1] if m else of_name.get(n, n) for n, m in zip(names, of_place, strict=True)]


# --- scores ---------------------------------------------------------------------------------------
def scored(said: Mapping[str, set[Triple]], gold: Mapping[str, Gold]) -> Iterator[Row]:
    """Micro-averages over all relations, then a row for each that is there."""
    judged = {
        d: {t for t in said[d] - g.unjudged if g.asked is None or t[2] in g.asked}
        for d, g in gold.items()
    }

    def counted(relation: str | None) -> dict[str, float | int]:
        def chosen(triples: Iterable[Triple]) -> set[Triple]:
            return {t for t in triples if relation in (None, t[2])}

        right = sum(len(chosen(judged[d]) & g.triples) for d, g in gold.items())
        n_said = sum(len(chosen(triples)) for triples in judged.values())
        n, near = (
            sum(len(chosen(triples)) for triples in of_all)
            for of_all in zip(*((g.triples, g.reachable) for g in gold.values()), strict=True)
        )
        return {
            "f1": 2 * right / max(1, n_said + n),
            "precision": right / max(1, n_said),
            "recall": right / max(1, n),
            "n": n,
            "reachable": round(near / max(1, n), 3),
        }

    yield {"relation": "all", **counted(None)}
    for name in sorted({t[2] for g in gold.values() for t in g.triples}):
        yield {"relation": name, **counted(name)}


if __name__ == "__main__":
    main()
