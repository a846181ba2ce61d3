"""Perception alone: paragraphs a second and peak memory, from text to observations.

Everything that happens to a paragraph before it is written: splitting, one encoder pass for the
vectors of paragraph and sentences, entities, what has no type, relations, what the paragraph is
about. Each row is a process of its own, so the memory is its own too; `start_mb` is what the
libraries and the models take before the first paragraph. "entities" is the same without relations,
"capitals" without EvoNER. No language model is loaded, which is checked.

    python -m experiments.perception_speed --data ../shared/data/qa/musique.dev.jsonl.gz
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

from experiments.capitalised import CapitalisedSpans
from smartrag import Document, models
from smartrag.evaluation.datasets import load
from smartrag.evaluation.results import ModelFile, Result, Row, write
from smartrag.perception import Encoder, EvoNER, Perceiver, Perception, evoner, relations
from smartrag.perception.relations import RelationClassifier
from smartrag.settings import PerceptionSettings

PARAGRAPHS = 600
ROWS = (("whole", 2), ("whole", 1), ("entities", 2), ("capitals", 2))
_BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a file of questions")
    parser.add_argument("--results", type=Path, default=Path("experiments/results"))
    parser.add_argument("--one", nargs=2, metavar=("RECOGNISER", "WORKERS"), help="one row only")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.data, arguments.one[0], int(arguments.one[1]))))
        return
    rows: list[Row] = []
    for recogniser, workers in ROWS:
        call = [sys.executable, "-m", "experiments.perception_speed", "--data", arguments.data]
        done = subprocess.run(
            [*call, "--one", recogniser, str(workers)], check=True, capture_output=True, text=True
        )
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    command = shlex.join(["python", "-m", "experiments.perception_speed", *sys.argv[1:]])
    encoder = models.locate(PerceptionSettings().encoder)
    used = [
        ModelFile.of(encoder.name, encoder),
        ModelFile.of(evoner.GRAPH, evoner.SHIPPED / evoner.GRAPH),
    ]
    files = load(arguments.data).files
    result = Result.of_this_run("perception_speed", command, 0, rows, files, used)
    print(write(result, arguments.results))


def measured(data: Path, recogniser: str, workers: int) -> Row:
    """The figures of this process."""
    settings = PerceptionSettings(workers=workers)
    passages = load(data).passages[:PARAGRAPHS]
    known = evoner.shipped()
    shared = None if recogniser == "capitals" else known.shared
    encoder = Encoder(models.locate(settings.encoder), settings, shared=shared)
    perceiver: Perceiver = CapitalisedSpans()
    if recogniser != "capitals":
        whole = recogniser == "whole"
        classifier = RelationClassifier(relations.shipped(), known.graph) if whole else None
        perceiver = EvoNER(known, relations=classifier, workers=workers)
    perception = Perception(encoder, perceiver, settings)
    documents = [Document(str(n), p.text, p.title) for n, p in enumerate(passages)]
    perception.observe([(documents[0], p) for p in perception.split(documents[0])])
    start_mb = _peak_mb()
    began = time.perf_counter()
    drafts = [(d, p) for d in documents for p in perception.split(d)]
    mentions = pending = related = 0
    for first in range(0, len(drafts), _BATCH):
        seen = perception.observe(drafts[first : first + _BATCH])
        mentions += sum(len(o.mentions) for o in seen)
        pending += sum(len(o.pending) for o in seen)
        related += sum(len(o.triplets) for o in seen)
    seconds = time.perf_counter() - began
    assert "llama_cpp" not in sys.modules, "a language model was loaded"
    return {
        "recogniser": recogniser,
        "workers": workers,
        "paragraphs": len(drafts),
        "paragraphs_per_s": len(drafts) / seconds,
        "mentions": mentions,
        "pending": pending,
        "relations": related,
        "start_mb": start_mb,
        "peak_mb": _peak_mb(),
        "model_calls": 0,
    }


def _peak_mb() -> float:
    """The largest resident size so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
