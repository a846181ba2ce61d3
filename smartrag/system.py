"""SmartRAG: the rooms connected. Each method calls the steps in order and holds no logic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from smartrag import ingest as ingesting
from smartrag import learning, models
from smartrag.discovering import Discovered, discovered
from smartrag.errors import SettingsError
from smartrag.focus.gather import gather
from smartrag.focus.pack import pack
from smartrag.memory import Store
from smartrag.perception import Encoder, EvoNER, Perceiver, Perception, evoner, relations
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import Lesson
from smartrag.perception.naming import Cluster
from smartrag.perception.relations import RelationClassifier
from smartrag.settings import PerceptionSettings, Settings
from smartrag.thinking import (
    LanguageModel,
    LlamaModel,
    OnText,
    answer,
    answer_prompt,
    label_by_model,
    plan_by_model,
    plan_by_rules,
)
from smartrag.types import (
    Answer,
    Document,
    DocumentInfo,
    DocumentOutcome,
    Evidence,
    Fact,
    ModelCall,
    Passage,
    Plan,
    Question,
    StoreStats,
)

NOT_FOUND = "I could not find that in the documents."

T = TypeVar("T")


class SmartRAG:
    """A store of documents that can be asked.

    >>> with SmartRAG("notes.db") as memory:              # doctest: +SKIP
    ...     memory.add(Document("trip.md", "# Trip\\n\\nWe met Ada in Oslo."))
    ...     print(memory.ask("Where did we meet Ada?").text)

    The encoder and the language model are loaded when they are first needed. `write=False` opens
    an existing store for reading only. A context manager; not safe for several threads at once.
    """

    def __init__(
        self,
        store: str | Path,
        settings: Settings | None = None,
        *,
        lens: str = "default",
        write: bool = True,
        model: LanguageModel | None = None,
        perceiver: Perceiver | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.lens = lens
        self._write = write
        self._given_perceiver = perceiver
        self._given_model = model
        self.store = Store(Path(store), self.settings.memory, write=write)

    def __enter__(self) -> SmartRAG:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and free a language model that was loaded here."""
        self.store.close()
        loaded = self.__dict__.pop("model", None)
        if isinstance(loaded, LlamaModel) and loaded is not self._given_model:
            loaded.close()

    # --- documents --------------------------------------------------------------------------------
    def add(self, documents: Document | Iterable[Document]) -> list[DocumentOutcome]:
        """Write documents; known ones are left alone, changed ones replaced. No language model."""
        several = [documents] if isinstance(documents, Document) else documents
        return list(ingesting.write(several, self.perception, self.store, self.lens))

    def ingest(self, paths: Sequence[Path]) -> Iterator[DocumentOutcome]:
        """Read files and folders and write them; yields each outcome as it is known."""
        sources = ingesting.read_files(paths, self.settings.read)
        return ingesting.write(sources, self.perception, self.store, self.lens)

    def sync(self, folder: Path) -> Iterator[DocumentOutcome]:
        """Make the store hold exactly the files of `folder`: added, edited, moved and removed."""
        return ingesting.sync(folder, self.settings.read, self.perception, self.store, self.lens)

    def forget(self, name: str) -> None:
        """Remove a document and all that only it supported; raises UnknownDocument."""
        self.store.forget(self.lens, name)

    def documents(self) -> list[DocumentInfo]:
        """The documents of the lens, by name."""
        return self.store.listed(self.lens)

    def stats(self) -> StoreStats:
        """Counts over the whole store."""
        return self.store.stats()

    def facts(self, name: str) -> list[Fact]:
        """How the entity of that name is related to others in this lens, most observed first."""
        return self.store.facts(self.lens, name)

    def sketch_recall(self) -> float:
        """Which share of the true 10 nearest paragraphs two-stage search finds in this lens: 0 … 1.

        Large lenses are searched in two stages (`focus.sketch_rows`), and
        `focus.sketch_candidates` trades time for recall.
        """
        return self.store.view(self.lens).sketch_recall(self.settings.focus.sketch_candidates)

    def reembed(self) -> int:
        """Renew all vectors with the encoder of the settings; the number of paragraphs."""
        return ingesting.reembed(self.store, self._new_perception(), self.encoder.identity)

    # --- entity types -----------------------------------------------------------------------------
    def types(self) -> Inventory:
        """The types of entities that are found in this store."""
        return learning.deployed_model(self.store).inventory

    def learn(
        self,
        lesson: Lesson,
        may_go_on: learning.MayGoOn = lambda _: True,
        report: Callable[[str], None] = lambda _: None,
        paragraphs: Sequence[int | None] = (),
    ) -> learning.RoundOutcome:
        """Learn new types and put them in use; raises LearningRefused. `retype` finds them in what
        was read before; sentences of stored `paragraphs` are forgotten with these."""
        outcome = learning.learn(
            *(self.store, lesson, self._entity_encoder, self.settings.learning),
            paragraphs=paragraphs,
            may_go_on=may_go_on,
            report=report,
        )
        self._forget_perception()
        return outcome

    def discover(self, *, ask_model: bool = True) -> Discovered:
        """New types that the mentions without a type speak for, named by the language model, or
        without it by their head words. Nothing is learned yet."""

        def namer(cluster: Cluster) -> str | None:
            mentions = [(mention.surface, mention.context) for mention in cluster.mentions]
            return label_by_model(mentions, self.model)[0]

        chosen = namer if ask_model else None
        return discovered(self.store, self.types(), self.settings.discovery, chosen)

    def retype(self, at_most: int | None = None) -> Iterator[tuple[int, int]]:
        """Find entities anew in paragraphs that another version of the model has read; yields how
        many are done and how many wait."""
        return learning.retype(self.store, self.perception, at_most)

    def promote(self, name: str) -> None:
        """A type on trial becomes an active one; raises ModelError."""
        learning.promote(self.store, name)
        self._forget_perception()

    def merge(self, name: str, into: str) -> None:
        """What was called `name` is called `into` from now on; raises ModelError."""
        learning.merge(self.store, name, into)
        self._forget_perception()

    def retire(self, name: str) -> None:
        """A type that is not said any more; raises ModelError."""
        learning.retire(self.store, name)
        self._forget_perception()

    def roll_back(self, to: int | None) -> None:
        """Put another version of the entity model in use, None for the shipped one; raises
        ModelError."""
        self.store.versions.roll_back(to)
        self._forget_perception()

    # --- questions --------------------------------------------------------------------------------
    def search(self, question: str) -> Evidence:
        """The evidence for a question, ranked; no language model is called."""
        asked = self.perception.ask(question)
        return self._gather(asked, plan_by_rules(asked))

    def ask(self, question: str, on_text: OnText | None = None) -> Answer:
        """Answer a question from the documents, or say that they do not hold the answer.

        `on_text` receives the model's reply piece by piece, as JSON. The model is not asked for an
        answer when the evidence is too weak.
        """
        seconds: dict[str, float] = {}
        asked = _timed(seconds, "read", lambda: self.perception.ask(question))
        plan, calls = _timed(seconds, "plan", lambda: self._plan(asked))
        evidence = _timed(seconds, "focus", lambda: self._gather(asked, plan))
        answered = self.answer(evidence, on_text)
        return replace(
            answered, calls=(*calls, *answered.calls), seconds=seconds | answered.seconds
        )

    def answer(self, evidence: Evidence, on_text: OnText | None = None) -> Answer:
        """Answer from evidence that was gathered before."""
        question = evidence.question
        if not evidence.sufficient:
            return Answer(question, "not_found", NOT_FOUND, (), evidence)
        seconds: dict[str, float] = {}
        _timed(seconds, "load", lambda: self.model)  # apart: only the first question pays for it
        packed = _timed(seconds, "pack", lambda: self._pack(evidence))
        most_tokens = self.settings.thinking.answer_tokens
        answered = _timed(
            seconds, "answer", lambda: answer(question, packed, self.model, most_tokens, on_text)
        )
        text = NOT_FOUND if answered.status == "not_found" else answered.text
        return Answer(
            question, answered.status, text, answered.sentences, evidence, (answered.call,), seconds
        )

    # --- parts, loaded when needed ----------------------------------------------------------------
    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the settings."""
        settings = self.settings.perception
        shared = evoner.shipped().shared if self._given_perceiver is None else None
        return Encoder(models.locate(settings.encoder), settings, shared=shared)

    @cached_property
    def perceiver(self) -> Perceiver:
        """What finds entities: EvoNER, or what was given."""
        if self._given_perceiver is not None:
            return self._given_perceiver
        self.store.versions.reads_with(self.store.versions.deployed())
        settings, classifier = self.settings.perception, None
        if settings.relations:
            classifier = RelationClassifier(relations.shipped(), evoner.shipped().graph)
        deployed = learning.deployed_model(self.store)
        return EvoNER(deployed, relations=classifier, workers=settings.workers)

    @cached_property
    def perception(self) -> Perception:
        """The reading side; the first use compares the encoder with the store's."""
        known = self.encoder.identity
        claim = self.store.claim_encoder if self._write else self.store.require_encoder
        claim(known.name, known.dimension, known.sha256)
        return self._new_perception()

    @cached_property
    def model(self) -> LanguageModel:
        """The language model of the settings, or the one that was given."""
        settings = self.settings.thinking
        return self._given_model or LlamaModel(models.locate(settings.model), settings)

    @cached_property
    def _entity_encoder(self) -> Encoder:
        """The encoder whose states the entity model reads: that of the vectors where it can be."""
        if self.encoder.shares:
            return self.encoder
        own = replace(self.settings.perception, encoder=PerceptionSettings().encoder)
        return Encoder(models.locate(own.encoder), own, shared=evoner.shipped().shared)

    def _new_perception(self) -> Perception:
        apart = isinstance(self.perceiver, EvoNER) and not self.encoder.shares
        reader = self._entity_encoder if apart else None
        return Perception(self.encoder, self.perceiver, self.settings.perception, reader)

    def _forget_perception(self) -> None:
        """Another version of the entity model is in use."""
        for part in ("perceiver", "perception"):
            self.__dict__.pop(part, None)

    def _plan(self, asked: Question) -> tuple[Plan, tuple[ModelCall, ...]]:
        if self.settings.thinking.planner == "rules":
            return plan_by_rules(asked), ()
        plan, call = plan_by_model(asked, self.model)
        return plan, (call,)

    def _gather(self, asked: Question, plan: Plan) -> Evidence:
        view = self.store.view(self.lens)
        return gather(asked, plan, view, self.settings.focus, self.perception.embed)

    def _pack(self, evidence: Evidence) -> tuple[Passage, ...]:
        """The evidence that fits the budget, measured in the model's own tokens."""
        settings = self.settings.thinking
        empty = self.model.count_tokens(answer_prompt(evidence.question, ()))
        room = min(
            settings.evidence_tokens, self.model.context_tokens - settings.answer_tokens - empty
        )
        if room <= 0:
            raise SettingsError(
                f"instructions and question take {empty} tokens and the answer may take "
                f"{settings.answer_tokens}, but the window holds {self.model.context_tokens}",
                remedy="Ask a shorter question or raise thinking.context_tokens",
            )
        packed = pack(
            evidence.passages,
            room,
            lambda passages: (
                self.model.count_tokens(answer_prompt(evidence.question, passages)) - empty
            ),
        )
        if not packed:
            raise SettingsError(
                f"not one sentence of the evidence fits into {room} tokens",
                remedy="Raise thinking.evidence_tokens or thinking.context_tokens",
            )
        return packed


def _timed(seconds: dict[str, float], step: str, work: Callable[[], T]) -> T:
    begun = time.perf_counter()
    done = work()
    seconds[step] = time.perf_counter() - begun
    return done
