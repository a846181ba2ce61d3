from __future__ import annotations

from dataclasses import replace

import torch

from smartrag.perception.training.data import collate
from smartrag.perception.training.span_model import EvoNER, reserve
from tests.perception.training.conftest import TINY, MakeExample


def test_scores_have_their_shapes(tiny: EvoNER, text: MakeExample) -> None:
    batch = collate([text(5), text(3)], 4, 3)
    scores = tiny(batch.states, batch.mask, batch.first, batch.codes, 4)
    assert scores.labels.shape == (2, 5, 3, 4)
    assert scores.starts.shape == scores.ends.shape == (2, 5)
    assert scores.z.shape == (2, 5, 3, 10)


def test_a_text_scores_the_same_alone_and_in_a_batch(tiny: EvoNER, text: MakeExample) -> None:
    alone = collate([text(3, seed=1)], 4, 3)
    padded = collate([text(6), text(3, seed=1)], 4, 3)
    one = tiny(alone.states, alone.mask, alone.first, alone.codes, 4).labels[0]
    other = tiny(padded.states, padded.mask, padded.first, padded.codes, 4).labels[1, :3]
    valid = alone.valid[0]
    torch.testing.assert_close(one[valid], other[valid])


def test_a_span_is_seen_by_its_borders(tiny: EvoNER) -> None:
    """z of (i, w) is the formula of the docstring, with words i and i + w put in by hand."""
    words = torch.randn(1, 4, 12)
    z = tiny.span_vectors(words)
    first, last, width = words[0, 1], words[0, 3], tiny.width.weight[2]
    product = tiny.product(tiny.start_factor(first) * tiny.end_factor(last))
    inner = torch.nn.functional.gelu(tiny.start(first) + tiny.end(last) + product + width)
    torch.testing.assert_close(z[0, 1, 2], torch.nn.functional.gelu(tiny.second(inner)))


def test_a_reserved_row_is_never_said(tiny: EvoNER, text: MakeExample) -> None:
    batch = collate([text(4)], 6, 3)
    said = tiny(batch.states, batch.mask, batch.first, batch.codes).labels.softmax(-1)
    assert said.shape[-1] == 6
    assert (said[..., 4:] == 0).all()
    few = tiny(batch.states, batch.mask, batch.first, batch.codes, 4).labels.softmax(-1)
    torch.testing.assert_close(said[..., :4], few)


def test_without_the_character_channel_the_spelling_is_not_seen(text: MakeExample) -> None:
    torch.manual_seed(0)
    blind, seeing = EvoNER(replace(TINY, characters=0)).eval(), EvoNER(TINY).eval()
    batch = collate([text(4)], 4, 3)
    other = batch.codes.roll(1, dims=1)
    for model, differs in ((blind, False), (seeing, True)):
        one = model(batch.states, batch.mask, batch.first, batch.codes).labels
        two = model(batch.states, batch.mask, batch.first, other).labels
        assert (not torch.equal(one, two)) == differs


def test_reserving_leaves_other_rows_alone(tiny: EvoNER) -> None:
    before = tiny.labels.weight[:5].clone()
    reserve(tiny, 5)
    assert torch.equal(tiny.labels.weight[:5], before)
    assert (tiny.labels.weight[5:] == 0).all()
