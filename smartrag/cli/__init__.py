"""The command line. Every verb calls `SmartRAG` and shows what came back; nothing is decided here.

`app` lists the verbs, `documents`, `questions`, `models` and `doctor` hold them, and the files
named `render_…` turn records into lines.
"""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run `smartrag` with the arguments of the process; always leaves by SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shall show a question mark, not end the program.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"error: the command line needs the library '{error.name}'. "
            "Install it with: pip install 'smartrag[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    from smartrag.cli.guard import run

    run()
