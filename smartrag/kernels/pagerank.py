"""Personalised PageRank around a few nodes, at a cost that does not grow with the graph.

p = restart · s + (1 − restart) · Pᵀ p, with the seed distribution s and the transition matrix P; a
walk restarts where there is no edge to take. The compiled kernels compute it by forward push
(Andersen, Chung and Lang, 2006), the reference by power iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels._choice import current
from smartrag.kernels._reference import MAX_K, MIN_EPSILON, MIN_RESTART, SCRATCH
from smartrag.kernels.codes import check_k, shape_of


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """A graph of n nodes as compressed sparse rows of transition probabilities.

    The edges of node u are entries `offsets[u]` to `offsets[u + 1]` of `targets` and `weights`.
    Make it with `of`: that checks everything once, a walk checks nothing, and the compiled one
    would follow a wrong target out of the arrays.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]
    # Zeroed working memory, one array for each walk at a time; a call takes one and puts it back.
    _scratch: list[NDArray[np.void]] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        offsets: NDArray[np.integer],
        targets: NDArray[np.integer],
        weights: NDArray[np.floating],
    ) -> Transitions:
        """Transitions in proportion to `weights`: finite, not negative, of any size.

        `offsets` has shape (n + 1,), ascends from 0 to the number of edges m; `targets` and
        `weights` have shape (m,), targets lie within 0 and n − 1 < 2³¹ − 1. Anything else raises
        ValueError. Edges of weight 0 are dropped.
        """
        if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or not 1 <= len(offsets) < 2**31:
            raise ValueError(f"offsets must be integers of shape (n + 1,), not {shape_of(offsets)}")
        if targets.ndim != 1 or targets.dtype.kind not in "iu" or weights.shape != targets.shape:
            raise ValueError("targets must be integers of shape (m,), and weights as many numbers")
        offsets, targets = offsets.astype(np.int64), targets.astype(np.int64)
        n = len(offsets) - 1
        if offsets[0] != 0 or offsets[-1] != len(targets) or (np.diff(offsets) < 0).any():
            raise ValueError("offsets must ascend from 0 to the number of edges")
        if len(targets) and not (targets.min() >= 0 and targets.max() < n):
            raise ValueError(f"targets must lie within 0 and {n - 1}")
        values = weights.astype(np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError("weights must be finite and not negative")

        source = np.repeat(np.arange(n), np.diff(offsets))
        kept = values > 0
        source, values = source[kept], values[kept]
        largest = np.zeros(n)
        np.maximum.at(largest, source, values)  # without it the sum of large weights overflows
        values /= largest[source]
        values /= np.bincount(source, values, n)[source]
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))]).astype(np.int64),
            targets[kept].astype(np.int32),
            values.astype(np.float32),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """The best nodes, int64[m], and their scores, float32[m], best first.

    No score is above the exact one (up to rounding), and the scores of all nodes together lack at
    most `missing`.
    """

    nodes: NDArray[np.int64]
    scores: NDArray[np.float32]
    missing: float


def pagerank(
    graph: Transitions,
    seeds: NDArray[np.integer],
    masses: NDArray[np.floating],
    k: int,
    restart: float = 0.5,
    epsilon: float = 3e-6,
) -> PageRank:
    """The k nodes where a walk that keeps returning to the seeds is found most often.

    `seeds` are nodes, `masses` their shares of the restarts (positive; divided by their sum), both
    of shape (s,); none gives an empty result. Mass is pushed on from a node while more than
    `epsilon` for each of its edges waits there: at most 1 / (restart · epsilon) edges are followed.
    Nodes never reached are not returned; of equal scores the lower node comes first. Raises
    ValueError unless 1 ≤ k ≤ 1024, 0.01 ≤ restart ≤ 1, 1e-9 ≤ epsilon, and the seeds are nodes.
    """
    check_k(k, MAX_K)
    if not MIN_RESTART <= restart <= 1:
        raise ValueError(f"restart must lie within {MIN_RESTART} and 1, not be {restart}")
    if not epsilon >= MIN_EPSILON:  # so written, NaN fails it too
        raise ValueError(f"epsilon must be at least {MIN_EPSILON:g}, not {epsilon}")
    if seeds.ndim != 1 or seeds.dtype.kind not in "iu" or masses.shape != seeds.shape:
        raise ValueError("seeds must be integers of shape (s,), and masses as many numbers")
    seeds = seeds.astype(np.int64)
    if len(seeds) and not (seeds.min() >= 0 and seeds.max() < len(graph)):
        raise ValueError(f"seeds must lie within 0 and {len(graph) - 1}")
    share = masses.astype(np.float64)
    if not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError("masses must be finite and positive")
    share = (share / share.max(initial=1e-300)).clip(1e-12)
    share /= max(share.sum(), 1e-300)

    try:
        scratch = graph._scratch.pop()
    except IndexError:
        scratch = np.zeros(len(graph), SCRATCH)
    nodes, scores, missing = current().push(
        *(graph.offsets, graph.targets, graph.weights),
        seeds.astype(np.int32),
        share.astype(np.float32),
        restart,
        epsilon,
        k,
        scratch,
    )
    graph._scratch.append(scratch)  # not after an error, which may leave it dirty
    return PageRank(nodes, scores, missing)
