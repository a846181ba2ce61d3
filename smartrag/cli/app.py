"""The command line as a whole: the options before the verb, and all verbs in one list."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from smartrag.cli import documents, questions
from smartrag.cli.doctor import build_kernels, doctor
from smartrag.cli.evaluate import evaluate_app
from smartrag.cli.guard import Guarded
from smartrag.cli.learning import learn, train_app
from smartrag.cli.models import models_app
from smartrag.cli.options import Options
from smartrag.cli.text import cleaned
from smartrag.cli.types import types_app

app = typer.Typer(
    name="smartrag",
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"smartrag {version('smartrag')}")
        raise typer.Exit


@app.callback()
def before_the_verb(
    context: typer.Context,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="SMARTRAG_STORE",
            help="The store. Without it: memory.db in the user's data folder.",
        ),
    ] = None,
    lens: Annotated[
        str, typer.Option(metavar="NAME", help="Which of the store's sets of documents.")
    ] = "default",
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings in a TOML file.")
    ] = None,
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="The version."),
    ] = False,
) -> None:
    """Ask your documents on your own device: answers with checked citations."""
    context.obj = Options(store, cleaned(lens), settings)


app.command("ingest")(documents.ingest)
app.command("sync")(documents.sync)
app.command("ask")(questions.ask)
app.command("search")(questions.search)
app.command("forget")(documents.forget)
app.command("list")(documents.list_documents)
app.command("stats")(documents.stats)
app.command("facts")(documents.facts)
app.command("reembed")(documents.reembed)
app.command("learn")(learn)
app.command("doctor")(doctor)
app.command("build-kernels")(build_kernels)
app.add_typer(types_app, name="types")
app.add_typer(models_app, name="models")
app.add_typer(evaluate_app, name="eval")
app.add_typer(train_app, name="train")
