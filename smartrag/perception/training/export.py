"""From torch to the runtime: one ONNX graph in INT8 for all versions of a model.

Every label row is in the graph from the start, so learning a type changes numbers and never shapes.
"""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from smartrag.perception.training.span_model import EvoNER
from smartrag.perception.words import CHARACTERS

OUTPUTS = ("labels", "starts", "ends", "spans")


class OneText(nn.Module):
    """EvoNER as the runtime calls it: one text, no padding, span vectors `aligned`."""

    def __init__(self, model: EvoNER, aligned: nn.Module) -> None:
        super().__init__()
        self.model, self.aligned = model, aligned

    def forward(
        self, states: Tensor, first: Tensor, codes: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """`states` (t, d), `first` (n,), `codes` (n, characters) → logits of labels (n, W, k), of
        starts (n,) and of ends (n,), and span vectors (n, W, z)."""
        words = self.model.word_vectors(states[None], None, first[None], codes[None])
        z = self.model.span_vectors(words)
        starts, ends = self.model.starts(words), self.model.ends(words)
        return self.model.labels(z)[0], starts[0, :, 0], ends[0, :, 0], self.aligned(z)[0]


def to_onnx(model: EvoNER, aligned: nn.Linear | None = None) -> bytes:
    """The graph in float32; `aligned` maps span vectors to where others expect them."""
    example = (
        torch.zeros(7, model.shape.hidden),
        torch.tensor([1, 3, 4]),
        torch.zeros(3, CHARACTERS, dtype=torch.int64),
    )
    axes = {
        "states": {0: "tokens"},
        **{name: {0: "words"} for name in ("first", "codes", *OUTPUTS)},
    }
    return graph_of(
        OneText(model, aligned or nn.Identity()),
        example,
        ["states", "first", "codes"],
        OUTPUTS,
        axes,
    )


def graph_of(
    module: nn.Module,
    example: tuple[Tensor, ...],
    inputs: Sequence[str],
    outputs: Sequence[str],
    axes: Mapping[str, Mapping[int, str]],
) -> bytes:
    """A module as an ONNX graph in float32; `axes` names those that vary, by input and output."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():  # torch calls this exporter old; the new one needs onnxscript
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            example,
            buffer,  # type: ignore[arg-type]
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(varying) for name, varying in axes.items()},
            opset_version=17,
            dynamo=False,
        )
    return buffer.getvalue()


def to_int8(graph: bytes) -> bytes:
    """The same graph with 7-bit weights in INT8, one scale a column.

    With the eighth bit, processors without VNNI instructions would overflow in their 16-bit sums,
    and results would depend on the machine.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "float.onnx"), Path(folder, "int8.onnx")
        source.write_bytes(graph)
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul", "Gemm"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        return target.read_bytes()
