"""The verbs that train: `smartrag learn` on the device, `smartrag train base` as it is shipped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from smartrag.cli.battery import charge
from smartrag.cli.options import options_of
from smartrag.cli.output import remarks, results
from smartrag.errors import LearningRefused, MissingExtra
from smartrag.learning import RoundOutcome
from smartrag.models import locate
from smartrag.perception import Encoder, evoner
from smartrag.perception.lessons import read_lesson
from smartrag.settings import PerceptionSettings
from smartrag.system import SmartRAG

train_app = typer.Typer(no_args_is_help=True, help="Train the models that come with SmartRAG.")


def learn(
    context: typer.Context,
    types: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sentences (JSON Lines) with the new types labelled."),
    ] = None,
    from_pending: Annotated[
        bool,
        typer.Option("--from-pending", help="Learn what `smartrag types discover` proposes."),
    ] = False,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Name discovered types without a language model.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Begin no stage after so long; the same command goes on later."),
    ] = None,
    min_charge: Annotated[
        int | None,
        typer.Option(min=0, max=100, help="Begin no stage below so many percent of the battery."),
    ] = None,
    bound: Annotated[
        float | None, typer.Option(min=0, help="Points of F1 that older types may lose.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Train whole blocks in place of small adapters.")
    ] = False,
    retype: Annotated[
        bool, typer.Option(help="Find the new types in the documents at once.")
    ] = True,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Drop the round that is under way.")
    ] = False,
) -> None:
    """Learn new types of entities, without forgetting the old ones."""
    if (types is not None) + from_pending + abandon != 1:
        raise typer.BadParameter("give one of --types FILE, --from-pending and --abandon")
    chosen = options_of(context).settings()
    changes = {
        name: value
        for name, value in (("bound", bound), ("adapter_rank", 0 if full else None))
        if value is not None
    }
    settings = replace(chosen, learning=replace(chosen.learning, **changes))  # type: ignore[arg-type]
    with options_of(context).to_change(settings) as memory:
        if abandon:
            memory.store.versions.abandon()
            results().print("no round is under way")
            return
        budget, report = _budget(minutes, min_charge), remarks().print
        if types is not None:
            outcome = memory.learn(read_lesson(types, memory.types()), budget, report)
        else:
            found = memory.discover(ask_model=not no_llm)
            if not found.lesson.new:
                results().print("nothing to learn: no kind of mention is frequent enough")
                return
            outcome = memory.learn(found.lesson, budget, report, found.paragraphs)
        _show(outcome)
        if outcome.outcome == "learned" and retype:
            read_again(memory)


def _budget(minutes: float | None, min_charge: int | None) -> Callable[[str], bool]:
    """Whether the next stage may begin; raises LearningRefused where the charge is unknown."""
    began = time.monotonic()
    if min_charge is not None and charge() is None:
        raise LearningRefused(
            "this device does not say how full its battery is",
            remedy="Install the Termux:API app and package, or leave out --min-charge",
        )

    def may_go_on(stage: str) -> bool:
        left = charge() if min_charge is not None else None
        if left is not None and min_charge is not None and left < min_charge:
            remarks().print(Text(f"the battery is at {left} %: stopped before '{stage}'"))
            return False
        if minutes is not None and time.monotonic() - began >= 60 * minutes:
            remarks().print(Text(f"the time is used up: stopped before '{stage}'"))
            return False
        return True

    return may_go_on


def _show(outcome: RoundOutcome) -> None:
    console = results()
    if outcome.outcome == "paused":
        console.print(f"paused after stage {outcome.stages}; the same command goes on")
        return
    names = ", ".join(outcome.types)
    console.print(Text(f"learned as version {outcome.version}, on trial: {names}"))
    for held in outcome.held:
        before, after = 100 * held.before.typed, 100 * held.after.typed
        console.print(Text(f"{held.name}: F1 {before:.1f} before, {after:.1f} after"))


def read_again(memory: SmartRAG) -> None:
    """Work off the queue of paragraphs that another version has read."""
    console = remarks()
    done = 0
    for done, waiting in memory.retype():
        console.print(f"read again: {done} paragraphs, {waiting} wait")
    results().print(f"{done} paragraphs were read again")


@train_app.callback()
def _group() -> None:
    """Train the models that come with SmartRAG."""


@train_app.command("relations")
def train_relations(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Holds re-docred-doc.dev and knowledgenet.train (.jsonl.gz)."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the classifier is written.")],
    seed: Annotated[int, typer.Option(help="Of everything that chance decides.")] = 0,
) -> None:
    """Train the relation classifier on the shipped EvoNER: some ten minutes on two cores."""
    try:
        from smartrag.perception.training import relations
    except ImportError as error:
        raise MissingExtra("torch", extra="train", stage="learn") from error
    known = evoner.shipped()
    encoder_path = locate(PerceptionSettings().encoder)
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=known.shared)
    console = remarks()
    recipe = relations.RelationRecipe(seed=seed)
    model, types = relations.train_relations(data, encoder, known, recipe, console.print)
    relations.save_relations(out, model, types, known)
    console.print(f"written: {out}")


@train_app.command("base")
def train_base(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Holds few-nerd.dev, few-nerd-train36.train and re-docred.dev (.jsonl.gz).",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the model is written.")],
    seed: Annotated[int, typer.Option(help="Of everything that chance decides.")] = 0,
) -> None:
    """Train EvoNER's base model as it is shipped: some two hours on two cores."""
    try:
        from smartrag.perception.training import base, checkpoint
    except ImportError as error:
        raise MissingExtra("torch", extra="train", stage="learn") from error
    recipe = replace(base.Recipe(), seed=seed)
    found = base.corpus(data, recipe)
    encoder_path = locate(PerceptionSettings().encoder)
    shared = base.shared_states(encoder_path)
    encoder = Encoder(encoder_path, PerceptionSettings(), shared=shared)
    weights = checkpoint.encoder_weights(locate(base.ENCODER_WEIGHTS))
    console = remarks()
    model, caution = base.train_base(found, encoder, weights, recipe, console.print)
    checkpoint.save(out, model, base.inventory(recipe), shared, caution)
    checkpoint.save_sentences(out, *base.kept(found, recipe))
    console.print(f"written: {out}")
