"""Labelled sentences: the files that EvoNER learns from and is measured on.

JSON Lines, plain or gzip; one sentence a line: `{"tokens": [...], "entities": [[first, last,
"type"], ...]}`, both ends inclusive. Other keys of the shared data sets (`id`, `domain`, …) are
kept out of the way; a key that nobody knows is refused, since it may be a misspelt one.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from smartrag.errors import ReadError

_KNOWN = frozenset("id dataset domain split tokens entities tasks relations flags evidence".split())
_QUOTES = {"``": '"', "''": '"'}
_LONGEST_TYPE = 60
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Entity:
    """Tokens `first` to `last` (inclusive) name a thing of a type."""

    first: int
    last: int
    type: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A labelled sentence, its entities in order."""

    id: str
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...]

    @property
    def text(self) -> str:
        """The tokens with one space between them: the encoder reads no more out of spacing."""
        return " ".join(self.tokens)

    def spans(self) -> list[tuple[int, int]]:
        """The characters of each token in `text`."""
        found, start = [], 0
        for token in self.tokens:
            found.append((start, start + len(token)))
            start += len(token) + 1
        return found


def read_sentences(path: Path, *, nested: bool = False) -> Iterator[Sentence]:
    """The sentences of a file in order; raises ReadError naming the line and what is wrong.

    Overlapping entities are wrong unless `nested`: some published sets hold a few.
    """
    for number, line in lines_of(path):
        yield parse_sentence(line, path, number, nested)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold something, numbered from 1; raises ReadError."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError) as error:
        raise ReadError(
            f"the file cannot be read ({error})", subject=str(path), remedy="Check the path"
        ) from error


def write_sentences(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write a compressed file that `read_sentences` reads; equal sentences make equal bytes."""
    lines = "".join(f"{to_json(sentence)}\n" for sentence in sentences)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def to_json(sentence: Sentence) -> str:
    """The sentence as a line of a file, without its end."""
    entities = [[e.first, e.last, e.type] for e in sentence.entities]
    row = {"id": sentence.id, "tokens": sentence.tokens, "entities": entities}
    return json.dumps(row, ensure_ascii=False)


def sentence_of(text: str, labels: Iterable[tuple[int, int, str]], name: str = "") -> Sentence:
    """A sentence of running text, with labels given as characters from, to, and type.

    Tokens are words and marks; a label that ends within a word covers all of it, and of labels
    that overlap the first stays.
    """
    spans = [found.span() for found in _TOKEN.finditer(text)]
    entities: list[Entity] = []
    for start, end, type_ in sorted(labels):
        covered = [row for row, (a, b) in enumerate(spans) if a < end and start < b]
        if covered and not (entities and covered[0] <= entities[-1].last):
            entities.append(Entity(covered[0], covered[-1], type_))
    return Sentence(name, tuple(text[a:b] for a, b in spans), tuple(entities))


def parse_sentence(line: bytes, path: Path, number: int, nested: bool = False) -> Sentence:
    """The sentence of one line; raises ReadError."""

    def wrong(problem: str) -> NoReturn:
        raise ReadError(
            f"line {number}: {problem}",
            subject=str(path),
            remedy='A line reads {"tokens": ["Ada", "sang"], "entities": [[0, 0, "person"]]}',
        )

    try:
        row = json.loads(line)
    except ValueError:  # of JSON and of UTF-8
        wrong("is not JSON in UTF-8")
    if not isinstance(row, dict):
        wrong("is not a JSON object")
    if unknown := sorted(set(row) - _KNOWN):
        wrong(f"has the unknown key {unknown[0]!r}")
    tokens, entities = row.get("tokens"), row.get("entities")
    if not isinstance(tokens, list) or not tokens or not all(_is_token(t) for t in tokens):
        wrong("'tokens' must be a list of words without white space")
    if not isinstance(entities, list):
        wrong("'entities' must be a list")
    found = []
    for entity in entities:
        match entity:
            case [int(first), int(last), str(name)]:
                if not 0 <= first <= last < len(tokens):
                    wrong(f"the entity {entity} lies outside the {len(tokens)} tokens")
                if problem := problem_of_type(name):
                    wrong(f"the type {name!r} {problem}")
                found.append(Entity(first, last, name))
            case _:
                wrong(f"the entity {entity} is not [first, last, type]")
    found.sort(key=lambda e: (e.first, e.last))
    for one, other in pairwise(found):
        if (one.first, one.last) == (other.first, other.last):
            wrong(f"the entities {_shown(one)} and {_shown(other)} are of the same tokens")
        if other.first <= one.last and not nested:
            wrong(f"the entities {_shown(one)} and {_shown(other)} overlap")
    written = tuple(_QUOTES.get(token, token) for token in map(str, tokens))
    return Sentence(str(row.get("id", number)), written, tuple(found))


def problem_of_type(name: str) -> str:
    """Why `name` cannot name a type; empty when it can."""
    if not name.strip() or name != name.strip():
        return "is empty or has outer white space"
    if not name.isprintable():
        return "has control characters"
    return f"is longer than {_LONGEST_TYPE} characters" if len(name) > _LONGEST_TYPE else ""


def _is_token(token: object) -> bool:
    return isinstance(token, str) and bool(token) and not any(c.isspace() for c in token)


def _shown(entity: Entity) -> str:
    return f"[{entity.first}, {entity.last}, {entity.type!r}]"
