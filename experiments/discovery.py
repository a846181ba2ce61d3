"""New types from mentions that fit none: how pure the clusters are, which gold types they are of.

The sentences of a CrossNER domain, which the shipped model has never seen. It finds the mentions
and says which of them it cannot type; these are clustered and named without a language model
("found"). What clustering would make of perfect mentions stands beside it: all marked ones
("marked"), and those of types that the model does not have ("marked new").

Settings were chosen on AI and music (`--choose`), whose rows therefore flatter; the tests of
politics and literature are held back.

    python -m experiments.discovery --data ../shared/data/ner
"""

from __future__ import annotations

import argparse
import itertools
import math
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.discovery import Proposal, discover, unit_rows
from smartrag.perception.evoner import EvoNER
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.naming import Pending
from smartrag.perception.training.data import gold_words
from smartrag.perception.words import Words, words_of
from smartrag.settings import DiscoverySettings, PerceptionSettings
from smartrag.types import FloatArray, PendingMention

SPLITS = {
    "ai": ("train", "dev", "test"),
    "music": ("train", "dev", "test"),
    "science": ("train", "dev", "test"),
    "literature": ("train", "dev"),
    "politics": ("train", "dev"),
}
CHOSEN_ON = ("ai", "music")
SAME = {"organisation": "organization"}
KNOWN = frozenset({"person", "organization", "location", "event", "product", "misc"})
"""CrossNER's types that the model has from the start; *misc*, of no type, is none to be found."""


@dataclass(frozen=True, slots=True)
class Found:
    """The n mentions of a domain that are clustered; `gold` is the type of each, "" where none is
    marked. `new_types` are those the model does not have, with all their marked mentions.
    """

    pending: tuple[Pending, ...]
    sentences: FloatArray  # (n, d), of the sentence around each
    gold: tuple[str, ...]
    new_types: Counter[str]

    def joined(self, weight: float) -> tuple[Pending, ...]:
        """The mentions with [z ; weight · sentence] for vectors, both parts of unit length."""
        if not weight:
            return self.pending
        spans = unit_rows(np.stack([mention.vector for mention in self.pending]))
        both = np.hstack([spans, weight * self.sentences])
        return tuple(replace(m, vector=v) for m, v in zip(self.pending, both, strict=True))

    def only_new(self) -> Found:
        """Without mentions of types that the model has."""
        kept = [row for row, type_ in enumerate(self.gold) if type_ in self.new_types]
        return Found(
            tuple(self.pending[row] for row in kept),
            self.sentences[kept],
            tuple(self.gold[row] for row in kept),
            self.new_types,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--choose", action="store_true", help="try settings on AI and music")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.shipped()
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    recogniser = EvoNER(known)
    files: list[DataFile] = []
    domains = {
        name: list(read_domain(arguments.data, name, files))
        for name in (CHOSEN_ON if arguments.choose else SPLITS)
    }
    rows = list((chosen if arguments.choose else reported)(domains, encoder, recogniser))
    name = "discovery.choosing" if arguments.choose else "discovery"
    command = shlex.join(["python", "-m", "experiments.discovery", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
    ]
    print(write(Result.of_this_run(name, command, 0, rows, files, used), arguments.results))


def reported(
    domains: Mapping[str, Sequence[Sentence]], encoder: Encoder, recogniser: EvoNER
) -> Iterator[Row]:
    """Every domain with the default settings."""
    for domain, sentences in domains.items():
        marked = mentions_of(sentences, encoder, recogniser, gold_spans=True)
        kinds = {
            "found": mentions_of(sentences, encoder, recogniser, gold_spans=False),
            "marked": marked,
            "marked new": marked.only_new(),
        }
        for spans, found in kinds.items():
            proposals = discover(found.pending, DiscoverySettings())
            row: dict[str, str | int | float] = {
                "domain": domain,
                "chosen_on": domain in CHOSEN_ON,
                "spans": spans,
                **scored(found, proposals),
            }
            if spans == "found":
                row["names"] = names(found, proposals)
            print(row, flush=True)
            yield row


def chosen(
    domains: Mapping[str, Sequence[Sentence]], encoder: Encoder, recogniser: EvoNER
) -> Iterator[Row]:
    """The domains together under each setting: counts are summed, shares are means."""
    found = [
        mentions_of(sentences, encoder, recogniser, gold_spans=False)
        for sentences in domains.values()
    ]
    for weight, settings in tried():
        scores = [scored(f, discover(f.joined(weight), settings)) for f in found]
        row: dict[str, str | int | float] = {"sentence_weight": weight, **asdict(settings)}
        for key in scores[0]:
            total = sum(score[key] for score in scores)
            row[key] = total if isinstance(total, int) else total / len(scores)
        print(row, flush=True)
        yield row


def tried() -> Iterator[tuple[float, DiscoverySettings]]:
    """The weight of the sentence's vector against epsilon; then one other setting at a time."""
    default = DiscoverySettings()
    for weight, epsilon in itertools.product((0, 0.25, 0.5, 1.0), (0.25, 0.5, 1.0, 2.0)):
        yield weight, replace(default, epsilon=epsilon)
    for smallest in (4, 10):
        yield 0, replace(default, smallest=smallest)
    for floor in (0.7, 0.8, 0.9):
        yield 0, replace(default, floor=floor)
    for merge in (0.9, 0.98, 1.0):
        yield 0, replace(default, merge=merge)


def read_domain(folder: Path, domain: str, files: list[DataFile]) -> Iterator[Sentence]:
    for split in SPLITS[domain]:
        path = folder / f"crossner-{domain}.{split}.jsonl.gz"
        sentences = list(read_sentences(path))
        files.append(DataFile.of(path, len(sentences)))
        yield from sentences


def mentions_of(
    sentences: Sequence[Sentence], encoder: Encoder, recogniser: EvoNER, *, gold_spans: bool
) -> Found:
    """What the model cannot type; with `gold_spans`, all marked spans in place of that."""
    pending, around, gold = [], [], []
    readings = encoder.read([s.text for s in sentences], [()] * len(sentences))
    types = Counter(SAME.get(e.type, e.type) for s in sentences for e in s.entities)
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
            around.append(reading.vector)
            gold.append(SAME.get(type_, type_))
    new = Counter({type_: count for type_, count in types.items() if type_ not in KNOWN})
    return Found(tuple(pending), np.stack(around), tuple(gold), new)


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
def scored(found: Found, proposals: Sequence[Proposal]) -> dict[str, int | float]:
    """How the members of proposals fit the gold types.

    Purity and NMI are over members that are gold entities, and `purity_of_one` is what a single
    cluster of all of them would have. A type is proposed if it is that of half of these members of
    a proposal, and `proposed_strictly` if it is that of half of all its members. A lesson made of
    the proposals labels every member; right are those of the commonest new type of theirs.
    """
    clustered = [(n, m) for n, proposal in enumerate(proposals) for m in proposal.members]
    labels = [number for number, member in clustered if found.gold[member]]
    types = [found.gold[member] for _, member in clustered if found.gold[member]]
    best = [commonest(proposal, found.gold) for proposal in proposals]
    new = [
        (type_, n, p)
        for (type_, n), p in zip(best, proposals, strict=True)
        if type_ in found.new_types
    ]
    marked = [sum(bool(found.gold[m]) for m in p.members) for _, _, p in new]
    pending_new = sum(type_ in found.new_types for type_ in found.gold)
    right = sum(count for _, count, _ in new)
    return {
        "pending": len(found.pending),
        "precision_gold": sum(map(bool, found.gold)) / max(1, len(found.gold)),
        "recall_new": pending_new / max(1, found.new_types.total()),
        "clusters": len(proposals),
        "clustered": len(clustered),
        "purity": purity(labels, types),
        "purity_of_one": purity([0] * len(types), types),
        "nmi": nmi(labels, types),
        "precision_lesson": right / max(1, len(clustered)),
        "recall_lesson": right / max(1, pending_new),
        "f1_lesson": 2 * right / max(1, len(clustered) + pending_new),
        "gold_types": len(found.new_types),
        "proposed_types": len(
            {t for (t, n, _), of in zip(new, marked, strict=True) if 2 * n >= of}
        ),
        "proposed_strictly": len({t for t, n, p in new if 2 * n >= len(p.members)}),
    }


def names(found: Found, proposals: Iterable[Proposal]) -> str:
    """What proposals are called, each with the commonest gold type of its members and its share."""
    told = []
    for proposal in proposals:
        type_, count = commonest(proposal, found.gold)
        told.append(f"{proposal.name} ({type_} {count}/{len(proposal.members)})")
    return "; ".join(told)


def commonest(proposal: Proposal, gold: Sequence[str]) -> tuple[str, int]:
    """The gold type of most members and how many they are; ("", 0) where none has one."""
    counts = Counter(gold[member] for member in proposal.members if gold[member])
    return next(iter(counts.most_common(1)), ("", 0))


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
