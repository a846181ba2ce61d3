"""Exact nearest-neighbour search by other libraries, one thread each; those that are installed."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from smartrag.kernels import Codes
from smartrag.types import FloatArray

K = 10

_SQLITE_VEC_MOST = 100_000
"""sqlite-vec writes row by row: a million would take longer than all that is measured."""


def peers(
    rows: FloatArray, query: FloatArray, codes: Codes, query_codes: Codes
) -> dict[str, Callable[[], object]]:
    """Ready to be called: float32 rows (n, d) and query (d,), and the same as int8 codes."""
    found: dict[str, Callable[[], object]] = {"numpy_f32": lambda: _best(rows @ query)}
    for name, work in _all(rows, query, codes, query_codes):
        found[name] = work
    return found


def _all(
    rows: FloatArray, query: FloatArray, codes: Codes, query_codes: Codes
) -> Iterator[tuple[str, Callable[[], object]]]:
    matrix, row = codes.codes, query_codes.codes
    with suppress(ImportError):
        simsimd = _module("simsimd")
        yield "simsimd_i8_scan", lambda: simsimd.cdist(row, matrix, "dot")
    with suppress(ImportError):
        numkong = _module("numkong")
        yield "numkong_i8_scan", lambda: numkong.cdist(row, matrix, "dot")
    with suppress(ImportError):
        faiss = _module("faiss")
        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(rows.shape[1])
        flat.add(rows)
        yield "faiss_flat_f32", lambda: flat.search(query[np.newaxis], K)
        quantizer = faiss.ScalarQuantizer.QT_8bit
        coded = faiss.IndexScalarQuantizer(rows.shape[1], quantizer, faiss.METRIC_INNER_PRODUCT)
        coded.train(rows[:20_000])
        coded.add(rows)
        yield "faiss_sq8", lambda: coded.search(query[np.newaxis], K)
    with suppress(ImportError):
        usearch = _module("usearch.index")
        yield (
            "usearch_exact_i8",
            lambda: usearch.search(
                matrix, row[0], K, metric=usearch.MetricKind.IP, exact=True, threads=1
            ),
        )
    if len(rows) <= _SQLITE_VEC_MOST:
        with suppress(ImportError, sqlite3.Error, AttributeError):
            yield "sqlite_vec_i8", _sqlite_vec(codes, query_codes)


def _sqlite_vec(codes: Codes, query: Codes) -> Callable[[], object]:
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    _module("sqlite_vec").load(connection)
    connection.execute(f"CREATE VIRTUAL TABLE v USING vec0(e int8[{codes.dim}])")
    connection.executemany(
        "INSERT INTO v (rowid, e) VALUES (?, vec_int8(?))",
        ((i, row.tobytes()) for i, row in enumerate(codes.codes)),
    )
    asked = query.codes[0].tobytes()
    statement = "SELECT rowid FROM v WHERE e MATCH vec_int8(?) AND k = ?"
    return lambda: connection.execute(statement, (asked, K)).fetchall()


def _best(scores: FloatArray) -> object:
    best = np.argpartition(scores, -K)[-K:]
    return best[np.argsort(-scores[best])]


def _module(name: str) -> Any:
    return importlib.import_module(name)
