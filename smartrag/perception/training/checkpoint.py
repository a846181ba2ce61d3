"""Models on disk: what the runtime reads, and beside it the weights that learning goes on from.

A folder holds `evoner.onnx` (INT8, for the runtime), `evoner.safetensors` (float16, for learning)
and `evoner.json`, which describes both. The description is written last and each file moved to its
place when it is complete, so a folder with a description is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from smartrag.errors import MissingExtra, ModelError
from smartrag.perception.encoder import SharedStates
from smartrag.perception.evoner import DESCRIPTION, GRAPH, load
from smartrag.perception.labelled import read_sentences, write_sentences
from smartrag.perception.labels import Inventory
from smartrag.perception.lessons import Lesson
from smartrag.perception.training.export import to_int8, to_onnx
from smartrag.perception.training.span_model import EvoNER, Shape

WEIGHTS = "evoner.safetensors"
REPLAY, CHECK = "replay.jsonl.gz", "check.jsonl.gz"
"""Sentences of the base types: some that every later round is shown again, and others, of the
development split, on which it must not do worse."""


def save(
    folder: Path, model: EvoNER, inventory: Inventory, shared: SharedStates, caution: float
) -> None:
    """Write a model to a folder, which is made if need be."""
    from safetensors.torch import save as to_safetensors

    folder.mkdir(parents=True, exist_ok=True)
    graph = to_int8(to_onnx(model))
    halves = {name: tensor.half() for name, tensor in model.state_dict().items()}
    weights = to_safetensors(halves)
    described = {
        "sha256": hashlib.sha256(graph).hexdigest(),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "shared": asdict(shared),
        "caution": caution,
        "shape": asdict(model.shape),
        "inventory": json.loads(inventory.to_json()),
    }
    (folder / DESCRIPTION).unlink(missing_ok=True)
    _replace(folder / GRAPH, graph)
    _replace(folder / WEIGHTS, weights)
    _replace(folder / DESCRIPTION, (json.dumps(described, indent=1) + "\n").encode())


def save_sentences(folder: Path, replay: Lesson, check: Lesson) -> None:
    """Write what later rounds are shown again and checked on."""
    for name, lesson in ((REPLAY, replay), (CHECK, check)):
        write_sentences(folder / name, lesson.sentences)


def replay(folder: Path) -> Lesson:
    """What every round is shown again."""
    return Lesson({}, tuple(read_sentences(folder / REPLAY)))


def check(folder: Path) -> Lesson:
    """What the base types are checked on."""
    return Lesson({}, tuple(read_sentences(folder / CHECK)))


def encoder_weights(path: Path) -> dict[str, Tensor]:
    """The float32 weights of a BERT encoder in a safetensors file, by name."""
    from safetensors.torch import load_file

    return load_file(path)


def weights_sha256(folder: Path) -> str:
    """The sum of the weights that learning goes on from, as the description states it."""
    return str(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["weights_sha256"])


def trainable(folder: Path) -> EvoNER:
    """The model of a folder in torch, float32; raises ModelError when it is damaged."""
    try:
        from safetensors.torch import load as from_safetensors
    except ImportError as error:
        raise MissingExtra("safetensors", extra="train", stage="learn") from error

    load(folder)  # checks what the runtime will read
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        content = (folder / WEIGHTS).read_bytes()
        if hashlib.sha256(content).hexdigest() != described["weights_sha256"]:
            raise ValueError("the weights do not have the sum in the description")
        model = EvoNER(Shape(**described["shape"]))
        halves = from_safetensors(content)
        model.load_state_dict({name: half.to(torch.float32) for name, half in halves.items()})
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ModelError(
            f"the weights of the entity model cannot be read ({error})",
            subject=str(folder),
            remedy="Install SmartRAG again",
        ) from error
    return model


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
