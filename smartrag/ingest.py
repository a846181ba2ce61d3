"""Documents into the store: read, split, encode together, write one by one.

Small documents share a batch in front of the encoder and still have a transaction each. A document
whose content is known is not touched; one with a known name and new content replaces the old one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import TypeVar

import numpy as np

from smartrag.errors import MissingExtra, ReadError
from smartrag.memory import Store
from smartrag.memory.documents import content_hash
from smartrag.memory.vectors import VectorBatch
from smartrag.merging import merge_names
from smartrag.perception import Perception
from smartrag.perception.encoder import EncoderIdentity
from smartrag.perception.readers import find_files, read
from smartrag.settings import ReadSettings
from smartrag.text import sentence_spans, well_formed
from smartrag.types import Document, DocumentOutcome, Observation, Paragraph, StoredParagraph

_BATCH_PARAGRAPHS = 64

T = TypeVar("T")

Source = Document | ReadError
"""A document, or why a file did not become one; the error's subject is the file's name."""


def name_of(path: Path) -> str:
    """The name of the document that a file becomes: its absolute path, always valid Unicode."""
    absolute = Path(os.path.abspath(path)).as_posix()  # noqa: PTH100  resolve() follows links
    return absolute.encode("utf-8", "backslashreplace").decode()


def read_files(paths: Sequence[Path], settings: ReadSettings) -> Iterator[Source]:
    """Read files and, recursively, folders; what cannot be read yields its error."""
    unlistable: list[ReadError] = []
    for path in find_files(paths, unlistable.append):
        yield _read(path, settings)
    yield from unlistable


def write(
    sources: Iterable[Source], perception: Perception, store: Store, lens: str
) -> Iterator[DocumentOutcome]:
    """Write documents to a lens; yields one outcome for each source, not always in its order.

    A new name for content that another document has is a duplicate and is not written. Whether it
    is one is decided last, since the other document may itself be replaced by a later source.
    """
    known = store.hashes(lens)
    names = {content: name for name, content in known.items()}
    visited: set[str] = set()
    undecided: list[Document] = []
    edited = False
    batch: list[tuple[Document, list[Paragraph]]] = []
    for source in chain(sources, undecided):  # which grows until the sources are at their end
        if isinstance(source, ReadError):
            store.put_failed(lens, Document(source.subject, ""), str(source))
            yield DocumentOutcome(source.subject, "failed", reason=str(source))
            continue
        source = _well_formed(source)
        content = content_hash(source)
        twin = names.get(content)
        decided = twin in visited or source.name in visited
        visited.add(source.name)
        if known.get(source.name) == content:
            yield DocumentOutcome(source.name, "unchanged")
        elif twin is not None and source.name not in known:
            if decided:
                yield DocumentOutcome(source.name, "duplicate", reason=f"same as {twin}")
            else:
                undecided.append(source)
        else:
            before = known.get(source.name, "")
            edited = edited or bool(before)
            if names.get(before) == source.name:
                del names[before]
            known[source.name], names[content] = content, source.name
            batch.append((source, perception.split(source)))
            if sum(len(paragraphs) for _, paragraphs in batch) >= _BATCH_PARAGRAPHS:
                yield from _flush(batch, perception, store, lens)
                batch = []
    yield from _flush(batch, perception, store, lens)
    if edited:
        store.erase_traces()


def sync(
    folder: Path, settings: ReadSettings, perception: Perception, store: Store, lens: str
) -> Iterator[DocumentOutcome]:
    """Make the documents of `folder` in the store equal to its files; yields what changed or not.

    A file that moved inside the folder keeps its paragraphs, unless its title is its name and so
    changed with it. A file that can no longer be read keeps what was last read of it. A folder that
    is not there raises ReadError and changes nothing.
    """
    if not os.path.isdir(folder):  # noqa: PTH112  a NUL in the path is no folder either
        raise ReadError(
            "there is no such folder", subject=str(folder), remedy="Check the path, and its disk"
        )
    sources = {name_of(path): path for path in find_files([folder])}
    prefix = name_of(folder).rstrip("/") + "/"
    known = store.hashes(lens)

    def is_gone(name: str) -> bool:
        # A file that is there but that a folder's walk passes over was given by name: it stays.
        return name.startswith(prefix) and name not in sources and not os.path.lexists(name)

    gone = {content: name for name, content in known.items() if is_gone(name)}
    changed: list[Path] = []
    removed = False
    for path in sources.values():
        source = _read(path, settings)
        content = content_hash(source) if isinstance(source, Document) else ""
        if isinstance(source, Document) and known.get(source.name) == content:
            yield DocumentOutcome(source.name, "unchanged")
        elif isinstance(source, Document) and (old := gone.pop(content, None)):
            store.rename(lens, old, source.name)
            removed = True  # of a document that had the new name
            yield DocumentOutcome(source.name, "renamed", reason=f"was {old}")
        else:
            changed.append(path)  # read again when its turn comes: a folder may not fit in memory
    yield from write((_read(path, settings) for path in changed), perception, store, lens)
    for document in store.listed(lens):
        if is_gone(document.name):
            store.remove(lens, document.name)
            removed = True
            yield DocumentOutcome(document.name, "removed")
    if removed:
        store.erase_traces()


def _well_formed(document: Document) -> Document:
    """The document as it can be stored; readers yield nothing else, callers may."""
    return replace(
        document,
        name=well_formed(document.name),
        text=well_formed(document.text),
        title=well_formed(document.title),
        sections=tuple(
            replace(s, heading=tuple(map(well_formed, s.heading))) for s in document.sections
        ),
    )


def _read(path: Path, settings: ReadSettings) -> Source:
    try:
        return read(path, name_of(path), settings)
    except ReadError as error:
        return error
    except MissingExtra as error:  # other formats of the same ingest do not need it
        return ReadError(error.problem, remedy=error.remedy, subject=name_of(path))


def _flush(
    batch: Sequence[tuple[Document, list[Paragraph]]],
    perception: Perception,
    store: Store,
    lens: str,
) -> Iterator[DocumentOutcome]:
    together = [(d, ps) for d, ps in batch if len(ps) <= _BATCH_PARAGRAPHS]
    seen = iter(perception.observe([(d, p) for d, ps in together for p in ps]))
    for document, paragraphs in batch:
        short = len(paragraphs) <= _BATCH_PARAGRAPHS
        observed: Iterable[Sequence[Observation]] = (
            [[next(seen) for _ in paragraphs]]
            if short
            else _in_slices(document, paragraphs, perception)
        )
        with store.atomic():
            outcome = store.put(lens, document, observed)
            merge_names(store, [store.document_id(lens, document.name)])
        yield outcome


def _in_slices(
    document: Document, paragraphs: Sequence[Paragraph], perception: Perception
) -> Iterator[list[Observation]]:
    for slice_ in _slices(paragraphs):
        yield perception.observe([(document, paragraph) for paragraph in slice_])


def _slices(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(items), _BATCH_PARAGRAPHS):
        yield items[first : first + _BATCH_PARAGRAPHS]


def reembed(store: Store, perception: Perception, encoder: EncoderIdentity) -> int:
    """Renew the vectors of all paragraphs, in one transaction; the number of paragraphs."""

    def batches(paragraphs: Iterable[tuple[str, StoredParagraph]]) -> Iterator[VectorBatch]:
        for lens, of_lens in groupby(paragraphs, key=lambda pair: pair[0]):
            for batch in _slices([p for _, p in of_lens]):
                texts = [p.text for p in batch]
                spans = [tuple(sentence_spans(text)) for text in texts]
                readings = perception.read([p.label for p in batch], texts, spans)
                vectors = np.stack([reading.vector for reading in readings])
                of_sentences = [reading.parts for reading in readings]
                yield lens, [p.id for p in batch], vectors, spans, of_sentences

    with store.atomic():  # a paragraph written in between would be left without a vector
        paragraphs = list(store.paragraphs())
        store.renew_vectors(encoder.name, encoder.dimension, encoder.sha256, batches(paragraphs))
    return len(paragraphs)
