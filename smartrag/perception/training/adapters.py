"""Low-rank adapters for the blocks of EvoNER, by peft (LoRA: Hu et al. 2022).

What a round changes in a block is the product of two thin matrices, so a round that reaches all
blocks is kept in two megabytes in place of ten. They are merged when a stage ends: nothing outside
a stage knows of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from smartrag.errors import MissingExtra
from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.training.update import DOWN, UP

_LINEAR = ("query", "key", "value", "output", "up", "down")


@contextmanager
def adapted(model: EvoNER, lowest: int, rank: int) -> Iterator[dict[str, nn.Parameter]]:
    """Adapters of a rank on blocks `lowest`, `lowest` + 1, … as parameters by their names in an
    update; at the end they are merged into the model. All its own parameters are frozen meanwhile.
    """
    try:
        from peft import LoraConfig
        from peft.tuners.lora import LoraModel
    except ImportError as error:
        raise MissingExtra("peft", extra="train", stage="learn") from error
    targets = [f"blocks.{b}.{part}" for b in range(lowest, len(model.blocks)) for part in _LINEAR]
    config = LoraConfig(r=rank, lora_alpha=rank, target_modules=targets, lora_dropout=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it expects a model with a configuration of transformers
        wrapped = LoraModel(model, config, "default")
    pairs: dict[str, nn.Parameter] = {}
    for name in targets:
        layer: Any = model.get_submodule(name)
        pairs[f"{name}.weight{DOWN}"] = layer.lora_A["default"].weight
        pairs[f"{name}.weight{UP}"] = layer.lora_B["default"].weight
    try:
        yield pairs
    finally:
        wrapped.merge_and_unload()
