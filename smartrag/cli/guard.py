"""What the user sees when something goes wrong: one sentence and an exit code, never a traceback.

    0    done                     2    the command line was not understood
    1    refused or failed        70   an error of SmartRAG itself
                                  130  interrupted

SMARTRAG_DEBUG=1 shows the traceback of an error of SmartRAG itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from smartrag.cli.text import one_line
from smartrag.errors import SmartRAGError

REFUSED, USAGE, INTERNAL, INTERRUPTED = 1, 2, 70, 130

# Some releases of typer bring click's classes along and some import click; this is either's.
_CommandLineError = typer.BadParameter.__mro__[2]
_FLOW: tuple[type[BaseException], ...] = (typer.Exit, typer.Abort, _CommandLineError)


class Guarded(TyperGroup):
    """A group of commands whose errors are reported in one sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        with reported():
            result = super().invoke(ctx)
            # What a closed pipe refuses shall be noticed here and not when Python shuts down.
            sys.stdout.flush()
            return result


@contextmanager
def reported() -> Iterator[None]:
    """Turn whatever is raised inside into a line on stderr and `typer.Exit`."""
    try:
        yield
    except _FLOW:
        raise
    except SmartRAGError as error:
        _say(f"error: {error}")
        raise typer.Exit(REFUSED) from None
    except KeyboardInterrupt:
        _say("interrupted; everything finished so far is kept")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Python flushes once more while it shuts
        # down, so the closed pipe is replaced first.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(REFUSED) from None
    except Exception as error:
        if os.environ.get("SMARTRAG_DEBUG"):
            raise
        _say(
            f"internal error ({type(error).__name__}: {error}): this is a fault of SmartRAG, "
            "please report it; run with SMARTRAG_DEBUG=1 for the traceback"
        )
        raise typer.Exit(INTERNAL) from None


def run() -> None:
    """Load the commands and run the one that was asked for."""
    try:
        with reported():
            from smartrag.cli.app import app
    except typer.Exit as left:
        raise SystemExit(left.exit_code) from None
    app()


def _say(sentence: str) -> None:
    print(one_line(sentence), file=sys.stderr, flush=True)
