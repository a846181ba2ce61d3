"""Looking inside a store: what lies in it and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredParagraph:
    """A paragraph as it lies in the store; `start` and `end` are offsets in its document."""

    id: int
    document: str
    label: str
    heading: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """`document`'s text, from `start` to `end`, says that a fact holds; `score` is 0 to 1."""

    document: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Fact:
    """The entity called `head` stands in `relation` to `tail`: an edge of the graph, with all that
    was observed for it, the surest statement first."""

    head: str
    relation: str
    tail: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """One row of `smartrag list`; `status` is *indexed*, or *failed* with a `reason`."""

    name: str
    title: str
    lens: str
    status: str
    reason: str
    media_type: str
    encoding: str
    paragraphs: int
    characters: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts of what a store holds; `file_bytes` includes the write-ahead log.

    `sketch_recall` is None unless it was measured: see `SmartRAG.sketch_recall`.
    """

    documents: int
    failed: int
    paragraphs: int
    sentences: int
    entities: int
    mentions: int
    relations: int
    file_bytes: int
    schema_version: int
    encoder: str
    lexical: str
    sketch_recall: float | None = None
