"""New types domain by domain: what each round learns, and what the older types lose.

CrossNER's five domains in sequence, each from its 100 to 200 training sentences. Scores are on the
test files of AI, music and science and on the development files of politics and literature, whose
tests are held back; `--choose` scores AI, music and science on their development files, which is
where the defaults of a round were chosen.

    python -m experiments.crossner --data ../shared/data/ner --seeds 0 1 2
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from smartrag import models
from smartrag.evaluation.datasets import DataFile
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, evoner
from smartrag.perception.labelled import Sentence, read_sentences
from smartrag.perception.labels import Inventory
from smartrag.perception.training import base
from smartrag.perception.training.checkpoint import trainable
from smartrag.perception.training.data import Example, Guideline, examples
from smartrag.perception.training.incremental import STAGES, Round, activate, learn
from smartrag.perception.training.loop import F1, f1, predict
from smartrag.perception.training.span_model import EvoNER
from smartrag.settings import PerceptionSettings

DOMAINS = ("ai", "literature", "music", "politics", "science")
SEALED = ("literature", "politics")
REPLAY = 300
SAME = {"organisation": "organization"}
"""CrossNER's name for a base type; *person*, *location*, *event* and *product* are called alike."""

PARENTS: Mapping[str, str] = {
    **dict.fromkeys(("researcher", "scientist", "politician", "writer", "musicalartist"), "person"),
    **dict.fromkeys(("politicalparty", "band", "university"), "organization"),
    **dict.fromkeys(("book", "poem", "album", "song"), "art"),
    **dict.fromkeys(("election", "conference"), "event"),
    **dict.fromkeys(("chemicalcompound", "chemicalelement", "protein", "enzyme"), "other"),
    **dict.fromkeys(("astronomicalobject", "award"), "other"),
    "programlang": "product",
    "musicalinstrument": "product",
    "country": "location",
}
"""What a new type is a kind of, where that is a base type."""

SETTINGS: Mapping[str, Round] = {
    "three stages": Round(),
    "one stage": Round(stages=STAGES[:1]),
    "two stages": Round(stages=STAGES[:2]),
    "no distillation": Round(distil="nothing"),
    "reserved rows held": Round(distil="all rows"),
}


@dataclass(frozen=True, slots=True)
class Domain:
    """The sentences of one domain."""

    name: str
    train: tuple[Sentence, ...]
    test: tuple[Sentence, ...]

    def types(self) -> list[str]:
        """The types that its training file marks, in the order of the alphabet."""
        return sorted({SAME.get(e.type, e.type) for s in self.train for e in s.entities})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the NER files")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=list(DOMAINS))
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--base", type=Path, default=evoner.SHIPPED)
    parser.add_argument("--choose", action="store_true", help="score on development files")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    files: list[DataFile] = []
    domains = [
        domain_of(name, arguments.data, arguments.choose, files) for name in arguments.domains
    ]
    encoder_path = models.locate(PerceptionSettings().encoder)
    known = evoner.load(arguments.base)
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    few_nerd = base.corpus(arguments.data, base.Recipe(partly=0))
    rows: list[Row] = []
    for seed in arguments.seeds:
        replay = random.Random(seed).sample(few_nerd.few_nerd, REPLAY)
        held = few_nerd.dev if arguments.choose else few_nerd.test
        for setting in arguments.settings:
            sequence = Learner(
                trainable(arguments.base), known.inventory, known.caution, encoder, replay, held
            )
            for domain in domains:
                row = sequence.learn(domain, replace(SETTINGS[setting], seed=seed))
                rows.append({"setting": setting, "domain": domain.name, "seed": seed, **row})
                print(rows[-1], flush=True)
    command = shlex.join(["python", "-m", "experiments.crossner", *sys.argv[1:]])
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile.of(evoner.GRAPH, arguments.base / evoner.GRAPH),
    ]
    name = "crossner.choosing" if arguments.choose else "crossner"
    print(
        write(
            Result.of_this_run(name, command, arguments.seeds[0], rows, files, used),
            arguments.results,
        )
    )


def domain_of(name: str, folder: Path, choose: bool, files: list[DataFile]) -> Domain:
    """A domain's sentences; the files are added to `files`."""
    split = "dev" if choose or name in SEALED else "test"
    read = []
    for part in ("train", split):
        path = folder / f"crossner-{name}.{part}.jsonl.gz"
        read.append(tuple(read_sentences(path)))
        files.append(DataFile.of(path, len(read[-1])))
    return Domain(name, *read)


class Learner:
    """One model that learns domain after domain."""

    def __init__(
        self,
        model: EvoNER,
        inventory: Inventory,
        caution: float,
        encoder: Encoder,
        replay: Sequence[Sentence],
        held: Sequence[Sentence],
    ) -> None:
        self.model, self.inventory, self.caution = model, inventory, caution
        self.encoder = encoder
        self.replay, self.held = replay, held
        self.before = self._base_f1()
        self.seen: list[Domain] = []

    def learn(self, domain: Domain, round_: Round) -> dict[str, str | int | float | bool | None]:
        """Learn one domain and score all that was learned so far."""
        deployed = self.inventory.used
        added = {t: PARENTS.get(t, "") for t in domain.types() if not self.inventory.named(t)}
        self.inventory = self.inventory.with_types(added)
        activate(
            self.model,
            {self._row(t): self._row(p) if p else 0 for t, p in added.items()},
            deployed,
        )
        used = self.inventory.used
        texts = self._examples(domain.train, domain)
        # Sentences of earlier rounds are replayed too: a few for each.
        older = [e for d in self.seen for e in self._examples(d.train[:60], d)]
        base_texts = examples(self.replay, self._base_guideline(), self.encoder, used)
        row: dict[str, str | int | float | bool | None] = {"n_types": len(added)}
        stages = learn(self.model, texts, [*base_texts, *older], used, deployed, round_)
        for stage, seconds in stages:
            row[f"{stage.name.replace(' ', '_')}_s"] = seconds
        self.seen.append(domain)
        every, named, fresh = self._domain_f1(domain, set(added))
        row["f1_new"] = named.typed
        row["f1_new_with_misc"] = every.typed
        row["f1_new_spans"] = named.spans
        row["f1_new_rows_only"] = fresh.typed
        after = self._base_f1()
        row["f1_base"], row["f1_base_spans"] = after.typed, after.spans
        row["f1_base_before"] = self.before.typed
        others = [self._domain_f1(d, set())[1].typed for d in self.seen[:-1]]
        row["f1_earlier_domains"] = sum(others) / len(others) if others else None
        return row

    def _row(self, name: str) -> int:
        found = self.inventory.named(name)
        assert found is not None
        return found.row

    def _examples(self, sentences: Sequence[Sentence], domain: Domain) -> list[Example]:
        """A domain marks its own types and no others: those stay open."""
        own = {t: (self._row(SAME.get(t, t)),) for t in {*domain.types(), *SAME}}
        marked = {r for rows in own.values() for r in rows}
        unmarked = tuple(r for r in range(1, self.inventory.used) if r not in marked)
        return examples(sentences, Guideline(own, unmarked), self.encoder, self.inventory.used)

    def _base_guideline(self) -> Guideline:
        """A finer type counts as the base type above it."""
        below = {
            name: tuple(
                t.row for t in self.inventory.types if name in self.inventory.lineage(t.name)
            )
            for name in base.TYPES
        }
        names = {e.type for s in (*self.replay, *self.held) for e in s.entities}
        free = [t.row for t in self.inventory.types if len(self.inventory.lineage(t.name)) == 1]
        unmarked = [r for r in free if r > len(base.TYPES) or r in base.SILENT]
        return Guideline({n: below[n.partition("-")[0]] for n in names}, tuple(unmarked))

    def _base_f1(self) -> F1:
        guideline = self._base_guideline()
        found = examples(self.held, guideline, self.encoder, self.inventory.used)
        rows = frozenset(r for rows in guideline.rows_of.values() for r in rows)
        scored = predict(self.model, found, self.inventory.used)
        return f1(found, scored, self.caution, rows)

    def _domain_f1(self, domain: Domain, new: Iterable[str]) -> tuple[F1, F1, F1]:
        """Over all types of the domain, over all but *misc*, and over the new ones."""
        found = self._examples(domain.test, domain)
        scored = predict(self.model, found, self.inventory.used)
        every = {self._row(t) for t in domain.types()}
        misc = {self._row("misc")} if self.inventory.named("misc") else set()
        wanted = (every, every - misc, {self._row(t) for t in new} - misc)
        a, b, c = (f1(found, scored, self.caution, frozenset(rows)) for rows in wanted)
        return a, b, c


if __name__ == "__main__":
    main()
