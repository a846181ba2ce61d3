"""What entities do for retrieval: the same retrieval code over runs of capitals and over EvoNER.

Every pool is read twice for each recogniser, with its titles and without: then neither the texts
nor the vectors nor the full-text index hold them.

    python -m experiments.graph_effect --data ../shared/data/qa hotpotqa.dev_distractor 2wiki.dev
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from experiments.capitalised import CapitalisedSpans
from smartrag import Settings
from smartrag.evaluation import retrieval
from smartrag.evaluation.datasets import DataFile, Pool, load
from smartrag.evaluation.pools import pooled
from smartrag.evaluation.results import ModelFile, Result, Row, write

CORPORA = {"2wiki.dev_open": "2wiki.corpus", "lihua.test": "lihua.corpus"}
"""Files whose questions bring no passages of their own."""

WITHOUT_TITLES = frozenset(CORPORA)
"""Read once only: chats have dates for titles, and the large pool takes long."""

KEPT = ("recall@2", "recall@5", "recall@8", "all@5", "mrr", "ingest_paragraphs_per_s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="data files, without .jsonl.gz")
    parser.add_argument("--data", type=Path, required=True, help="their folder")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    parser.add_argument("--name", default="graph_effect", help="of the result")
    arguments = parser.parse_args()
    rows: list[Row] = []
    files: list[DataFile] = []
    encoder: ModelFile | None = None
    for name in arguments.names:
        corpus = CORPORA.get(name)
        pool = load(
            arguments.data / f"{name}.jsonl.gz",
            arguments.data / f"{corpus}.jsonl.gz" if corpus else None,
        )
        files += pool.files
        for titled, variant in variants(pool):
            for recogniser in ("capitals", "evoner"):
                row, encoder = measured(variant, recogniser)
                rows.append({"data": pool.name, "titles": titled, "recogniser": recogniser, **row})
                print(rows[-1], flush=True)
    command = shlex.join(["python", "-m", "experiments.graph_effect", *sys.argv[1:]])
    assert encoder is not None
    print(
        write(
            Result.of_this_run(arguments.name, command, 0, rows, files, [encoder]),
            arguments.results,
        )
    )


def variants(pool: Pool) -> Iterator[tuple[bool, Pool]]:
    """The pool with titles and, where that says something, without."""
    yield True, pool
    if pool.name not in WITHOUT_TITLES:
        yield False, replace(pool, passages=tuple(replace(p, title="") for p in pool.passages))


def measured(pool: Pool, recogniser: str) -> tuple[Row, ModelFile]:
    """The figures of one run over one pool."""
    perceiver = CapitalisedSpans() if recogniser == "capitals" else None
    with pooled(pool, Settings(), None, None, perceiver) as asked:
        [row] = retrieval.evaluate(pool, asked, ["smartrag"], seed=0)
        stats = asked.memory.stats()
        encoder = asked.encoder_file()
    counts = {"entities": stats.entities, "mentions": stats.mentions}
    low_high = {f"{k}{e}": row[f"{k}{e}"] for k in ("recall@5", "all@5") for e in ("_low", "_high")}
    return {**{k: row[k] for k in KEPT}, **low_high, **counts}, encoder


if __name__ == "__main__":
    main()
