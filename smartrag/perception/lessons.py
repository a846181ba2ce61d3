"""What a round of learning is given: new types, and sentences in which they are labelled.

A lesson is a file of labelled sentences. In every sentence everything of a type that the lesson
labels is labelled; of other types nothing is known. Its new types are those that the model does not
know; a line `{"type": "band", "parent": "organization"}` says what one is a kind of.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from smartrag.errors import ReadError
from smartrag.perception.labelled import (
    Sentence,
    lines_of,
    parse_sentence,
    problem_of_type,
    to_json,
)
from smartrag.perception.labels import Inventory

FEWEST = 10
"""Mentions of a new type that a lesson must hold: with five, a type is a guess."""

_DECLARATION = frozenset({"type", "parent"})


@dataclass(frozen=True, slots=True)
class Lesson:
    """Sentences, the types that are labelled in them, and which of these are new.

    `new` maps each new type to the broader one above it ("" for none).
    """

    new: Mapping[str, str]
    sentences: tuple[Sentence, ...]

    @property
    def marked(self) -> tuple[str, ...]:
        """All types that are labelled, in the order of the alphabet."""
        found = {e.type for s in self.sentences for e in s.entities}
        return tuple(sorted(found | set(self.new)))

    def sha256(self) -> str:
        """The sum over types and sentences: equal lessons are one lesson."""
        nameless = (replace(sentence, id="") for sentence in self.sentences)
        lines = [json.dumps(sorted(self.new.items())), *map(to_json, nameless)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_lesson(path: Path, known: Inventory) -> Lesson:
    """The lesson in a file, for a model of `known` types; raises ReadError saying what is wrong."""
    declared: dict[str, str] = {}
    sentences = []
    for number, line in lines_of(path):
        name = _declaration(line, path, number)
        if name is None:
            sentences.append(parse_sentence(line, path, number))
            continue
        if name[0] in declared:
            _wrong(path, f"line {number}: the type {name[0]!r} is declared twice")
        declared[name[0]] = name[1]
    return checked(Lesson(_new_types(declared, sentences, known), tuple(sentences)), known, path)


def checked(lesson: Lesson, known: Inventory, path: Path) -> Lesson:
    """The lesson itself if something can be learned from it; raises ReadError if not."""
    if not lesson.sentences:
        _wrong(path, "the file holds no sentences")
    if not lesson.new:
        _wrong(path, "all types in the file are known already")
    counts = Counter(e.type for s in lesson.sentences for e in s.entities)
    for name, parent in lesson.new.items():
        if counts[name] < FEWEST:
            _wrong(path, f"the type {name!r} has {counts[name]} mentions and needs {FEWEST}")
        if parent and parent not in lesson.new and known.named(parent) is None:
            _wrong(path, f"the type {name!r} is to be a kind of {parent!r}, which is unknown")
        if name in _line(parent, lesson.new):
            _wrong(path, f"the type {name!r} is a kind of itself")
    return lesson


def _declaration(line: bytes, path: Path, number: int) -> tuple[str, str] | None:
    """The type and the parent that a line declares; None if it is a line of another kind."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or "type" not in row:
        return None
    if unknown := sorted(set(row) - _DECLARATION):
        _wrong(path, f"line {number}: has the unknown key {unknown[0]!r}")
    name, parent = row["type"], row.get("parent", "")
    if not isinstance(name, str) or not isinstance(parent, str):
        _wrong(path, f"line {number}: 'type' and 'parent' must be strings")
    if problem := problem_of_type(name):
        _wrong(path, f"line {number}: the type {name!r} {problem}")
    return name, parent


def _new_types(
    declared: Mapping[str, str], sentences: Sequence[Sentence], known: Inventory
) -> dict[str, str]:
    """Declared or not: types that the model does not know, in the order of the alphabet."""
    found = {e.type for s in sentences for e in s.entities} | set(declared)
    return {name: declared.get(name, "") for name in sorted(found) if known.named(name) is None}


def _line(name: str, parents: Mapping[str, str]) -> list[str]:
    """The new types from `name` upwards."""
    line: list[str] = []
    while name in parents and name not in line:
        line.append(name)
        name = parents[name]
    return line


def _wrong(path: Path, problem: str) -> NoReturn:
    raise ReadError(
        problem,
        subject=str(path),
        remedy='A sentence reads {"tokens": ["Abba", "sang"], "entities": [[0, 0, "band"]]}, '
        'and a type {"type": "band", "parent": "organization"}',
    )
