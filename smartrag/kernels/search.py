"""Exact search: the scores of all rows, or only the best rows, in one pass over the codes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from smartrag.kernels._choice import current
from smartrag.kernels._reference import MAX_K
from smartrag.kernels.codes import Codes, Mask, check_k, check_mask

Part = TypeVar("Part")


def scan(codes: Codes, queries: Codes, threads: int = 1) -> NDArray[np.float32]:
    """The score of every row for every query: float32 of shape (q, n).

    A score is the inner product float32(dot) · (scale_row · scale_query) with an exact integer dot.
    The codes are read once for every 32 queries. More `threads` share the rows; they end with the
    call. Raises ValueError if the dimensions differ or `threads` < 1.
    """
    _check_queries(codes, queries)

    def scores_of(part: slice) -> NDArray[np.float32]:
        return current().scan(codes.codes[part], codes.scales[part], queries.codes, queries.scales)

    parts = _in_parts(len(codes), threads, scores_of)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def topk(
    codes: Codes, queries: Codes, k: int, mask: Mask | None = None, threads: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The rows with the k highest scores for every query, best first, and their scores.

    Scores are those of `scan`; the compiled kernels make no array of them. `mask`, bool of shape
    (n,), says which rows may be returned; the compiled kernels do not even read the others. Both
    results have shape (q, m), int64 and float32, with m = min(k, rows allowed). Rows of equal score
    come in ascending order, and it is the lower ones that are kept. Raises ValueError unless
    1 ≤ k ≤ 1024, and for queries or a mask that do not fit `codes`.
    """
    _check_queries(codes, queries)
    check_k(k, MAX_K)
    check_mask(mask, len(codes))

    def best_of(part: slice) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        rows, scores = current().topk(
            *(codes.codes[part], codes.scales[part], queries.codes, queries.scales, k),
            None if mask is None else mask[part],
        )
        return rows + part.start, scores

    parts = _in_parts(len(codes), threads, best_of)
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([rows for rows, _ in parts], axis=1)
    scores = np.concatenate([scores for _, scores in parts], axis=1)
    # Of equal scores the earlier part's come first, and a stable sort keeps it so.
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _check_queries(codes: Codes, queries: Codes) -> None:
    if queries.dim != codes.dim:
        raise ValueError(f"the queries have dimension {queries.dim}, the codes have {codes.dim}")


def _in_parts(n_rows: int, threads: int, work: Callable[[slice], Part]) -> list[Part]:
    """What `work` makes of `threads` runs of rows, side by side; the kernels release the lock."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    bounds = [n_rows * i // threads for i in range(threads + 1)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    if threads == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))
