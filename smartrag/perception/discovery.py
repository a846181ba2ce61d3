"""New entity types, from mentions that fit no type yet (paper §3.2, triplet discovery).

Mentions with like vectors are clustered; large clusters that hold together are named and proposed.
What does not hold together is dropped before anybody is asked for a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartrag.perception.clustering import ward_labels
from smartrag.perception.naming import Cluster, Namer, Pending, name_by_head_words, type_name
from smartrag.settings import DiscoverySettings
from smartrag.text import normal_name
from smartrag.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A type that may be learned: its name and which of the pending mentions are of it.

    `coherence` is the mean cosine of the members to `centroid`.
    """

    name: str
    members: tuple[int, ...]
    coherence: float
    centroid: FloatArray  # (d,), unit length


def discover(
    pending: Sequence[Pending], settings: DiscoverySettings, namer: Namer | None = None
) -> tuple[Proposal, ...]:
    """The types that `pending` speaks for, in the order of their first members.

    The same mentions in the same order give the same proposals. Raises ValueError where vectors
    are of unequal length or not finite.
    """
    if not pending:
        return ()
    vectors = unit_rows(np.stack([mention.vector for mention in pending]))
    labels = ward_labels(vectors, settings.epsilon)
    groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    large = [rows for rows in groups if _is_large(rows, pending, settings.smallest)]
    coherent = [rows for rows in large if coherence(vectors[rows]) >= settings.floor]
    merged = merge_close(coherent, vectors, settings)
    clusters = [_cluster(rows, pending, vectors) for rows in merged]
    return tuple(_proposals(clusters, namer or name_by_head_words, pending, vectors))


def unit_rows(vectors: FloatArray) -> FloatArray:
    """The rows of (n, d) with unit length; a row of zeros stays one."""
    wide = np.asarray(vectors, dtype=np.float64)  # squares of any float32 fit in
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = np.zeros(wide.shape, np.float32)
    with np.errstate(invalid="ignore"):  # what is not finite becomes NaN, which clustering refuses
        np.divide(wide, lengths, out=unit, where=lengths != 0)
    return unit


def coherence(vectors: FloatArray) -> float:
    """The mean cosine of n unit vectors (n, d) to their centroid: the length of their mean."""
    return float(np.linalg.norm(vectors.mean(axis=0, dtype=np.float64)))


def _is_large(rows: NDArray[np.int64], pending: Sequence[Pending], smallest: int) -> bool:
    """One name, however often it is repeated, is a thing and no type."""
    return len(rows) >= smallest and len({normal_name(pending[row].surface) for row in rows}) > 1


# --- merging --------------------------------------------------------------------------------------
def merge_close(
    groups: Sequence[NDArray[np.int64]], vectors: FloatArray, settings: DiscoverySettings
) -> list[NDArray[np.int64]]:
    """Joins the two groups with the nearest centroids while their cosine is at least `merge`.

    Ward keeps large clusters apart however alike they are, since d grows with their sizes. A union
    that would fall below `floor` is not made. Groups stay in the order of their first members.
    """
    merged = list(groups)
    while len(merged) > 1:
        means = np.stack([vectors[group].mean(axis=0) for group in merged])
        cosines = unit_rows(means) @ unit_rows(means).T
        near = np.argwhere(np.triu(cosines >= settings.merge, 1))
        order = np.argsort(-cosines[near[:, 0], near[:, 1]], kind="stable")
        for i, j in near[order].tolist():
            both = np.union1d(merged[i], merged[j])
            if coherence(vectors[both]) >= settings.floor:
                merged[i] = both
                del merged[j]
                break
        else:
            break
    return merged


# --- clusters and their names ---------------------------------------------------------------------
def _cluster(rows: NDArray[np.int64], pending: Sequence[Pending], vectors: FloatArray) -> Cluster:
    rows = np.sort(rows)
    [centroid] = unit_rows(vectors[rows].mean(axis=0, keepdims=True))
    return Cluster(
        members=tuple(rows.tolist()),
        mentions=tuple(pending[row] for row in rows),
        coherence=coherence(vectors[rows]),
        centroid=centroid,
    )


def _proposals(
    clusters: Sequence[Cluster], namer: Namer, pending: Sequence[Pending], vectors: FloatArray
) -> Iterator[Proposal]:
    """Clusters that get the same name are one type."""
    named: dict[str, list[int]] = {}
    for cluster in clusters:
        name = type_name(namer(cluster) or "")
        if name:
            named.setdefault(name, []).extend(cluster.members)
    for name, members in named.items():
        whole = _cluster(np.array(members), pending, vectors)
        yield Proposal(name, whole.members, whole.coherence, whole.centroid)
