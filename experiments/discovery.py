"""New types from mentions that fit none: how pure the clusters are, which gold types they are of.

The sentences of a CrossNER domain, which the shipped model has never seen. It finds the mentions
and says which of them it cannot type; these are clustered and named without a language model. With
`--gold-spans` all marked ones are clustered too, thousands a domain. Settings were chosen on AI and
music (`--choose`); the tests of politics and literature are held back.

    python -m experiments.discovery --data ../shared/data/ner
"""

from __future__ import annotations

import argparse
import itertools
import math
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.discovery import Proposal, discover
from smartrag.perception.evoner import EvoNER
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.naming import Pending
from smartrag.perception.training.data import gold_words
from smartrag.perception.words import Words, words_of
from smartrag.settings import DiscoverySettings, PerceptionSettings
from smartrag.types import PendingMention

SPLITS = {
    "ai": ("train", "dev", "test"),
    "music": ("train", "dev", "test"),
    "science": ("train", "dev", "test"),
    "literature": ("train", "dev"),
    "politics": ("train", "dev"),
}
CHOSEN_ON = ("ai", "music")
SAME = {"organisation": "organization"}
KNOWN = frozenset({"person", "organization", "location", "event", "product"})
"""CrossNER's types that the model has from the start."""


@dataclass(frozen=True, slots=True)
class Found:
    """The pending mentions of a domain; `gold` is the type of each, "" where none is marked."""

    pending: tuple[Pending, ...]
    gold: tuple[str, ...]
    new_types: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--choose", action="store_true", help="try settings on AI and music")
    parser.add_argument("--gold-spans", action="store_true", help="cluster marked spans too")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    recogniser = EvoNER(known)
    files: list[DataFile] = []
    rows: list[Row] = []
    for domain in CHOSEN_ON if arguments.choose else SPLITS:
        sentences = list(read_domain(arguments.data, domain, files))
        for spans in ("found", "gold")[: 1 + arguments.gold_spans]:
            found = pending_of(sentences, encoder, recogniser, gold_spans=spans == "gold")
            for settings in tried() if arguments.choose else [DiscoverySettings()]:
                row = {"domain": domain, "spans": spans, **scored(found, settings)}
                if arguments.choose:
                    row |= {"epsilon": settings.epsilon, "merge": settings.merge}
                rows.append(row)
                print(row, flush=True)
    if arguments.choose:
        return
    command = shlex.join(["python", "-m", "experiments.discovery", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
    ]
    print(write(Result.of_this_run("discovery", command, 0, rows, files, used), arguments.results))


def tried() -> Iterator[DiscoverySettings]:
    for epsilon, merge in itertools.product((0.5, 1.0, 2.0, 4.0), (0.9, 0.95, 0.98)):
        yield DiscoverySettings(epsilon=epsilon, merge=merge)


def read_domain(folder: Path, domain: str, files: list[DataFile]) -> Iterator[Sentence]:
    for split in SPLITS[domain]:
        path = folder / f"crossner-{domain}.{split}.jsonl.gz"
        sentences = list(read_sentences(path))
        files.append(DataFile.of(path, len(sentences)))
        yield from sentences


def pending_of(
    sentences: Sequence[Sentence], encoder: Encoder, recogniser: EvoNER, *, gold_spans: bool
) -> Found:
    """What the model cannot type; with `gold_spans`, all marked spans in place of that."""
    pending, gold = [], []
    readings = encoder.read([s.text for s in sentences], [()] * len(sentences))
    types = {SAME.get(e.type, e.type) for s in sentences for e in s.entities} - {"misc"}
    for sentence, reading in zip(sentences, readings, strict=True):
        assert reading.tokens is not None
        places = sentence.spans()
        marked = {(places[e.first][0], places[e.last][1]): e.type for e in sentence.entities}
        if gold_spans:
            found = marked_spans(sentence, words_of(sentence.text, reading.tokens), recogniser)
        else:
            [seen] = recogniser.seen([sentence.text], [reading.tokens])
            found = seen.pending
        for one in found:
            type_ = marked.get((one.start, one.end), "")
            pending.append(Pending(sentence.text[one.start : one.end], sentence.text, one.vector))
            gold.append(SAME.get(type_, type_))
    return Found(tuple(pending), tuple(gold), frozenset(types) - KNOWN)


def marked_spans(
    sentence: Sentence, words: Words, recogniser: EvoNER
) -> tuple[PendingMention, ...]:
    """The marked spans with the vectors that the model gives them."""
    if not len(words):
        return ()
    _, vectors = recogniser.scores(words)
    return tuple(
        PendingMention(*words.characters(first, last), vectors[first, last - first])
        for first, last, _ in gold_words(sentence, words)
        if last - first < vectors.shape[1]
    )


# --- scores ---------------------------------------------------------------------------------------
def scored(found: Found, settings: DiscoverySettings) -> dict[str, str | int | float]:
    """Purity and NMI over members of proposals that are gold entities, and what was proposed."""
    proposals = discover(found.pending, settings)
    labels, types = [], []
    for number, proposal in enumerate(proposals):
        for member in proposal.members:
            if found.gold[member]:
                labels.append(number)
                types.append(found.gold[member])
    proposed = {t for p in proposals if (t := majority(p, found.gold)) in found.new_types}
    return {
        "pending": len(found.pending),
        "precision_gold": sum(map(bool, found.gold)) / max(1, len(found.gold)),
        "clusters": len(proposals),
        "clustered": sum(len(p.members) for p in proposals),
        "purity": purity(labels, types),
        "nmi": nmi(labels, types),
        "gold_types": len(found.new_types),
        "proposed_types": len(proposed),
        "names": "; ".join(f"{p.name} ({majority(p, found.gold) or '-'})" for p in proposals),
    }


def majority(proposal: Proposal, gold: Sequence[str]) -> str:
    """The gold type of at least half of the members that have one; "" if there is none."""
    counts = Counter(gold[member] for member in proposal.members if gold[member])
    for type_, count in counts.most_common(1):
        return type_ if 2 * count >= counts.total() else ""
    return ""


def purity(labels: Sequence[int], types: Sequence[str]) -> float:
    """The share of members that are of the commonest type of their cluster."""
    together = Counter(zip(labels, types, strict=True))
    best = dict.fromkeys(labels, 0)
    for (label, _), count in together.items():
        best[label] = max(best[label], count)
    return sum(best.values()) / max(1, len(labels))


def nmi(labels: Sequence[int], types: Sequence[str]) -> float:
    """Mutual information over the mean of both entropies; 0 where both are certain."""
    n = len(labels)
    mutual = _entropy(labels) + _entropy(types) - _entropy(list(zip(labels, types, strict=True)))
    mean = (_entropy(labels) + _entropy(types)) / 2
    return mutual / mean if n and mean else 0.0


def _entropy(values: Iterable[object]) -> float:
    counts = Counter(values)
    return -sum(c / counts.total() * math.log(c / counts.total()) for c in counts.values())


if __name__ == "__main__":
    main()
