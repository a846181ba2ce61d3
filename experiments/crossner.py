"""New types domain by domain: what each stage of a round learns, and what the older types lose.

CrossNER's five domains in sequence, each from its 100 to 200 training sentences. Scores are on the
test files of AI, music and science and on the development files of politics and literature, whose
tests are held back; `--choose` scores AI, music and science on their development files, which is
where the defaults of a round were chosen. Each setting has a table of its own.

    python -m experiments.crossner --data ../shared/data/ner --seeds 0 1 2
"""

from __future__ import annotations

import argparse
import copy
import random
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.labels import BASE_TYPES, Inventory
from smartrag.perception.training import base
from smartrag.perception.training.augment import with_copies
from smartrag.perception.training.checkpoint import trainable
from smartrag.perception.training.data import Example, Guideline, examples, labelled
from smartrag.perception.training.guidelines import guideline
from smartrag.perception.training.incremental import STAGES, Again, Round, Rows, activate, learn
from smartrag.perception.training.loop import F1, best_caution, f1, predict
from smartrag.perception.training.rounds import BASE, EARLIER
from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.training.update import to_bytes
from smartrag.settings import PerceptionSettings
from smartrag.types import FloatArray

FEW_NERD_TYPES = tuple(name for name in BASE_TYPES if base.ROW[name] not in base.SILENT)
"""The base types that Few-NERD marks."""
DOMAINS = ("ai", "literature", "music", "politics", "science")
SEALED = ("literature", "politics")
REPLAY = base.Recipe().replay
"""Sentences of Few-NERD from which a round shows some again."""
HELD, CHECK = 800, 400
"""Sentences of Few-NERD: of its test part, on which the base types are scored after every stage,
and of its development part, on which the caution is chosen again."""

SAME = {"organisation": "organization"}
"""CrossNER's name for a base type; *person*, *location*, *event* and *product* are called alike."""

PARENTS: Mapping[str, str] = {
    **dict.fromkeys(("researcher", "scientist", "politician", "writer", "musicalartist"), "person"),
    **dict.fromkeys(("politicalparty", "band", "university"), "organization"),
    **dict.fromkeys(("magazine", "academicjournal"), "organization"),
    **dict.fromkeys(("book", "poem", "album", "song"), "art"),
    **dict.fromkeys(("election", "conference"), "event"),
    **dict.fromkeys(("chemicalcompound", "chemicalelement", "protein", "enzyme"), "other"),
    **dict.fromkeys(("astronomicalobject", "award"), "other"),
    "programlang": "product",
    "musicalinstrument": "product",
    "country": "location",
}
"""What a new type is a kind of, where that is a base type."""

DEFAULT = "three stages"
SETTINGS: Mapping[str, Round] = {
    DEFAULT: Round(),
    "no distillation": Round(distil="nothing"),
    "no copies": Round(copies=0),
    "reserved rows held": Round(distil="all rows"),
    "no adapters": Round(
        stages=tuple(replace(s, block_rate=s.block_rate / 10) for s in STAGES), rank=0
    ),
}


@dataclass(frozen=True, slots=True)
class Domain:
    """The sentences of one domain."""

    name: str
    train: tuple[Sentence, ...]
    test: tuple[Example, ...]

    def types(self) -> list[str]:
        """The types that its training file marks, in the order of the alphabet.

        What CrossNER calls *misc*, things of no type of the domain, is no type.
        """
        marked = {entity.type for sentence in self.train for entity in sentence.entities}
        return sorted(marked - {"misc"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=list(DOMAINS))
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--base", type=Path, default=evoner.SHIPPED)
    parser.add_argument("--replay", type=int, default=REPLAY, help="sentences shown by turns")
    parser.add_argument("--choose", action="store_true", help="score on development files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    files: list[DataFile] = []
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.load(arguments.base)
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    domains = [
        domain_of(name, arguments.data, arguments.choose, encoder, files)
        for name in arguments.domains
    ]
    few_nerd = base.corpus(arguments.data, base.Recipe(partly=0))
    check = read(named(few_nerd.dev[:CHECK]), encoder)
    unseen = few_nerd.dev[CHECK:] if arguments.choose else few_nerd.test
    held = read(named(unseen[:HELD]), encoder)
    command = shlex.join(["python", "-m", "experiments.crossner", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, arguments.base / evoner.GRAPH),
    ]
    for setting in arguments.settings:
        name = ".".join(["crossner", *setting.split()] if setting != DEFAULT else ["crossner"])
        name += ".choosing" if arguments.choose else ""
        rows: list[Row] = []
        for seed in arguments.seeds:
            replay = read(
                named(random.Random(seed).sample(few_nerd.few_nerd, arguments.replay)), encoder
            )
            learner = Learner(
                *(trainable(arguments.base), known.inventory, known.caution, encoder),
                *(replay, check, held),
            )
            for domain in domains:
                for row in learner.learn(domain, replace(SETTINGS[setting], seed=seed)):
                    rows.append({"seed": seed, "domain": domain.name, **row})
                    print(setting, rows[-1], flush=True)
            # After every seed: a run takes hours, and what it has is worth keeping.
            result = Result.of_this_run(name, command, arguments.seeds[0], rows, files, used)
            print(write(result, arguments.results))


def domain_of(
    name: str, folder: Path, choose: bool, encoder: Encoder, files: list[DataFile]
) -> Domain:
    """A domain's sentences; the files are added to `files`."""
    split = "dev" if choose or name in SEALED else "test"
    parts = []
    for part in ("train", split):
        path = folder / f"crossner-{name}.{part}.jsonl.gz"
        parts.append(named(list(read_sentences(path))))
        files.append(DataFile.of(path, len(parts[-1])))
    train, test = parts
    return Domain(name, train, read(test, encoder))


def base_name(type_: str) -> str:
    """What the inventory calls a base type: Few-NERD's "person-actor" is a person."""
    coarse = type_.partition("-")[0]
    return SAME.get(coarse, coarse)


def named(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The sentences with the inventory's names of the base types."""
    return tuple(
        replace(s, entities=tuple(replace(e, type=base_name(e.type)) for e in s.entities))
        for s in sentences
    )


def read(sentences: Sequence[Sentence], encoder: Encoder) -> tuple[Example, ...]:
    """The sentences as the encoder reads them; which rows their types stand for is said later."""
    return tuple(examples(sentences, Guideline({}), encoder, 1))


class Learner:
    """One model that learns domain after domain."""

    def __init__(
        self,
        model: EvoNER,
        inventory: Inventory,
        caution: float,
        encoder: Encoder,
        replay: Sequence[Example],
        check: Sequence[Example],
        held: Sequence[Example],
        parents: Mapping[str, str] = PARENTS,
    ) -> None:
        self.parents = parents
        self.model, self.inventory, self.caution = model, inventory, caution
        self.encoder, self.replay = encoder, replay
        self.check, self.held = check, held
        self.before = self._base_f1()
        self.seen: list[tuple[Domain, tuple[Example, ...]]] = []
        """The domains that were learned, and what is shown again of them."""

    def learn(self, domain: Domain, round_: Round) -> Iterator[Row]:
        """Learn one domain; scores it, and the base types, after each stage."""
        deployed, teacher = self.inventory.used, copy.deepcopy(self.model)
        missing = (t for t in domain.types() if not self.inventory.named(t))
        added = {t: self.parents.get(t, "") for t in missing}
        self.inventory = self.inventory.with_types(added)
        parents = {self._row(t): self._row(p) if p else 0 for t, p in added.items()}
        activate(self.model, parents, deployed)
        used = self.inventory.used
        shown = read(with_copies(domain.train, round_.copies, round_.seed), self.encoder)
        texts = self._labelled(shown, domain.types(), lenient=deployed)
        again = [Again(self._labelled(self.replay, FEW_NERD_TYPES), BASE)]
        for earlier, told in self.seen:
            again.append(Again(self._labelled(told, earlier.types()), EARLIER))
        seconds = 0.0
        for step in learn(self.model, teacher, texts, Rows(deployed, used), round_, again):
            self.caution = best_caution(*self._base(self.check))
            every, fresh = self._domain_f1(domain, added)
            base_types = self._base_f1()
            seconds += step.seconds
            yield {
                "stage": step.stage.name,
                "seconds": seconds,
                "new_types": len(added),
                "f1": every.typed,
                "span_f1": every.spans,
                "f1_new_types": fresh.typed,
                "base_f1": base_types.typed,
                "base_f1_lost": self.before.typed - base_types.typed,
                "earlier_f1": self._earlier_f1(),
                "caution": self.caution,
                "update_mb": len(to_bytes(step.update)) / 1e6,
            }
        self.seen.append((domain, shown))

    def _earlier_f1(self) -> float | None:
        """The mean over the domains that were learned before."""
        scores = [self._domain_f1(d)[0].typed for d, _ in self.seen]
        return sum(scores) / len(scores) if scores else None

    def _row(self, name: str) -> int:
        found = self.inventory.named(name)
        assert found is not None
        return found.row

    def _labelled(
        self, found: Sequence[Example], marked: Sequence[str], lenient: int = 0
    ) -> list[Example]:
        told = guideline(self.inventory, marked, lenient)
        return labelled(found, told, self.inventory.used)

    def _base_f1(self) -> F1:
        found, scored, rows = self._base(self.held)
        return f1(found, scored, self.caution, rows)

    def _base(
        self, read: Sequence[Example]
    ) -> tuple[list[Example], list[FloatArray], frozenset[int]]:
        """Sentences, their logits and the rows of Few-NERD's types; a finer type counts as the base
        type above it."""
        told = guideline(self.inventory, FEW_NERD_TYPES)
        found = labelled(read, told, self.inventory.used)
        rows = frozenset(row for of_type in told.rows_of.values() for row in of_type)
        return found, predict(self.model, found, self.inventory.used), rows

    def _domain_f1(self, domain: Domain, new: Iterable[str] = ()) -> tuple[F1, F1]:
        """Over all types of the domain, and over the new ones among them."""
        told = guideline(self.inventory, domain.types())
        found = labelled(domain.test, told, self.inventory.used)
        scored = predict(self.model, found, self.inventory.used)

        def over(types: Iterable[str]) -> F1:
            rows = frozenset(row for name in types for row in told.rows_of[name])
            return f1(found, scored, self.caution, rows)

        return over(domain.types()), over(new)


if __name__ == "__main__":
    main()
