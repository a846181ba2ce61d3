"""The verbs about documents and the store as a whole."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from smartrag.cli.guard import REFUSED
from smartrag.cli.options import options_of
from smartrag.cli.output import print_json, remarks, results, waiting
from smartrag.cli.render_documents import (
    INGEST_OUTCOMES,
    OUTCOMES,
    failure_line,
    report_lines,
    report_record,
    show_documents,
    show_facts,
    show_stats,
)
from smartrag.cli.text import cleaned, counted, document_name, one_line
from smartrag.errors import ReadError
from smartrag.ingest import name_of
from smartrag.perception.readers import find_files
from smartrag.types import DocumentOutcome, IngestReport, Outcome

Json = Annotated[bool, typer.Option("--json", help="Write JSON and nothing else to stdout.")]


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    as_json: Json = False,
) -> None:
    """Read files and folders into the store. No language model is needed."""
    with options_of(context).to_write() as memory:
        report = _followed(memory.ingest(paths), paths)
    if not report.outcomes:
        remarks().print("nothing was found that could be read")
    _show_report(report, INGEST_OUTCOMES, as_json=as_json)
    if not report.outcomes or _all_failed(report):
        raise typer.Exit(REFUSED)


def sync(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder.")],
    as_json: Json = False,
) -> None:
    """Make the store hold exactly the files of a folder: new, edited, moved and removed ones."""
    if not folder.is_dir():
        # Its absence would look as if all of its files had been removed.
        raise ReadError(
            "there is no such folder",
            subject=document_name(name_of(folder)),
            remedy="Check the path; to remove single documents use: smartrag forget",
        )
    with options_of(context).to_write() as memory:
        report = _followed(memory.sync(folder), [folder])
    _show_report(report, OUTCOMES, as_json=as_json)
    if _all_failed(report):
        raise typer.Exit(REFUSED)


def forget(
    context: typer.Context,
    document: Annotated[
        str, typer.Argument(metavar="DOC", help="A name from `smartrag list`, or a path.")
    ],
) -> None:
    """Remove a document and everything that only it supported."""
    with options_of(context).to_change() as memory:
        known = {info.name for info in memory.documents()}
        name = document if document in known else name_of(Path(document))
        memory.forget(name)
    results().print(Text(f"forgotten: {document_name(name)}"))


def list_documents(context: typer.Context, as_json: Json = False) -> None:
    """List the documents of the lens, and why some could not be read."""
    options = options_of(context)
    with options.to_read() as memory:
        found = memory.documents()
    if as_json:
        print_json(found)
    else:
        show_documents(results(), found, options.lens)


def stats(
    context: typer.Context,
    recall: Annotated[
        bool,
        typer.Option("--recall", help="Also measure what two-stage search finds in this lens."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Count what the store holds, over all lenses."""
    options = options_of(context)
    with options.to_read() as memory:
        counts = memory.stats()
        if recall:
            counts = replace(counts, sketch_recall=memory.sketch_recall())
    if as_json:
        print_json(counts)
    else:
        show_stats(results(), str(options.store_path()), counts)


def facts(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a person, place or thing.")],
    as_json: Json = False,
) -> None:
    """Show how a thing is related to others, and which sentences say so."""
    with options_of(context).to_read() as memory:
        found = memory.facts(cleaned(name))
    if as_json:
        print_json(found)
        return
    show_facts(results(), found)
    if not found:
        remarks().print(Text(f"no relation of '{one_line(name)}' is known"))


def reembed(context: typer.Context) -> None:
    """Renew all vectors with the encoder of the settings, after changing it."""
    with (
        options_of(context).to_change() as memory,
        waiting(remarks(), "computing vectors"),
    ):
        renewed = memory.reembed()
        encoder = memory.stats().encoder
    results().print(Text(f"{counted(renewed, 'paragraph')} now with vectors of {encoder}"))


def _followed(outcomes: Iterable[DocumentOutcome], paths: Sequence[Path]) -> IngestReport:
    """Take all outcomes, showing progress and failures on stderr as they come."""
    begun = time.perf_counter()
    taken = tuple(_with_progress(outcomes, paths))
    return IngestReport(taken, time.perf_counter() - begun)


def _with_progress(
    outcomes: Iterable[DocumentOutcome], paths: Sequence[Path]
) -> Iterator[DocumentOutcome]:
    console = remarks()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        # Only a terminal shows the bar, so only then the folders are gone through twice.
        files = find_files(paths, lambda error: None)
        total = sum(1 for _ in files) if console.is_terminal else None
        task = bar.add_task("reading", total=total)
        for outcome in outcomes:
            if outcome.outcome == "failed":
                console.print(failure_line(outcome))
            bar.advance(task)
            yield outcome


def _show_report(report: IngestReport, outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    if as_json:
        print_json(report_record(report))
    else:
        results().print(Text(report_lines(report, outcomes)))


def _all_failed(report: IngestReport) -> bool:
    return 0 < report.count("failed") == len(report.outcomes)
