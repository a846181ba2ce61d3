"""A pool of passages as a store: each distinct passage is a document named by its place."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from smartrag.evaluation.datasets import Pool
from smartrag.evaluation.results import ModelFile
from smartrag.perception import Perceiver
from smartrag.settings import Settings
from smartrag.system import SmartRAG
from smartrag.thinking import LanguageModel
from smartrag.types import Document, Passage


@dataclass(frozen=True, slots=True)
class PooledMemory:
    """A pool that can be asked; the speed is None when the store was there already."""

    memory: SmartRAG
    paragraphs_per_s: float | None

    def encoder_file(self) -> ModelFile:
        """The encoder, for the result file."""
        known = self.memory.encoder.identity
        return ModelFile(Path(known.name).name, known.sha256)


@contextmanager
def pooled(
    pool: Pool,
    settings: Settings,
    model: LanguageModel | None,
    kept_in: Path | None,
    perceiver: Perceiver | None = None,
) -> Iterator[PooledMemory]:
    """The pool ingested into a store: a temporary one, or one in the folder `kept_in`.

    A kept store is named after the pool and its files' sums, so another pool never finds it.
    """
    sums = "-".join(file.sha256[:8] for file in pool.files)
    with TemporaryDirectory() as temporary:
        path = (kept_in or Path(temporary)) / f"{pool.name}.{sums}.db"
        with SmartRAG(path, settings, model=model, perceiver=perceiver) as memory:
            begun = time.perf_counter()
            outcomes = memory.add(_documents(pool))
            seconds = time.perf_counter() - begun
            added = sum(o.paragraphs for o in outcomes if o.outcome == "added")
            yield PooledMemory(memory, added / seconds if added else None)


def places(passages: tuple[Passage, ...]) -> list[int]:
    """Pool places of ranked paragraphs, each once, at its best rank."""
    return list(dict.fromkeys(int(p.document) for p in passages))


def _documents(pool: Pool) -> Iterator[Document]:
    for place, passage in enumerate(pool.passages):
        yield Document(name=str(place), text=passage.text, title=passage.title)
