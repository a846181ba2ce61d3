"""Where lines go: results to stdout, everything else to stderr; JSON is for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.table import Table

_WIDE = 100_000


def results() -> Console:
    """The console for what was asked for."""
    return _console(stderr=False)


def remarks() -> Console:
    """The console for progress, failures and hints."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    # Texts of documents pass through here: no markup, no emoji codes, no guessed colours.
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # a file or a pipe gets whole lines
    return console


def print_json(value: object) -> None:
    """Write records as JSON in ASCII, which every locale can write."""
    typer.echo(json.dumps(_plain(value), indent=2))


def columns(*names: str) -> Table:
    """An empty table with these headings and no frame."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    return table


@contextmanager
def waiting(console: Console, what: str) -> Iterator[None]:
    """Show on a terminal that work is being done."""
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        yield


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
