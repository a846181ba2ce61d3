"""The verbs that train: `smartrag train base`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from smartrag.cli.output import remarks
from smartrag.errors import MissingExtra
from smartrag.models import locate
from smartrag.perception import Encoder
from smartrag.settings import PerceptionSettings

train_app = typer.Typer(no_args_is_help=True, help="Train the models that come with SmartRAG.")


@train_app.callback()
def _group() -> None:
    """Train the models that come with SmartRAG."""


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
    console.print(f"written: {out}")
