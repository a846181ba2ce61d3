"""The kernels against their peers: search, two stages, PageRank, and what INT8 costs in recall.

Everything runs on one thread, competitors in turn. Search runs over real vectors of passages and
sentences; where a size needs more than there are, they are tiled, each copy moved by noise.

    pip install -c constraints.txt -e '.[all,bench]'
    python -m experiments.bench_kernels --data ../shared/data/qa/hotpotqa.dev_distractor.jsonl.gz
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.real_vectors import RealVectors, real_vectors, tiled
from experiments.search_peers import K
from experiments.search_peers import peers as search_peers
from experiments.timing import medians_ms, on_one_thread
from experiments.walk_peers import mention_graph, power_iteration, restarts
from experiments.walk_peers import peers as walk_peers
from smartrag import kernels, models
from smartrag.evaluation.results import Result, Row, write
from smartrag.types import FloatArray

Rows = NDArray[np.int64]

SIZES = (5_000, 100_000, 1_000_000)
NOISE = 0.5
CANDIDATES = (64, 256, 1024, 4096)
GRAPHS = ((20_000, 100_000), (200_000, 1_000_000))
RESTART = 0.5
EPSILONS = (1e-5, 3e-6, 1e-6, 1e-7)
TOP = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="questions and passages")
    parser.add_argument("--passages", type=int, default=4_000, help="the first N are encoded")
    parser.add_argument("--encoder", default="minilm-l6-int8", help="any that SmartRAG can load")
    parser.add_argument("--cache", type=Path, default=models.home() / "experiments")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    parser.add_argument("--name", default="kernels", help="of the result files")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--graphs", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()

    real = real_vectors(arguments.data, arguments.encoder, arguments.passages, arguments.cache)
    rng = np.random.default_rng(0)
    rows: list[Row] = list(recall_rows(real))
    for n in arguments.sizes:
        rows += search_rows(tiled(real.rows, n, NOISE, rng), real.queries, len(real.rows))
    if arguments.graphs:
        for n_nodes, n_mentions in GRAPHS:
            rows += walk_rows(n_nodes, n_mentions, rng)
    command = shlex.join(["python", "-m", "experiments.bench_kernels", *sys.argv[1:]])
    result = Result.of_this_run(arguments.name, command, 0, rows, real.data, [real.encoder])
    written = write(result, arguments.results)
    print(written.with_suffix(".md").read_text(encoding="utf-8"))


def search_rows(rows: FloatArray, queries: FloatArray, n_real: int) -> Iterator[Row]:
    """Exact and two-stage search over one matrix, with what reading it alone costs."""
    n, dim = rows.shape
    codes = kernels.quantize(rows)
    query, asked = queries[0], kernels.quantize(queries[:1])
    batch = kernels.quantize(queries[:32])
    sketches = kernels.sketch(codes)
    words = codes.codes.view(np.int64)
    best = kernels.isa()
    works: dict[str, Callable[[], object]] = {
        **{
            f"ours_{isa}": _with(isa, best, lambda: kernels.topk(codes, asked, K))
            for isa in kernels.available()
        },
        **search_peers(rows, query, codes, asked),
        "ours_batch_of_32": lambda: kernels.topk(codes, batch, K),
        "read_codes": lambda: words.max(),
        "read_sketches": lambda: sketches.words.max(),
        "ours_sketching": lambda: kernels.sketch(codes),
        **{
            f"ours_two_stage_{c}": _two_stage(codes, sketches, asked, c)
            for c in CANDIDATES
            if c < n
        },
    }
    taken = medians_ms(works)
    for name, ms in taken.items():
        row: dict[str, str | int | float | bool | None] = {
            "work": "two_stage" if "two_stage" in name else "scan_topk_i8",
            "method": name,
            "n": n,
            "n_real": min(n, n_real),
            "dim": dim,
            "median_ms": ms,
        }
        if "simsimd_i8_scan" in taken:
            row["ratio_to_simsimd"] = ms / taken["simsimd_i8_scan"]
        if name == f"ours_{best}":
            row["ratio_to_reading"] = ms / taken["read_codes"]
            row["bytes_read"] = codes.codes.nbytes + codes.scales.nbytes
        if name == "ours_batch_of_32":
            row["ms_per_query"] = ms / len(batch)
        if "two_stage" in name:
            row["speedup_over_exact"] = taken[f"ours_{best}"] / ms
            row["recall@10"] = kernels.sketch_recall(
                codes, sketches, kernels.quantize(queries[:100]), K, int(name.rpartition("_")[2])
            )
        yield row


def recall_rows(real: RealVectors) -> Iterator[Row]:
    """INT8 against float32 on real vectors only, and sketches around a centre or rotated."""
    codes, asked = kernels.quantize(real.rows), kernels.quantize(real.queries)
    found, _ = kernels.topk(codes, asked, K)
    scores = real.queries @ real.rows.T
    exact = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    shared = np.array([len(np.intersect1d(a, b)) / K for a, b in zip(found, exact, strict=True)])
    samples = np.random.default_rng(0).choice(shared, (2_000, len(shared))).mean(axis=1)
    yield {
        "work": "int8_recall",
        "method": "int8 against float32",
        "n": len(real.rows),
        "n_real": len(real.rows),
        "dim": codes.dim,
        "recall@10": float(shared.mean()),
        "recall@10_low": float(np.quantile(samples, 0.025)),
        "recall@10_high": float(np.quantile(samples, 0.975)),
        "loss@1": float((found[:, 0] != exact[:, 0]).mean()),
    }
    for kind, moved, moved_queries in _sketch_kinds(real):
        signs, query_signs = _signs(moved), _signs(moved_queries)
        for candidates in CANDIDATES:
            hits = [
                len(np.intersect1d(_nearest(signs, query, candidates), best)) / K
                for query, best in zip(query_signs, found, strict=True)
            ]
            yield {
                "work": "sketch_kind",
                "method": f"{kind}, {candidates} candidates",
                "n": len(real.rows),
                "n_real": len(real.rows),
                "dim": codes.dim,
                "recall@10": float(np.mean(hits)),
            }


def _sketch_kinds(real: RealVectors) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Plain signs, centred and rotated ones; the same for vectors that all lean to one side."""
    dim = real.rows.shape[1]
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((dim, dim)))[0].astype(np.float32)
    centre = real.rows.mean(axis=0, dtype=np.float32)
    yield "signs", real.rows, real.queries
    yield "signs around the centre", _moved(real.rows, -centre), _moved(real.queries, -centre)
    yield "signs of a rotation", real.rows @ rotation, real.queries @ rotation
    lean = rng.choice(np.array([-0.1, 0.1], np.float32), dim)
    rows, queries = _moved(real.rows, lean), _moved(real.queries, lean)
    yield "signs, leaning vectors", rows, queries
    yield "signs of a rotation, leaning vectors", rows @ rotation, queries @ rotation


def _moved(rows: FloatArray, by: FloatArray) -> FloatArray:
    return np.add(rows, by, dtype=np.float32)


def walk_rows(n_nodes: int, n_mentions: int, rng: np.random.Generator) -> Iterator[Row]:
    """Forward push against power iteration and other libraries.

    Times are means over 5 questions of 5 seeds each; the best 50 nodes are compared over 30.
    """
    graph = mention_graph(n_nodes, n_mentions, rng)
    transitions = kernels.Transitions.of(graph.offsets, graph.targets, graph.weights)
    masses = np.arange(1, 6, dtype=np.float64) ** -0.5
    questions = [rng.choice(graph.n_passages, 5, replace=False) for _ in range(30)]
    works = [walk_peers(graph, seeds, masses, RESTART) for seeds in questions[:5]]
    for seeds, of_question in zip(questions, works, strict=False):
        for epsilon in EPSILONS:
            of_question[f"ours_push_{epsilon:g}"] = _push(transitions, seeds, masses, epsilon)
    taken = {
        name: _mean_of_medians_ms([of_question[name] for of_question in works]) for name in works[0]
    }
    starts = [restarts(graph, seeds, masses) for seeds in questions]
    exact = [power_iteration(graph, start, RESTART)() for start in starts]
    for name, ms in taken.items():
        row: dict[str, str | int | float | bool | None] = {
            "work": "ppr_push",
            "method": name,
            "n": n_nodes,
            "mentions": n_mentions,
            "restart": RESTART,
            "median_ms": ms,
            "ratio_to_power": ms / taken["scipy_power_1e-8"],
        }
        if name.startswith("ours_push_"):
            epsilon = float(name.removeprefix("ours_push_"))
            found = [_push(transitions, seeds, masses, epsilon)() for seeds in questions]
            row |= _agreement([walk.nodes for walk in found], exact)
        yield row


def _agreement(found: list[Rows], exact: list[NDArray[np.float64]]) -> dict[str, int | float]:
    """How far the best nodes are the same, and how near the tie is where they are not.

    The gap is that between places 50 and 51 of the exact scores, as a share of the former; the
    largest one of all questions whose best 50 are not the same is given.
    """
    same, gaps = [], []
    for nodes, scores in zip(found, exact, strict=True):
        order = np.argsort(-scores, kind="stable")
        same.append(len(np.intersect1d(nodes, order[:TOP])))
        if same[-1] < TOP:
            gaps.append(1 - scores[order[TOP]] / scores[order[TOP - 1]])
    return {
        "same_of_top_50_mean": float(np.mean(same)),
        "same_of_top_50_least": min(same),
        "questions_with_all_the_same": sum(n == TOP for n in same),
        "questions": len(same),
        "largest_gap_at_50_elsewhere": float(max(gaps, default=0.0)),
    }


def _mean_of_medians_ms(works: list[Callable[[], object]]) -> float:
    taken = medians_ms({str(i): work for i, work in enumerate(works)}, seconds=0.5)
    return float(np.mean(list(taken.values())))


def _push(
    graph: kernels.Transitions, seeds: Rows, masses: NDArray[np.float64], epsilon: float
) -> Callable[[], kernels.PageRank]:
    return lambda: kernels.pagerank(graph, seeds, masses, TOP, RESTART, epsilon)


def _two_stage(
    codes: kernels.Codes, sketches: kernels.Sketches, query: kernels.Codes, candidates: int
) -> Callable[[], object]:
    return lambda: kernels.nearest(codes, sketches, query, K, candidates)


def _with(isa: str, best: str, work: Callable[[], object]) -> Callable[[], object]:
    def switched() -> object:
        kernels.use(isa)
        try:
            return work()
        finally:
            kernels.use(best)

    return switched


def _signs(rows: FloatArray) -> NDArray[np.uint64]:
    return np.packbits(rows > 0, axis=1).view(np.uint64)


def _nearest(signs: NDArray[np.uint64], query: NDArray[np.uint64], k: int) -> Rows:
    distances = np.bitwise_count(signs ^ query).sum(axis=1, dtype=np.int32)
    return np.argsort(distances, kind="stable")[:k]


if __name__ == "__main__":
    on_one_thread()
    main()
