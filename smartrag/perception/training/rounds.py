"""One round of learning from a lesson to a new version of the model, without any storage.

The round goes on from the deployed version: the shipped weights and what earlier rounds changed in
them. What it ends with is built from exactly what will be kept, the parent and the update in
float16, and must hold the older types before anybody may deploy it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from smartrag.errors import LearningRefused
from smartrag.perception.encoder import Encoder
from smartrag.perception.evoner import SHIPPED, EvoNERModel
from smartrag.perception.evoner import EvoNER as Runtime
from smartrag.perception.labelled import Sentence
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import Lesson
from smartrag.perception.training import checkpoint
from smartrag.perception.training.alignment import alignment
from smartrag.perception.training.augment import with_copies
from smartrag.perception.training.data import Example, Guideline, examples, labelled
from smartrag.perception.training.export import to_int8, to_onnx
from smartrag.perception.training.guidelines import guideline
from smartrag.perception.training.incremental import Again, Round, Rows, Stage, activate, learn
from smartrag.perception.training.loop import F1, Report, best_caution, f1
from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.training.update import apply, from_bytes, to_bytes
from smartrag.types import FloatArray

BASE, EARLIER = 600, 60
"""How many sentences of the base types, and of each earlier lesson, an epoch shows again."""
ALIGNED = 500
"""Sentences of the base types on which the span vectors are brought back to their places."""


@dataclass(frozen=True, slots=True)
class Parent:
    """The version that a round starts from.

    `updates` are what the rounds before it changed, the oldest first, and `lessons` what they
    learned from.
    """

    model: EvoNERModel
    updates: tuple[bytes, ...] = ()
    lessons: tuple[Lesson, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """Where an unfinished round stands: after `stages` stages, with that update."""

    stages: int
    update: bytes


@dataclass(frozen=True, slots=True)
class Held:
    """F1 on sentences of one kind before a round and after it."""

    name: str
    before: F1
    after: F1

    @property
    def lost(self) -> float:
        """Typed F1 that the round cost, in points of 100; below 0 it is a gain."""
        return 100 * (self.before.typed - self.after.typed)


@dataclass(frozen=True, slots=True)
class Learned:
    """What a round ends with: the new version, what it changed, and what became of older types."""

    model: EvoNERModel
    update: bytes
    held: tuple[Held, ...]


def run(
    parent: Parent,
    lesson: Lesson,
    encoder: Encoder,
    round_: Round,
    *,
    bound: float,
    saved: Saved | None = None,
    keep: Callable[[Saved], None] = lambda _: None,
    may_go_on: Callable[[Stage], bool] = lambda _: True,
    report: Report = lambda _: None,
) -> Learned | None:
    """Learn a lesson; None when `may_go_on` ended the round before its last stage.

    `keep` gets what stands after each stage, and a round goes on from there when it is given as
    `saved`. Raises LearningRefused when types known before lose more than `bound` points of F1.
    """
    before = parent.model.inventory
    after = before.with_types(lesson.new)
    rows = Rows(before.used, after.used)
    teacher = _weights(parent)
    model = copy.deepcopy(teacher)
    activate(model, _parents(lesson, after, before), before.used)
    if saved is not None:
        apply(model, from_bytes(saved.update))
    texts = _texts(parent, lesson, after, encoder, round_)
    again = _again(parent, after, encoder, round_)
    report(f"{len(texts) + sum(len(known.texts) for known in again)} texts are read")
    done, changed = (saved.stages, saved.update) if saved else (0, b"")
    steps = learn(
        *(model, teacher, texts, rows, round_, again),
        done=done,
        update=from_bytes(changed) if saved else None,
        report=report,
        may_go_on=may_go_on,
    )
    for step in steps:
        done, changed = done + 1, to_bytes(step.update)
        report(f"stage {done} of {len(round_.stages)}, {step.stage.name}: {step.seconds:.0f} s")
        keep(Saved(done, changed))
    if done < len(round_.stages):
        return None
    learned = _version(parent, changed, after, again[0].texts, encoder)
    held = _held(parent, learned, encoder)
    report("; ".join(f"{h.name}: {100 * h.after.typed:.1f} (-{h.lost:.1f})" for h in held))
    if worst := max((h for h in held if h.lost > bound), key=lambda h: h.lost, default=None):
        raise LearningRefused(
            f"{worst.name} would lose {worst.lost:.1f} points of F1, and {bound:.1f} are allowed",
            remedy="Give more sentences, or allow as much with --bound; nothing was changed",
        )
    return Learned(learned, changed, held)


def _weights(parent: Parent) -> EvoNER:
    model = checkpoint.trainable(SHIPPED)
    for update in parent.updates:
        apply(model, from_bytes(update))
    return model


def _version(
    parent: Parent, update: bytes, inventory: Inventory, known: Sequence[Example], encoder: Encoder
) -> EvoNERModel:
    """What an update makes of the parent.

    Its span vectors are mapped back to their places, by texts of what is `known`; and as new types
    share what the old ones had, the odds against "no entity" are chosen again.
    """
    built = _weights(parent)
    apply(built, from_bytes(update))
    aligned = alignment(built, checkpoint.trainable(SHIPPED), known[:ALIGNED])
    graph = to_int8(to_onnx(built, aligned))
    model = replace(parent.model, graph=graph, inventory=inventory)
    caution = best_caution(*_scored(model, checkpoint.check(SHIPPED), encoder))
    return replace(model, caution=caution)


def _parents(lesson: Lesson, after: Inventory, before: Inventory) -> Mapping[int, int]:
    """The row of each new type → the row of the nearest type above it that is known; 0 if none."""
    found = {}
    for name in lesson.new:
        above = (before.named(broader) for broader in after.lineage(name)[1:])
        row = after.named(name)
        assert row is not None
        found[row.row] = next((t.row for t in above if t is not None), 0)
    return found


# --- what is learned from, and what must not be lost ----------------------------------------------
def _texts(
    parent: Parent, lesson: Lesson, inventory: Inventory, encoder: Encoder, round_: Round
) -> list[Example]:
    """The lesson and copies of it."""
    told = guideline(inventory, lesson.marked, lenient=parent.model.inventory.used)
    shown = with_copies(lesson.sentences, round_.copies, round_.seed)
    return _read(shown, told, inventory, encoder)


def _again(parent: Parent, inventory: Inventory, encoder: Encoder, round_: Round) -> list[Again]:
    """Sentences of the base types; of earlier lessons one half, and copies of it."""

    def again(shown: Lesson, copies: int, at_once: int) -> Again:
        told = guideline(inventory, shown.marked)
        sentences = with_copies(shown.sentences, copies, round_.seed)
        return Again(_read(sentences, told, inventory, encoder), at_once)

    earlier = (again(_half(known, 0), round_.copies, EARLIER) for known in parent.lessons)
    return [again(checkpoint.replay(SHIPPED), 0, BASE), *earlier]


def _held(parent: Parent, learned: EvoNERModel, encoder: Encoder) -> tuple[Held, ...]:
    """The base types, and those of earlier lessons, as both versions find them.

    Of an earlier lesson one half of the sentences is shown again, the other half checks.
    """
    checks = {"the base types": checkpoint.check(SHIPPED)}
    for number, earlier in enumerate(parent.lessons, 1):
        checks[f"the types of round {number}"] = _half(earlier, 1)
    found = []
    for name, lesson in checks.items():
        before, after = (_f1(model, lesson, encoder) for model in (parent.model, learned))
        found.append(Held(name, before, after))
    return tuple(found)


def _half(lesson: Lesson, which: int) -> Lesson:
    return replace(lesson, sentences=lesson.sentences[which::2])


def _f1(model: EvoNERModel, lesson: Lesson, encoder: Encoder) -> F1:
    """How the deployed INT8 graph finds the types of a lesson."""
    found, scores, rows = _scored(model, lesson, encoder)
    return f1(found, scores, model.caution, rows)


def _scored(
    model: EvoNERModel, lesson: Lesson, encoder: Encoder
) -> tuple[list[Example], list[FloatArray], frozenset[int]]:
    """The sentences of a lesson, their logits, and the rows of its types."""
    told = guideline(model.inventory, lesson.marked)
    found = _read(lesson.sentences, told, model.inventory, encoder)
    runtime = Runtime(model)
    words = (replace(e.words, states=e.words.states.astype(np.float32)) for e in found)
    rows = frozenset(row for of_type in told.rows_of.values() for row in of_type)
    return found, [runtime.scores(w)[0] for w in words], rows


def _read(
    sentences: Sequence[Sentence], told: Guideline, inventory: Inventory, encoder: Encoder
) -> list[Example]:
    return labelled(examples(sentences, told, encoder, 1), told, inventory.used)
