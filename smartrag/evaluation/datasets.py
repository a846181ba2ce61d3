"""Files of questions, turned into one pool of passages and the questions asked over it.

The protocol is that of the HippoRAG family: all distinct paragraphs of a file form one pool, over
which each of its questions is asked. A file holds one JSON object a line, plain or gzipped: `id`
and `question`, and where known `answers`, `type`, `unanswerable`, `paragraphs` (`title`, `text`,
`supporting`, `sentences`), `supporting_facts` ([title, sentence index]) and `evidence` (titles).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from smartrag.errors import DataError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that was read: base name, SHA-256 of its bytes as stored, number of rows."""

    name: str
    sha256: str
    rows: int

    @classmethod
    def of(cls, path: Path, rows: int) -> DataFile:
        """The file at `path`, of which `rows` rows were read."""
        with path.open("rb") as file:
            return cls(path.name, hashlib.file_digest(file, "sha256").hexdigest(), rows)


@dataclass(frozen=True, slots=True)
class PoolPassage:
    """One passage of the pool; `title` is empty where the source has none."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldSentences:
    """The sentences of a gold passage as its source splits them, and which of them support."""

    sentences: tuple[str, ...]
    supporting: frozenset[int]


@dataclass(frozen=True, slots=True)
class Item:
    """A question with what is known about its answer.

    `gold` holds indices into the passages of the pool and is empty only where `unanswerable`.
    `facts` are (title, sentence index) as the source has them. `sentences` maps a gold passage to
    its sentences where the source splits it; a fact beyond the last sentence is not among them.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    type: str
    gold: frozenset[int]
    unanswerable: bool = False
    facts: tuple[tuple[str, int], ...] = ()
    sentences: Mapping[int, GoldSentences] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """All passages of a data set and the questions asked over them.

    `left_out` counts the questions of the whole file that could not be scored: they have an
    answer, but their gold passages are unknown or not all in the pool.
    """

    name: str
    passages: tuple[PoolPassage, ...]
    items: tuple[Item, ...]
    left_out: int
    files: tuple[DataFile, ...]


def load(questions: Path, corpus: Path | None = None, limit: int | None = None) -> Pool:
    """The pool of a file of questions; raises DataError.

    Without `corpus` the passages are the distinct (title, text) paragraphs of all questions in
    order of first appearance, and gold is what the file marks as supporting. With it they are its
    rows in order, and gold is the first row of each title in `supporting_facts`, or in `evidence`
    where a question has none. `limit` (0 or more) keeps the first scored questions only; the pool
    is that of the whole file, so that fewer questions do not become easier ones.
    """
    rows, file = _read(questions)
    files = [file]
    if corpus is None:
        passages = tuple(dict.fromkeys(p.passage() for row in rows for p in row.paragraphs()))
    else:
        corpus_rows, corpus_file = _read(corpus)
        passages = tuple(row.passage() for row in corpus_rows)
        files.append(corpus_file)
    if not passages:
        remedy = "Give a corpus file, or questions that bring their paragraphs"
        raise DataError("there are no passages", subject=files[-1].name, remedy=remedy)
    index = _Index.of(passages)
    scored = [item for row in rows if (item := _item(row, index, corpus is None))]
    return Pool(
        name=questions.name.removesuffix(".gz").removesuffix(".jsonl"),
        passages=passages,
        items=tuple(scored[:limit]),
        left_out=len(rows) - len(scored),
        files=tuple(files),
    )


# --- questions ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Index:
    """Where each passage and each title first stands in the pool."""

    passages: Mapping[PoolPassage, int]
    titles: Mapping[str, int]

    @classmethod
    def of(cls, passages: tuple[PoolPassage, ...]) -> _Index:
        # Backwards, so that the first of several equal ones is what remains.
        backwards = list(enumerate(passages))[::-1]
        return cls({p: i for i, p in backwards}, {p.title: i for i, p in backwards})


def _item(row: _Row, index: _Index, own_paragraphs: bool) -> Item | None:
    """The question of `row`, or None where it cannot be scored."""
    unanswerable = row.get("unanswerable", bool, False)
    find_gold = _own_gold if own_paragraphs else _corpus_gold
    gold = frozenset[int]() if unanswerable else find_gold(row, index)
    item = Item(
        id=row.get("id", str),
        question=row.get("question", str),
        answers=tuple(row.listed("answers", str)),
        type=row.get("type", str, ""),
        gold=gold,
        unanswerable=unanswerable,
        facts=row.facts(),
        sentences=_gold_sentences(row, index, gold),
    )
    return item if gold or unanswerable else None


def _own_gold(row: _Row, index: _Index) -> frozenset[int]:
    """The paragraphs marked as supporting; none where a title of the facts is not among them."""
    marked = [p.passage() for p in row.paragraphs() if p.get("supporting", bool, False)]
    complete = {title for title, _ in row.facts()} <= {passage.title for passage in marked}
    return frozenset(index.passages[passage] for passage in marked if complete)


def _corpus_gold(row: _Row, index: _Index) -> frozenset[int]:
    """The first corpus row of each wanted title; none where one is not in the corpus."""
    titles = {title for title, _ in row.facts()} or set(row.listed("evidence", str))
    complete = titles <= index.titles.keys()
    return frozenset(index.titles[title] for title in titles if complete)


def _gold_sentences(row: _Row, index: _Index, gold: frozenset[int]) -> dict[int, GoldSentences]:
    """The split of each gold passage whose paragraph the question brings with sentences."""
    split: dict[int, GoldSentences] = {}
    for paragraph in row.paragraphs():
        passage, sentences = paragraph.passage(), tuple(paragraph.listed("sentences", str))
        position = index.passages.get(passage, -1)
        if position in gold and sentences:
            facts = frozenset(i for title, i in row.facts() if title == passage.title)
            split[position] = GoldSentences(sentences, facts.intersection(range(len(sentences))))
    return split


# --- reading --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Row:
    """A JSON object that knows where it stands, so that every complaint can say it."""

    values: Mapping[str, Any]
    file: str
    place: str

    def error(self, problem: str) -> DataError:
        remedy = "Correct the file, or convert it again from its source"
        return DataError(f"{self.place}: {problem}", subject=self.file, remedy=remedy)

    def get(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of `key`; a null counts as absent."""
        value = self.values.get(key)
        value = default if value is None else value
        if value is None:
            raise self.error(f"the key '{key}' is missing")
        if not isinstance(value, kind):
            raise self.error(f"'{key}' is of type {type(value).__name__}, not {kind.__name__}")
        return value

    def listed(self, key: str, kind: type[T]) -> list[T]:
        values = self.get(key, list, [])
        if not all(isinstance(value, kind) for value in values):
            raise self.error(f"'{key}' is not a list of {kind.__name__}")
        return values

    def paragraphs(self) -> list[_Row]:
        return [_Row(p, self.file, self.place) for p in self.listed("paragraphs", dict)]

    def facts(self) -> tuple[tuple[str, int], ...]:
        facts: list[tuple[str, int]] = []
        for fact in self.listed("supporting_facts", list):
            match fact:
                case [str(title), int(sentence)]:
                    facts.append((title, sentence))
                case _:
                    raise self.error("'supporting_facts' is not a list of [title, sentence index]")
        return tuple(facts)

    def passage(self) -> PoolPassage:
        return PoolPassage(self.get("title", str), self.get("text", str))


def _read(path: Path) -> tuple[list[_Row], DataFile]:
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = f"the file cannot be read ({error.strerror})"
        raise DataError(problem, subject=path.name, remedy="Check the path") from error
    try:
        raw = gzip.decompress(data) if path.suffix == ".gz" else data
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"the file is damaged ({error})",
            subject=path.name,
            remedy="Fetch or make the file again; it must be UTF-8, gzipped if it ends in .gz",
        ) from error
    # Only a line feed ends a row: str.splitlines would also cut at U+2028 inside a JSON string.
    lines = enumerate(text.split("\n"), start=1)
    rows = [_parse(line, path.name, f"line {number}") for number, line in lines if line.strip()]
    return rows, DataFile(path.name, hashlib.sha256(data).hexdigest(), len(rows))


def _parse(text: str, file: str, place: str) -> _Row:
    row = _Row({}, file, place)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise row.error(f"this is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise row.error("this is not a JSON object")
    return _Row(value, file, place)
