"""Fits the confidence gate: can the question be answered from what was found?

Half of the questions of each file lose their gold paragraphs before the pool is ingested, so the
other half can be answered and they cannot, over one and the same store. Files are train files, and
`nq.dev_gold` for look-ups; no test file takes part.

    python -m experiments.fit_confidence --data-dir ../shared/data/qa
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import astuple, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from smartrag import Document, SmartRAG
from smartrag.evaluation.datasets import DataFile, Pool, load
from smartrag.evaluation.results import ModelFile, Result, write
from smartrag.types import Signals

FILES = ("hotpotqa.train", "2wiki.train", "musique.train", "nq.dev_gold")
COVERAGE = 0.95  # share of answerable questions that the threshold must let pass
RIDGE = 1e-2

Matrix = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    parser.add_argument("--limit", type=int, default=300, help="questions of each file")
    arguments = parser.parse_args()
    measured: dict[str, tuple[Matrix, Matrix]] = {}
    files: list[DataFile] = []
    encoder: ModelFile | None = None
    for name in FILES:
        pool = load(arguments.data_dir / f"{name}.jsonl.gz", limit=arguments.limit)
        files += pool.files
        found, answerable, encoder = signals_of(pool)
        measured[name] = (found, answerable)
    all_signals = np.concatenate([s for s, _ in measured.values()])
    all_answerable = np.concatenate([a for _, a in measured.values()])
    weights = fit(all_signals, all_answerable)
    threshold = float(np.quantile(predict(all_signals, weights)[all_answerable > 0], 1 - COVERAGE))
    rows: list[dict[str, str | int | float | bool | None]] = [
        {"set": name, **scores(s, a, weights, threshold)} for name, (s, a) in measured.items()
    ]
    for name in FILES:  # each set judged by weights that never saw it
        others = [n for n in FILES if n != name]
        fitted = fit(
            np.concatenate([measured[n][0] for n in others]),
            np.concatenate([measured[n][1] for n in others]),
        )
        rows.append({"set": f"{name} left out", **scores(*measured[name], fitted, threshold)})
    numbers = dict(zip(("intercept", *(f.name for f in fields(Signals))), weights, strict=True))
    rows.append({"set": "coefficients", **{f"weight_{k}": float(v) for k, v in numbers.items()}})
    assert encoder is not None
    command = shlex.join(["python", "-m", "experiments.fit_confidence", *sys.argv[1:]])
    result = Result.of_this_run("confidence", command, 0, rows, files, [encoder])
    print(write(result, arguments.results).with_suffix(".md").read_text(encoding="utf-8"))


def signals_of(pool: Pool) -> tuple[Matrix, Matrix, ModelFile]:
    """Signals (q, 4) and whether each question can be answered (q,)."""
    robbed = [item for i, item in enumerate(pool.items) if i % 2]
    gone = {place for item in robbed for place in item.gold}
    kept = [item for i, item in enumerate(pool.items) if not i % 2 and not item.gold & gone]
    with TemporaryDirectory() as folder, SmartRAG(Path(folder) / "pool.db") as memory:
        memory.add(
            Document(str(place), passage.text, title=passage.title)
            for place, passage in enumerate(pool.passages)
            if place not in gone
        )
        found = [
            [astuple(memory.search(item.question).signals) for item in items]
            for items in (kept, robbed)
        ]
        known = memory.encoder.identity
        encoder = ModelFile(Path(known.name).name, known.sha256)
    answerable = np.array([1.0] * len(kept) + [0.0] * len(robbed))
    return np.array(found[0] + found[1]), answerable, encoder


def fit(signals: Matrix, answerable: Matrix) -> Matrix:
    """Logistic regression by Newton's method with a small ridge; intercept first."""
    x = np.column_stack([np.ones(len(signals)), signals])
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (answerable - p) - RIDGE * weights
        curvature = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(x.shape[1])
        weights += np.linalg.solve(curvature, gradient)
    return weights


def predict(signals: Matrix, weights: Matrix) -> Matrix:
    probability: Matrix = 1 / (1 + np.exp(-(weights[0] + signals @ weights[1:])))
    return probability


def scores(
    signals: Matrix, answerable: Matrix, weights: Matrix, threshold: float
) -> dict[str, str | int | float | bool | None]:
    predicted = predict(signals, weights)
    yes, no = predicted[answerable > 0], predicted[answerable == 0]
    return {
        "n": len(predicted),
        "auroc": float((yes[:, None] > no[None]).mean() + 0.5 * (yes[:, None] == no[None]).mean()),
        "threshold": threshold,
        "coverage": float((yes >= threshold).mean()),
        "false_answer": float((no >= threshold).mean()),
        "false_answer_at_90": float((no >= np.quantile(yes, 0.1)).mean()),
    }


if __name__ == "__main__":
    main()
