"""What training writes is what the runtime reads: the same scores, in ONNX and in INT8."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from smartrag.errors import ModelError
from smartrag.perception import EvoNER as Runtime
from smartrag.perception import evoner
from smartrag.perception.encoder import SharedStates, open_session
from smartrag.perception.labels import Inventory, TypeRow
from smartrag.perception.training.checkpoint import WEIGHTS, save, trainable
from smartrag.perception.training.data import collate
from smartrag.perception.training.export import to_int8, to_onnx
from smartrag.perception.training.span_model import EvoNER
from smartrag.types import FloatArray
from tests.perception.training.conftest import MakeExample

THREE = Inventory(6, (TypeRow(1, "a"), TypeRow(2, "b"), TypeRow(3, "c")))
SHARED = SharedStates("0" * 64, "states")


def in_torch(model: EvoNER, example: object) -> FloatArray:
    batch = collate([example], 6, 3)  # type: ignore[list-item]
    with torch.no_grad():
        labels = model(batch.states, batch.mask, batch.first, batch.codes).labels[0]
    scores: FloatArray = labels.numpy()[..., :4]
    return scores


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_the_exported_graph_scores_as_torch_does(tiny: EvoNER, text: MakeExample, n: int) -> None:
    example = text(n, seed=n)
    feed = {
        "states": example.words.states,
        "first": example.words.first,
        "codes": example.words.codes,
    }
    graph = to_onnx(tiny)
    [exact] = open_session(graph).run(["labels"], feed)
    valid = collate([example], 6, 3).valid[0].numpy()
    wanted = in_torch(tiny, example)
    np.testing.assert_allclose(exact[..., :4][valid], wanted[valid], atol=1e-5)
    [coarse] = open_session(to_int8(graph)).run(["labels"], feed)
    assert coarse.shape == (n, 3, 6)
    np.testing.assert_allclose(coarse[..., :4][valid], wanted[valid], atol=0.05)


def test_a_saved_model_is_read_by_the_runtime_and_learned_on(
    tiny: EvoNER, text: MakeExample, tmp_path: Path
) -> None:
    save(tmp_path, tiny, THREE, SHARED, 0.25)
    model = evoner.load(tmp_path)
    assert (model.inventory, model.shared, model.caution) == (THREE, SHARED, 0.25)
    example = text(5)
    np.testing.assert_allclose(
        Runtime(model).scores(example.words)[0], in_torch(tiny, example), atol=0.05
    )
    again = trainable(tmp_path)
    np.testing.assert_allclose(in_torch(again, example), in_torch(tiny, example), atol=5e-3)


def test_weights_of_another_model_are_refused(tiny: EvoNER, tmp_path: Path) -> None:
    save(tmp_path, tiny, THREE, SHARED, 0.0)
    (tmp_path / WEIGHTS).write_bytes(b"other")
    with pytest.raises(ModelError, match="sum in the description"):
        trainable(tmp_path)


def test_a_folder_whose_writing_was_broken_off_has_no_model(
    tiny: EvoNER, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, tiny, THREE, SHARED, 0.0)
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(tmp_path, tiny, THREE, SHARED, 0.5)
    monkeypatch.undo()
    assert evoner.load(tmp_path).caution == 0.0  # nothing was touched yet
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "evoner.json",
        "evoner.onnx",
        "evoner.safetensors",
    ]
