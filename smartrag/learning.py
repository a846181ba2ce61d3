"""New entity types into the store: learn, deploy, read again what was read before.

Learning writes nothing into the graph. A round keeps where it stands after every stage, so a killed
one goes on; when it ends well, the new version is put in use and every paragraph queued for it, in
one transaction. The queue is worked off in batches, by this process or by any later one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from smartrag.errors import LearningRefused, MissingExtra, ModelError
from smartrag.memory import Store
from smartrag.memory.versions import LearnedGraph, LessonLines, UnfinishedRound, Version
from smartrag.merging import merge_names
from smartrag.perception import Encoder, Perception, evoner
from smartrag.perception.encoder import SharedStates
from smartrag.perception.evoner import EvoNERModel
from smartrag.perception.labelled import parse_sentence, to_json
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import Lesson
from smartrag.settings import LearningSettings

if TYPE_CHECKING:
    from smartrag.perception.training.rounds import Held

_BATCH_PARAGRAPHS = 64

MayGoOn = Callable[[str], bool]
"""Asked before each stage, by its name; a round that may not go on can be continued later."""


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """How a round ended: *learned* as a version, or *paused* after `stages` stages."""

    outcome: Literal["learned", "paused"]
    stages: int
    types: tuple[str, ...]
    version: int | None = None
    held: tuple[Held, ...] = ()


def deployed_model(store: Store) -> EvoNERModel:
    """The entity model in use in this store."""
    version = store.versions.deployed()
    return evoner.shipped() if version is None else _model(store, version)


def learn(
    store: Store,
    lesson: Lesson,
    encoder: Encoder,
    settings: LearningSettings,
    *,
    paragraphs: Sequence[int | None] = (),
    may_go_on: MayGoOn = lambda _: True,
    report: Callable[[str], None] = lambda _: None,
) -> RoundOutcome:
    """Learn the new types of a lesson and put the new version in use.

    `paragraphs` are the stored ones in which its sentences stand; without it they stand in none.
    Raises LearningRefused when older types would lose more than the bound, when another round is
    under way, or when the version in use was learned with another release. A refused round is not
    forgotten before another one begins, so it need not be run again to accept its price.
    """
    try:
        from smartrag.perception.training import rounds
        from smartrag.perception.training.checkpoint import weights_sha256
        from smartrag.perception.training.incremental import Round
    except ImportError as error:
        raise MissingExtra("torch", extra="train", stage="learn") from error
    versions = store.versions
    parent, base = versions.deployed(), weights_sha256(evoner.SHIPPED)
    graphs = versions.graphs(parent) if parent else []
    if any(graph.base != base for graph in graphs):
        raise LearningRefused(
            "the types in use were learned with another release of the base model",
            remedy="Roll back with: smartrag types rollback --to 0, and learn them again",
        )
    plan = _plan(lesson, parent, base, settings)
    round_ = Round(rank=settings.adapter_rank, seed=settings.seed)
    unfinished = versions.unfinished()
    if unfinished is not None and unfinished.plan != plan:
        if unfinished.stages < len(round_.stages):  # or it was refused, and nobody waits for it
            raise LearningRefused(
                "another round is under way",
                remedy="Go on with its file and options, or drop it with: smartrag learn --abandon",
            )
        unfinished = None
    known = rounds.Parent(
        deployed_model(store),
        tuple(graph.update for graph in graphs),
        tuple(map(_lesson, versions.lessons(parent))) if parent else (),
    )
    stages = unfinished.stages if unfinished else 0

    def keep(saved: rounds.Saved) -> None:
        nonlocal stages
        stages = saved.stages
        versions.save(UnfinishedRound(plan, saved.stages, saved.update))

    learned = rounds.run(
        *(known, lesson, encoder, round_),
        bound=settings.bound,
        saved=rounds.Saved(stages, unfinished.update) if unfinished else None,
        keep=keep,
        may_go_on=lambda stage: may_go_on(stage.name),
        report=report,
    )
    if learned is None:
        return RoundOutcome("paused", stages, tuple(lesson.new))
    described = {"shared": asdict(learned.model.shared), "caution": learned.model.caution}
    version = versions.deploy(
        parent,
        LearnedGraph(base, learned.model.graph, learned.update, json.dumps(described)),
        learned.model.inventory.to_json(),
        f"learned {', '.join(lesson.new)}",
        _lines(lesson, paragraphs),
    )
    return RoundOutcome("learned", stages, tuple(lesson.new), version, learned.held)


def retype(
    store: Store, perception: Perception, at_most: int | None = None
) -> Iterator[tuple[int, int]]:
    """Read queued paragraphs with the version in use; yields how many are done and how many wait.

    `perception` is to be that of the version in use; batches are written one by one.
    """
    version = store.versions.deployed()
    done = 0
    while at_most is None or done < at_most:
        size = min(_BATCH_PARAGRAPHS, at_most - done) if at_most else _BATCH_PARAGRAPHS
        batch = store.versions.queued(size)
        if not batch or store.versions.deployed() != version:
            return
        seen = perception.observe([(document, paragraph) for _, document, paragraph in batch])
        read = [paragraph for paragraph, _, _ in batch]
        with store.atomic():
            store.versions.retype(version, read, seen)
            merge_names(store, store.documents_of(read))
        done += len(batch)
        yield done, store.versions.n_queued()


# --- the list of types ----------------------------------------------------------------------------
def promote(store: Store, name: str) -> None:
    """A type on trial becomes an active one."""
    _changed(store, lambda types: types.promoted(name), f"promoted {name}")


def merge(store: Store, name: str, into: str) -> None:
    """What was called `name` is called `into`, in the store and from now on."""
    _changed(store, lambda types: types.merged(name, into), f"merged {name} into {into}")


def retire(store: Store, name: str) -> None:
    """A type is not said any more; what it found counts as the broader type above it."""
    _changed(store, lambda types: types.retired(name), f"retired {name}")


def _changed(store: Store, change: Callable[[Inventory], Inventory], what: str) -> None:
    parent = store.versions.deployed()
    before = deployed_model(store).inventory
    after = change(before)
    renamed = {
        before.said_by(t.row): after.said_by(t.row)
        for t in before.types
        if before.said_by(t.row) != after.said_by(t.row)
    }
    store.versions.change(parent, after.to_json(), what, renamed)


# --- between the store's records and perception's -------------------------------------------------
def _model(store: Store, version: Version) -> EvoNERModel:
    inventory = Inventory.from_json(version.inventory)
    if version.graph is None:
        return replace(evoner.shipped(), inventory=inventory)
    learned = store.versions.graphs(version)[-1]
    described = json.loads(learned.description)
    shared = SharedStates(**described["shared"])
    if shared != evoner.shipped().shared:
        raise ModelError(
            "the types in use were learned on another encoder than this release reads with",
            remedy="Roll back with: smartrag types rollback --to 0, and learn them again",
        )
    return EvoNERModel(learned.graph, inventory, shared, described["caution"])


def _plan(lesson: Lesson, parent: Version | None, base: str, settings: LearningSettings) -> str:
    """The sum over all that decides how a round goes on."""
    how = [settings.adapter_rank, settings.seed]
    decisive = [lesson.sha256(), parent.id if parent else 0, base, *how]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()


def _lines(lesson: Lesson, paragraphs: Sequence[int | None]) -> LessonLines:
    places = paragraphs or [None] * len(lesson.sentences)
    return LessonLines(lesson.new, [to_json(s) for s in lesson.sentences], places)


def _lesson(lines: LessonLines) -> Lesson:
    place = Path("a stored lesson")
    sentences = (
        parse_sentence(line.encode(), place, number) for number, line in enumerate(lines.sentences)
    )
    return Lesson(lines.new, tuple(sentences))
