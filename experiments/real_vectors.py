"""Vectors of real text for benchmarks: passages, their sentences and questions of a data file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.capitalised import CapitalisedSpans
from smartrag import models
from smartrag.evaluation.datasets import DataFile, load
from smartrag.evaluation.results import ModelFile
from smartrag.perception import Encoder, Perception
from smartrag.settings import PerceptionSettings
from smartrag.text import sentence_spans
from smartrag.types import FloatArray

_BATCH = 64


@dataclass(frozen=True, slots=True)
class RealVectors:
    """Unit vectors float32[n, d] of distinct passages and sentences, float32[q, d] of questions."""

    rows: FloatArray
    queries: FloatArray
    data: tuple[DataFile, ...]
    encoder: ModelFile


def real_vectors(data: Path, encoder: str, passages: int, cache: Path) -> RealVectors:
    """The vectors of the first `passages` passages of a file, kept in the folder `cache`."""
    pool = load(data)
    path = models.locate(encoder)
    identity = ModelFile.of(encoder, path)
    kept = cache / f"{data.name}.{pool.files[0].sha256[:8]}.{identity.sha256[:8]}.{passages}.npz"
    if not kept.exists():
        settings = PerceptionSettings(encoder=encoder)
        reader = Perception(Encoder(path, settings), CapitalisedSpans(), settings)
        chosen = pool.passages[:passages]
        parts: list[FloatArray] = []
        for first in range(0, len(chosen), _BATCH):
            batch = chosen[first : first + _BATCH]
            texts = [passage.text for passage in batch]
            spans = [tuple(sentence_spans(text)) for text in texts]
            readings = reader.read([passage.title for passage in batch], texts, spans)
            parts += [np.stack([r.vector for r in readings]), *(r.parts for r in readings)]
        rows = np.unique(np.concatenate(parts), axis=0)
        np.random.default_rng(0).shuffle(rows)
        queries = np.stack([reader.embed(item.question) for item in pool.items])
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(kept, rows=rows, queries=queries)
    with np.load(kept) as arrays:
        return RealVectors(arrays["rows"], arrays["queries"], tuple(pool.files), identity)


def tiled(rows: FloatArray, n: int, noise: float, rng: np.random.Generator) -> FloatArray:
    """n unit vectors: the real ones, then copies moved by random vectors of length `noise`."""
    out = np.empty((n, rows.shape[1]), np.float32)
    for first in range(0, n, len(rows)):
        copy = rows[: n - first].copy()
        if first:
            moved = rng.standard_normal(copy.shape, dtype=np.float32)
            copy += noise * moved / np.linalg.norm(moved, axis=1, keepdims=True)
        out[first : first + len(copy)] = copy / np.linalg.norm(copy, axis=1, keepdims=True)
    return out
