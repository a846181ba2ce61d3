"""The encoder with its tables kept small gives the same numbers; what is no model is left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.encoder import open_session
from smartrag.perception.onnx_graph import with_output, with_small_tables
from smartrag.types import FloatArray


def states(model: bytes, tokens: int = 9) -> list[FloatArray]:
    session = open_session(model)
    ids = np.arange(100, 100 + tokens, dtype=np.int64)[None]
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": 0 * ids}
    found: list[FloatArray] = session.run(None, feed)
    return found


def test_a_table_that_is_decoded_late_gives_the_same_numbers(minilm_file: Path) -> None:
    model = minilm_file.read_bytes()
    edited = with_small_tables(model)
    assert edited != model
    assert with_small_tables(edited) == edited
    for tokens in (1, 9, 200):
        for before, after in zip(states(model, tokens), states(edited, tokens), strict=True):
            assert np.array_equal(before, after)


def test_an_output_can_be_added(minilm_file: Path) -> None:
    model = with_output(with_small_tables(minilm_file.read_bytes()), "layer_norm_6")
    assert [output.shape for output in states(model)] == [(1, 9, 384), (1, 9, 384)]


@given(st.binary(max_size=200))
def test_what_is_no_model_comes_back(content: bytes) -> None:
    assert with_small_tables(content) == content


@given(st.integers(0, 400))
def test_a_model_that_was_cut_off_comes_back(minilm_head: bytes, length: int) -> None:
    assert with_small_tables(minilm_head[:length]) == minilm_head[:length]
