"""The verbs that answer."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from smartrag.cli.documents import Json
from smartrag.cli.options import options_of
from smartrag.cli.output import print_json, results
from smartrag.cli.render_answers import LiveAnswer, show_answer, show_passages
from smartrag.cli.render_trace import show_trace
from smartrag.cli.text import cleaned, question_of
from smartrag.settings import Settings


class Planner(StrEnum):
    """Who plans the look-up."""

    RULES = "rules"
    MODEL = "model"


Asked = Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.")]


def ask(
    context: typer.Context,
    question: Asked,
    trace: Annotated[bool, typer.Option("--trace", help="Show how the answer came about.")] = False,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Show the evidence only; call no language model.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A name of `smartrag models`, or a GGUF file."),
    ] = None,
    planner: Annotated[Planner | None, typer.Option(help="Who plans the look-up.")] = None,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with citations that were checked."""
    asked = question_of(question)
    options = options_of(context)
    settings = _chosen(options.settings(), model, planner)
    threshold = settings.focus.confidence_threshold
    console = results()
    with options.to_read(settings) as memory:
        if no_llm:
            evidence = memory.search(asked)
            if as_json:
                print_json(evidence)
                return
            show_passages(console, evidence, threshold)
            if trace:
                show_trace(console, evidence, threshold, {}, ())
            return
        if as_json:
            print_json(memory.ask(asked))
            return
        live = LiveAnswer(console)
        try:
            answer = memory.ask(asked, live)
        except BaseException:
            live.end_line()  # what is said about the error gets a line of its own
            raise
        show_answer(console, answer, threshold, streamed=live.started)
        if trace:
            console.print()
            show_trace(console, answer.evidence, threshold, answer.seconds, answer.calls)


def search(
    context: typer.Context,
    question: Asked,
    top: Annotated[
        int | None, typer.Option(metavar="K", min=1, max=1000, help="Passages to show.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the passages that bear on a question, best first. No language model is called."""
    asked = question_of(question)
    options = options_of(context)
    settings = options.settings()
    if top is not None:
        settings = replace(settings, focus=replace(settings.focus, top_k=top))
    with options.to_read(settings) as memory:
        evidence = memory.search(asked)
    if as_json:
        print_json(evidence)
    else:
        show_passages(results(), evidence, settings.focus.confidence_threshold)


def _chosen(settings: Settings, model: str | None, planner: Planner | None) -> Settings:
    thinking = settings.thinking
    if model is not None:
        thinking = replace(thinking, model=cleaned(model))
    if planner is not None:
        thinking = replace(thinking, planner="rules" if planner is Planner.RULES else "model")
    return replace(settings, thinking=thinking)
