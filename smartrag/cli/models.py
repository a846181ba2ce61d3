"""The verbs about model files. Only `pull` touches the network."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from smartrag import models
from smartrag.cli.output import columns, remarks, results
from smartrag.cli.text import size
from smartrag.models import registry

models_app = typer.Typer(
    name="models", help="List, fetch, check and remove model files.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from `smartrag models`.")]


@models_app.callback()
def models_default(context: typer.Context) -> None:
    """List, fetch, check and remove model files. Alone it lists them."""
    if context.invoked_subcommand is None:
        list_models()


@models_app.command("list")
def list_models() -> None:
    """List the models that SmartRAG knows and which of them are on this device."""
    table = columns("name", "kind", "size", "state", "licence")
    table.columns[2].justify = "right"
    styles = {"ready": "green", "partial": "yellow", "missing": ""}
    for model in models.MODELS:
        state = models.state(model)
        sizes = [file.size_bytes for file in model.files]
        known = [bytes_ for bytes_ in sizes if bytes_ is not None]
        table.add_row(
            model.name,
            model.kind,
            size(sum(known)) if len(known) == len(sizes) else "unknown",
            Text(state, styles[state]),
            model.licence,
        )
    results().print(table)


@models_app.command()
def pull(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Names to fetch.")],
) -> None:
    """Fetch models; files that are there already are left alone."""
    for name in names:  # a misspelt last name shall not be noticed after the first gigabyte
        registry.find(name)
    console = remarks()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        for name in names:
            place = models.pull(name, _Shown(bar, name))
            results().print(Text(f"{name}: {place}"))


@models_app.command()
def path(name: Name) -> None:
    """Print where the main file of a model lies."""
    results().print(Text(str(models.locate(name))))


@models_app.command()
def verify(name: Name) -> None:
    """Hash the files of a model again; a damaged one is removed."""
    models.verify(name)
    results().print(Text(f"{name}: the files are whole"))


@models_app.command()
def remove(name: Name) -> None:
    """Delete the files of a model, unfinished ones too."""
    was_there = registry.folder_of(registry.find(name)).is_dir()
    models.remove(name)
    results().print(Text(f"{name}: {'removed' if was_there else 'nothing to remove'}"))


class _Shown:
    """Shows the progress of one model, a bar for each of its files."""

    def __init__(self, bar: Progress, model: str) -> None:
        self._bar = bar
        self._model = model
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(f"{self._model}: {what}", total=None)
        self._bar.update(self._tasks[what], completed=done, total=total or None)
