"""What works on this device, what works more slowly, and what is missing."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal

import typer
from rich.console import Console
from rich.text import Text

from smartrag import kernels, models
from smartrag.cli.documents import Json
from smartrag.cli.options import Options, options_of
from smartrag.cli.output import print_json, results
from smartrag.cli.text import counted, one_line, size
from smartrag.errors import ModelError, SmartRAGError
from smartrag.kernels import _native
from smartrag.settings import Settings

_LIBRARIES = (
    ("typer", "typer", "cli"),
    ("rich", "rich", "cli"),
    ("onnxruntime", "onnxruntime", "encoder"),
    ("tokenizers", "tokenizers", "encoder"),
    ("llama-cpp-python", "llama_cpp", "llm"),
    ("pypdf", "pypdf", "pdf"),
)
"""Distribution, module and the extra of SmartRAG that brings it."""

_STYLES = {"ok": "green", "fallback": "yellow", "missing": "red"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `remedy` says what to do about it where it is not ok."""

    name: str
    state: Literal["ok", "fallback", "missing"]
    found: str
    remedy: str = ""


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Say what works on this device, what is missing and how to get it."""
    checks = list(examine(options_of(context)))
    if as_json:
        print_json(checks)
    else:
        show_checks(results(), checks)


def examine(options: Options) -> Iterator[Check]:
    """Look at everything that SmartRAG needs; nothing is fetched, an older store is lifted."""
    yield Check("SmartRAG", "ok", version("smartrag"))
    yield Check("Python", "ok", f"{platform.python_version()} ({platform.python_implementation()})")
    yield Check("platform", "ok", f"{platform.platform()}, {counted(os.cpu_count() or 1, 'core')}")
    yield _sqlite()
    yield _kernels()
    for library in _LIBRARIES:
        yield _library(*library)
    try:
        settings = options.settings()
        if options.settings_file:
            yield Check("settings", "ok", str(options.settings_file))
    except SmartRAGError as error:
        yield Check("settings", "missing", f"{error.subject} {error.problem}".strip(), error.remedy)
        settings = Settings()
    yield _model("encoder", settings.perception.encoder)
    yield _model("language model", settings.thinking.model)
    yield from _store(options, settings)


def build_kernels() -> None:
    """Compile the kernels for this device, for which no wheel brings them (phones under Termux)."""
    path = kernels.build()
    results().print(Text(f"compiled: {path}"), highlight=False, soft_wrap=True)


def show_checks(console: Console, checks: list[Check]) -> None:
    """One line for each check, and the remedy below it where there is one."""
    wide = max(len(check.name) for check in checks)
    for check in checks:
        console.print(
            Text.assemble(
                (f"{check.state:<8}  ", _STYLES[check.state]),
                (f"{check.name:<{wide}}  ", "bold"),
                one_line(check.found),
            )
        )
        if check.remedy:
            console.print(Text(f"{'':<{10 + wide}}  → {one_line(check.remedy)}"))


def _sqlite() -> Check:
    # A look at the library, not at a store: the store's own index is reported with it.
    memory = sqlite3.connect(":memory:")
    try:
        fts5 = memory.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    except sqlite3.Error:  # older than the list of modules
        fts5 = None
    finally:
        memory.close()
    if fts5:
        return Check("SQLite", "ok", f"{sqlite3.sqlite_version} with FTS5")
    return Check(
        "SQLite",
        "fallback",
        f"{sqlite3.sqlite_version} without FTS5: a slower scan takes its place",
        "Use a Python whose SQLite has FTS5 for large stores",
    )


def _kernels() -> Check:
    try:
        isa = kernels.isa()
    except SmartRAGError as error:
        return Check("kernels", "missing", error.problem, error.remedy)
    if isa != "reference":
        return Check("kernels", "ok", f"compiled ({isa})")
    if reason := _native.unavailable_reason():
        return Check(
            "kernels",
            "fallback",
            f"numpy reference: {reason}",
            "For speed, install a C++17 compiler and then run: smartrag build-kernels",
        )
    return Check(
        "kernels", "fallback", "numpy reference: it was chosen", "Unset SMARTRAG_KERNELS for speed"
    )


def _library(distribution: str, module: str, extra: str) -> Check:
    remedy = f"pip install 'smartrag[{extra}]'"
    if find_spec(module) is None:
        return Check(distribution, "missing", "not installed", remedy)
    try:
        return Check(distribution, "ok", version(distribution))
    except PackageNotFoundError:  # put there without pip: it may work all the same
        return Check(distribution, "ok", "of unknown version")


def _model(what: str, name: str) -> Check:
    try:
        return Check(what, "ok", f"{name}: {models.locate(name)}")
    except ModelError as error:
        return Check(what, "missing", f"{name}: {error.problem}", error.remedy)


def _store(options: Options, settings: Settings) -> Iterator[Check]:
    try:
        with options.to_read(settings) as memory:
            path, held = memory.store.path, memory.stats()
    except SmartRAGError as error:
        found = f"{error.subject}: {error.problem}" if error.subject else error.problem
        yield Check("store", "missing", found, error.remedy)
        return
    yield Check(
        "store",
        "ok",
        f"{path}: readable, schema {held.schema_version}, {counted(held.documents, 'document')}, "
        f"{held.failed} failed, {counted(held.paragraphs, 'paragraph')}, {size(held.file_bytes)}",
    )
    chosen = settings.perception.encoder
    if held.encoder in ("", chosen):
        yield Check("store's encoder", "ok", held.encoder or "none yet")
    else:
        yield Check(
            "store's encoder",
            "missing",
            f"{held.encoder}, but the settings say {chosen}",
            "Choose that encoder again, or renew the vectors with: smartrag reembed",
        )
    if held.lexical == "fts5":
        yield Check("store's full text", "ok", "FTS5")
    else:
        yield Check(
            "store's full text",
            "fallback",
            "no index: a slower scan takes its place",
            "Write to it once (smartrag ingest) with a Python whose SQLite has FTS5",
        )
