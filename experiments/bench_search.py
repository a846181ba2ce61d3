"""A search from the question to the evidence, in several installations of SmartRAG side by side.

Each `--python` names an environment with a release installed, so that a change is seen where users
feel it. All get their own copy of one store, which newer releases may lift, and the same questions;
they take turns, twice each.

    python -m experiments.bench_search --data FILE --store STORE \\
        --python before=OLD/bin/python --python after=NEW/bin/python
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from smartrag.evaluation.datasets import load
from smartrag.evaluation.results import Result, Row, write

ROUNDS = 2

WORKER = """
import json, resource, sys, time
from collections import defaultdict
from pathlib import Path
from smartrag import SmartRAG

questions = json.load(sys.stdin)
with SmartRAG(Path(sys.argv[1])) as memory:
    memory.perception.embed("warm the encoder up")
    begun = time.perf_counter()
    memory.store.view(memory.lens)
    view_ms = 1e3 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    memory.search(questions[0])
    first_ms = 1e3 * (time.perf_counter() - begun)
    search_ms, stages = [], defaultdict(list)
    for question in questions:
        begun = time.perf_counter()
        evidence = memory.search(question)
        search_ms.append(1e3 * (time.perf_counter() - begun))
        for stage, seconds in evidence.seconds.items():
            stages[stage].append(1e3 * seconds)
    paragraphs = memory.stats().paragraphs
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
json.dump([view_ms, first_ms, search_ms, stages, paragraphs, peak], sys.stdout)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="questions")
    parser.add_argument("--corpus", type=Path, help="passages, where the questions bring none")
    parser.add_argument("--store", type=Path, required=True, help="a store of their passages")
    parser.add_argument("--python", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--limit", type=int, default=100, help="questions")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    arguments = parser.parse_args()
    pool = load(arguments.data, arguments.corpus, arguments.limit)
    questions = json.dumps([item.question for item in pool.items])
    named = (pair.split("=", 1) for pair in arguments.python)
    pythons = {name: str(Path(python).absolute()) for name, python in named}

    reports: dict[str, list[list[Any]]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        copies = {name: Path(folder) / f"{name}.db" for name in pythons}
        for copy in copies.values():
            shutil.copy(arguments.store, copy)
        for _ in range(1 + ROUNDS):  # the first round lifts the copies and warms the disk
            for name, python in pythons.items():
                reports[name].append(report(python, copies[name], questions))
    rows = [row(name, of_rounds[1:]) for name, of_rounds in reports.items()]
    command = shlex.join(["python", "-m", "experiments.bench_search", *sys.argv[1:]])
    result = Result.of_this_run("search_path", command, 0, rows, pool.files)
    print(write(result, arguments.results).with_suffix(".md").read_text(encoding="utf-8"))


def report(python: str, store: Path, questions: str) -> list[Any]:
    """What the worker measured in one environment."""
    done = subprocess.run(
        [python, "-c", WORKER, str(store)],
        input=questions,
        capture_output=True,
        text=True,
        check=True,
        cwd=store.parent,  # not this checkout, whose package would be imported
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def row(name: str, reports: list[list[Any]]) -> Row:
    """One environment over its rounds: medians, and quantiles over all searches."""
    views, firsts, searches, stages, paragraphs, peaks = zip(*reports, strict=True)
    all_ms = np.concatenate(searches)
    by_stage = {f"{stage}_ms": float(np.median([s[stage] for s in stages])) for stage in stages[0]}
    return {
        "method": name,
        "paragraphs": paragraphs[0],
        "n": len(searches[0]),
        "p50_ms": float(np.quantile(all_ms, 0.5)),
        "p95_ms": float(np.quantile(all_ms, 0.95)),
        "view_ms": float(np.median(views)),
        "first_search_ms": float(np.median(firsts)),
        **by_stage,
        "peak_memory_bytes": min(peaks),
    }


if __name__ == "__main__":
    main()
