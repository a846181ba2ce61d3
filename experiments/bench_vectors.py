"""What it costs to open a store for searching, and to append to it, by its size.

The paragraphs are as many as asked for, with random vectors and four sentences each; what is
measured does not depend on their content.

    python -m experiments.bench_vectors
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from smartrag.evaluation.results import Result, Row, write
from smartrag.memory import Store, documents, vectors
from smartrag.settings import MemorySettings
from smartrag.types import Document, Observation, Paragraph

SIZES = (1_000, 10_000, 100_000)
DIM = 384
SENTENCES = 4
PER_DOCUMENT = 10
LENS = "bench"
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    rows = [measured(n) for n in arguments.sizes]
    command = shlex.join(["python", "-m", "experiments.bench_vectors", *sys.argv[1:]])
    result = Result.of_this_run("vectors", command, 0, rows)
    print(write(result, arguments.results).with_suffix(".md").read_text(encoding="utf-8"))


def measured(n: int) -> Row:
    """A store of n paragraphs: opened, read and appended to."""
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        with opened(path) as store:
            with store.atomic():
                for first in range(0, n, PER_DOCUMENT):
                    put(store, first, rng)
            store.erase_traces()  # empties the log
        open_ms, vectors_ms, view_ms = np.median(
            [opening(path) for _ in range(ROUNDS)], axis=0
        ).tolist()
        with opened(path) as store:
            put(store, n, rng)  # the first write makes the log
            log = path.with_name(f"{path.name}-wal")
            before, begun = log.stat().st_size, time.perf_counter()
            put(store, n + PER_DOCUMENT, rng)
            append_ms = 1e3 * (time.perf_counter() - begun)
            appended = log.stat().st_size - before
        return {
            "work": "vectors",
            "paragraphs": n,
            "sentences": n * SENTENCES,
            "matrix_bytes": n * (DIM + 4),
            "file_bytes": path.stat().st_size,
            "open_ms": open_ms,
            "vectors_ms": vectors_ms,
            "view_ms": view_ms,
            "append_ms": append_ms,
            "append_written_bytes": appended,
        }


def opening(path: Path) -> tuple[float, float, float]:
    """Milliseconds to open the file, to read the matrix, and for the whole view beside it."""
    begun = time.perf_counter()
    with opened(path) as store:
        at_open = time.perf_counter()
        lens = documents.lens_id(store._connection, LENS)
        assert lens is not None
        vectors.load(store._connection, lens, DIM)
        at_vectors = time.perf_counter()
        store.view(LENS)
        at_view = time.perf_counter()
    return 1e3 * (at_open - begun), 1e3 * (at_vectors - at_open), 1e3 * (at_view - at_vectors)


def opened(path: Path) -> Store:
    store = Store(path, MemorySettings(), write=True)
    store.claim_encoder("random", DIM, "0" * 64)
    return store


def put(store: Store, first: int, rng: np.random.Generator) -> None:
    """Write one document, whose paragraphs are numbered from `first` on."""
    name = f"document {first // PER_DOCUMENT}"
    store.put(LENS, Document(name, name), [list(observations(first, rng))])


def observations(first: int, rng: np.random.Generator) -> Iterator[Observation]:
    for position in range(PER_DOCUMENT):
        text = f"Paragraph {first + position} is here. " * SENTENCES
        step = len(text) // SENTENCES
        spans = tuple((step * i, step * (i + 1) - 1) for i in range(SENTENCES))
        drawn = rng.standard_normal((1 + SENTENCES, DIM), dtype=np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        paragraph = Paragraph(position, start=0, end=len(text), text=text)
        yield Observation(paragraph, drawn[0], spans, drawn[1:], mentions=(), abouts=())


if __name__ == "__main__":
    main()
