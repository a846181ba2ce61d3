"""Documents as lines and tables: what became of them, which there are, what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import get_args

from rich.console import Console
from rich.text import Text

from smartrag.cli.output import columns
from smartrag.cli.text import counted, document_name, one_line, shown, size
from smartrag.types import DocumentInfo, DocumentOutcome, Fact, IngestReport, Outcome, StoreStats

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
INGEST_OUTCOMES: tuple[Outcome, ...] = ("added", "replaced", "unchanged", "duplicate", "failed")
"""What can become of a document that is read; a sync can also rename and remove."""


def failure_line(outcome: DocumentOutcome) -> Text:
    """One line that says why a document could not be read."""
    return Text.assemble(
        ("failed: ", "red"),
        f"{document_name(outcome.name)}: {_reason(outcome.name, outcome.reason)}",
    )


def report_lines(report: IngestReport, outcomes: Sequence[Outcome]) -> str:
    """The summary of an ingest or sync; the counts add up to the total."""
    counts = ", ".join(f"{report.count(outcome):,} {outcome}" for outcome in outcomes)
    speed = f", {_per_second(report):,.1f} paragraphs/s" if report.paragraphs else ""
    return (
        f"{counted(len(report.outcomes), 'document')}: {counts}\n"
        f"{counted(report.paragraphs, 'paragraph')} written in {report.seconds:.2f} s{speed}"
    )


def report_record(report: IngestReport) -> dict[str, object]:
    """The same as a record for JSON, with every outcome."""
    found = Counter(outcome.outcome for outcome in report.outcomes)
    return {
        "total": len(report.outcomes),
        "counts": {outcome: found[outcome] for outcome in OUTCOMES},
        "paragraphs": report.paragraphs,
        "seconds": report.seconds,
        "paragraphs_per_second": _per_second(report),
        "outcomes": [asdict(outcome) for outcome in report.outcomes],
    }


def show_documents(console: Console, documents: Sequence[DocumentInfo], lens: str) -> None:
    """The documents of a lens as a table."""
    if not documents:
        console.print(f"no documents in lens '{one_line(lens)}'")
        return
    table = columns("name", "title", "status", "paragraphs", "reason")
    table.columns[3].justify = "right"
    for d in documents:
        table.add_row(
            document_name(d.name),
            one_line(d.title, 60),
            Text(d.status, "red" if d.status == "failed" else ""),
            f"{d.paragraphs:,}",
            _reason(d.name, d.reason),
        )
    console.print(table)


def show_stats(console: Console, path: str, stats: StoreStats) -> None:
    """What a store holds, one fact a line."""
    facts = {
        "store": shown(path),
        "documents": f"{stats.documents:,} ({stats.failed:,} more failed)",
        "paragraphs": f"{stats.paragraphs:,}",
        "sentences": f"{stats.sentences:,}",
        "entities": f"{stats.entities:,}",
        "mentions": f"{stats.mentions:,}",
        "relations": f"{stats.relations:,}",
        "size": size(stats.file_bytes),
        "schema": str(stats.schema_version),
        "encoder": stats.encoder or "none yet",
        "full text": "FTS5" if stats.lexical == "fts5" else "scan (this SQLite has no FTS5)",
    }
    if stats.sketch_recall is not None:
        facts["two stages"] = f"find {stats.sketch_recall:.1%} of the 10 nearest paragraphs"
    for name, fact in facts.items():
        console.print(Text.assemble((f"{name:<12}", "bold"), fact))


def show_facts(console: Console, facts: Sequence[Fact]) -> None:
    """Each fact with its surest statement, and how many others there are."""
    for fact in facts:
        surest = fact.statements[0]
        console.print(
            Text.assemble(
                one_line(fact.head), (f" —{fact.relation}→ ", "bold"), one_line(fact.tail)
            )
        )
        others = f" (and {len(fact.statements) - 1} more)" if len(fact.statements) > 1 else ""
        place = f"{document_name(surest.document)}:{surest.start}"
        console.print(Text(f"  {one_line(surest.text, 160)} — {place}{others}"))


def _per_second(report: IngestReport) -> float:
    return report.paragraphs / report.seconds if report.seconds > 0 else 0.0


def _reason(name: str, reason: str) -> str:
    # Errors name their document; beside the name that would be said twice.
    return one_line(reason.replace(f"read: {name}: ", "", 1))
