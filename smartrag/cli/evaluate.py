"""The verbs that measure: `smartrag eval retrieval`, `answers` and `ner`."""

from __future__ import annotations

import hashlib
import itertools
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, TaskID

from smartrag.cli.documents import Json
from smartrag.cli.options import options_of
from smartrag.cli.output import columns, remarks, results
from smartrag.evaluation import answers, ner, retrieval
from smartrag.evaluation.answer_methods import METHODS as ANSWER_METHODS
from smartrag.evaluation.datasets import DataFile, load
from smartrag.evaluation.pools import pooled
from smartrag.evaluation.results import (
    ModelFile,
    Result,
    Row,
    require_writable,
    to_json,
    write,
)
from smartrag.models import locate
from smartrag.perception import Encoder, EvoNER, evoner
from smartrag.perception.labelled import read_sentences
from smartrag.settings import PerceptionSettings

evaluate_app = typer.Typer(
    no_args_is_help=True, help="Measure retrieval, answers and entities on data sets."
)


class EvidenceSource(StrEnum):
    """Where the product's evidence comes from."""

    SMARTRAG = "smartrag"
    DENSE = "dense"
    GOLD = "gold"


def _methods_option(known: Iterable[str]) -> Any:
    names = list(known)

    def check(chosen: list[str] | None) -> list[str] | None:
        for name in chosen or ():
            if name not in names:
                raise typer.BadParameter(f"'{name}' is none of {', '.join(names)}")
        return chosen

    help_ = f"One or more of {', '.join(names)}; all without it."
    return typer.Option(metavar="NAME", callback=check, help=help_)


Data = Annotated[Path, typer.Option("--data", metavar="FILE", help="Questions, JSON Lines or .gz.")]
Corpus = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Passages, where the questions bring none.")
]
Limit = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="The first N questions, over the full pool.")
]
Seed = Annotated[int, typer.Option(help="Of the bootstrap intervals.")]
Stores = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep the store of the pool here, for further runs."),
]
Into = Annotated[
    Path | None,
    typer.Option("--results", metavar="DIR", help="Also write JSON and Markdown files here."),
]


@evaluate_app.command("retrieval")
def evaluate_retrieval(
    context: typer.Context,
    data: Data,
    corpus: Corpus = None,
    method: Annotated[list[str] | None, _methods_option(retrieval.METHODS)] = None,
    limit: Limit = None,
    seed: Seed = 0,
    stores: Stores = None,
    into: Into = None,
    as_json: Json = False,
) -> None:
    """Recall of the gold paragraphs when all paragraphs of a file share one store."""
    settings = options_of(context).settings()
    if into is not None:
        require_writable(into)
    pool = load(data, corpus, limit)
    methods = method or list(retrieval.METHODS)
    with pooled(pool, settings, None, stores) as asked, _progress() as on_question:
        rows = retrieval.evaluate(pool, asked, methods, seed, on_question)
        encoder = asked.encoder_file()
    result = Result.of_this_run(
        f"retrieval.{pool.name}", _command(), seed, rows, pool.files, [encoder]
    )
    _show(result, _RETRIEVAL_COLUMNS, into, as_json=as_json)


@evaluate_app.command("answers")
def evaluate_answers(
    context: typer.Context,
    data: Data,
    model: Annotated[str, typer.Option(metavar="NAME", help="A model's name or a GGUF file.")],
    corpus: Corpus = None,
    method: Annotated[list[str] | None, _methods_option(ANSWER_METHODS)] = None,
    evidence: Annotated[
        EvidenceSource, typer.Option(help="Where the product's evidence comes from.")
    ] = EvidenceSource.SMARTRAG,
    limit: Limit = None,
    seed: Seed = 0,
    stores: Stores = None,
    into: Into = None,
    as_json: Json = False,
) -> None:
    """F1, abstention, citations, tokens and seconds, every method with the same model file."""
    settings = options_of(context).settings()
    thinking = replace(settings.thinking, model=model, context_tokens=_WINDOW)
    chosen = replace(settings, thinking=thinking)
    used = ModelFile.of(model, locate(model))
    if into is not None:
        require_writable(into)
    pool = load(data, corpus, limit)
    methods = method or list(ANSWER_METHODS)
    with pooled(pool, chosen, None, stores) as asked, _progress() as on_question:
        rows = answers.evaluate(pool, asked.memory, methods, evidence.value, seed, on_question)
        encoder = asked.encoder_file()
    result = Result.of_this_run(
        f"answers.{pool.name}", _command(), seed, rows, pool.files, [encoder, used]
    )
    _show(result, _ANSWER_COLUMNS, into, as_json=as_json)


@evaluate_app.command("ner")
def evaluate_ner(
    context: typer.Context,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Labelled sentences, JSON Lines or .gz.")
    ],
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="The first N.")] = None,
    into: Into = None,
    as_json: Json = False,
) -> None:
    """Entities and their types against marked ones: exact borders, F1 typed and untyped."""
    settings = options_of(context).settings().perception
    if into is not None:
        require_writable(into)
    sentences = list(itertools.islice(read_sentences(data, nested=True), limit))
    model = evoner.shipped()
    encoder_path = locate(PerceptionSettings().encoder)
    encoder = Encoder(encoder_path, settings, shared=model.shared)
    perceiver = EvoNER(model, workers=settings.workers)
    rows = ner.evaluate(sentences, ner.recogniser(encoder, perceiver), model.inventory)
    used = [
        ModelFile.of(encoder_path.name, encoder_path),
        ModelFile(evoner.GRAPH, hashlib.sha256(model.graph).hexdigest()),
    ]
    name = f"ner.{data.name.removesuffix('.gz').removesuffix('.jsonl')}"
    files = [DataFile.of(data, len(sentences))]
    result = Result.of_this_run(name, _command(), 0, rows, files, used)
    _show(result, _NER_COLUMNS, into, as_json=as_json)


_WINDOW = 4096  # paper, appendix A: every method has a context of 4,096 tokens
_RETRIEVAL_COLUMNS = tuple(
    "method recall@2 recall@5 recall@8 all@5 all@8 mrr n p50_ms p95_ms ingest_paragraphs_per_s "
    "llm_calls".split()
)
_ANSWER_COLUMNS = tuple(
    "method f1 em contains abstained false_answer citation_precision citation_recall "
    "prompt_tokens ttft_s total_s llm_calls".split()
)

_NER_COLUMNS = tuple("type f1 precision recall span_f1 n found".split())


def _command() -> str:
    """The command line as it was typed, with the program's name instead of its path."""
    return shlex.join(["smartrag", *sys.argv[1:]])


def _show(result: Result, names: Sequence[str], into: Path | None, *, as_json: bool) -> None:
    if into is not None:
        written = write(result, into)
        remarks().print(f"written: {written} and its .md")
    if as_json:
        typer.echo(to_json(result))
        return
    table = columns(*names)
    for row in result.rows:
        table.add_row(*(_cell(row, name) for name in names))
    results().print(table)


def _cell(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Shows on a terminal which question of which method is being asked."""
    console = remarks()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def on_question(method: str, done: int, total: int) -> None:
            if method not in tasks:
                tasks[method] = bar.add_task(method, total=total)
            bar.update(tasks[method], completed=done)

        yield on_question
