"""What a round changes in a model, as it is kept: a few tensors in float16 by the names of weights.

A tensor either replaces a weight W, or two of them are an adapter: `W.lora_down` (r, in) and
`W.lora_up` (out, r), whose product is added to W.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from smartrag.errors import MissingExtra, ModelError
from smartrag.perception.training.span_model import EvoNER

DOWN, UP = ".lora_down", ".lora_up"

Update = Mapping[str, Tensor]


def joined(earlier: Update, later: Update) -> dict[str, Tensor]:
    """Both, one after the other, as one: adapters of one weight add up when they stand side by
    side."""
    both = {**earlier, **later}
    for name in earlier.keys() & later.keys():
        if name.endswith(DOWN):
            both[name] = torch.cat([earlier[name], later[name]], 0)
        elif name.endswith(UP):
            both[name] = torch.cat([earlier[name], later[name]], 1)
    return both


def apply(model: EvoNER, update: Update) -> None:
    """Change `model` in place; raises ModelError when the update is of another model."""
    weights = model.state_dict()
    changed = {n: t for n, t in update.items() if not n.endswith((DOWN, UP))}
    try:
        for down in (name for name in update if name.endswith(DOWN)):
            name = down.removesuffix(DOWN)
            added = update[name + UP].float() @ update[down].float()
            changed[name] = weights[name] + added
        model.load_state_dict({**weights, **changed})
    except (KeyError, RuntimeError) as error:
        raise ModelError(
            f"what was learned does not fit the entity model ({error})",
            remedy="Learn the types again: smartrag learn --types FILE",
        ) from error


def to_bytes(update: Update) -> bytes:
    """The update as a safetensors file."""
    from safetensors.torch import save

    return save({name: tensor.half().contiguous() for name, tensor in update.items()})


def from_bytes(content: bytes) -> dict[str, Tensor]:
    """The update that `to_bytes` wrote; raises ModelError when it is damaged."""
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError as error:
        raise MissingExtra("safetensors", extra="train", stage="learn") from error
    try:
        return load(content)
    except SafetensorError as error:
        raise ModelError(
            f"what was learned cannot be read ({error})",
            remedy="Roll back with: smartrag types --rollback",
        ) from error
