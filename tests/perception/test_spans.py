from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartrag.perception.spans import Span, decode, decode_untyped, label_probabilities
from smartrag.types import FloatArray


def logits(n: int, scores: dict[tuple[int, int, int], float], widths: int = 3) -> FloatArray:
    """No entity anywhere but where (word, width − 1, row) has a logit; 0 is that of none."""
    found = np.full((n, widths, 3), -20, np.float32)
    found[..., 0] = 0
    for place, score in scores.items():
        found[place] = score
    return found


def test_the_surer_of_two_overlapping_spans_stays() -> None:
    [one] = decode(logits(4, {(0, 1, 1): 2.0, (1, 1, 2): 3.0}))
    assert (one.first, one.last, one.row) == (1, 2, 2)
    assert abs(one.score - np.exp(3) / (np.exp(3) + 1)) < 1e-6


def test_entities_come_in_text_order() -> None:
    found = decode(logits(5, {(3, 1, 1): 5.0, (0, 0, 2): 1.0}))
    assert [(s.first, s.last, s.row) for s in found] == [(0, 0, 2), (3, 4, 1)]


def test_a_span_over_the_end_of_the_text_is_no_span() -> None:
    assert decode(logits(3, {(2, 1, 1): 9.0})) == []


def test_more_caution_finds_less() -> None:
    scores = logits(2, {(0, 0, 1): 1.0})
    assert len(decode(scores)) == 1
    assert decode(scores, caution=1.5) == []
    assert decode(np.zeros((0, 3, 2), np.float32)) == []


def test_caution_changes_no_input_and_probabilities_add_up() -> None:
    scores = logits(2, {(0, 0, 1): 1.0})
    before = scores.copy()
    seen = label_probabilities(scores, 0.5)
    assert np.array_equal(scores, before)
    np.testing.assert_allclose(seen.sum(-1), 1, rtol=1e-6)
    np.testing.assert_allclose(seen[0, 0, 1], np.exp(1) / (np.exp(1) + np.exp(0.5)), rtol=1e-5)


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(2, 5)),
        elements=st.floats(-30, 30, width=32),
    )
)
def test_found_entities_never_overlap_and_lie_in_the_text(scores: FloatArray) -> None:
    found = decode(scores)
    for one, other in pairwise(found):
        assert one.last < other.first
    for span in found:
        assert isinstance(span, Span)
        assert 0 <= span.first <= span.last < len(scores)
        assert span.last - span.first < scores.shape[1]
        assert 0 < span.row < scores.shape[2]
        assert 0 < span.score <= 1


def test_types_that_share_a_span_are_an_entity_together() -> None:
    [one] = decode(logits(2, {(0, 0, 1): -0.4, (0, 0, 2): -0.5}))  # each is less likely than none
    assert (one.first, one.last, one.row) == (0, 0, 1)
    [one] = decode(logits(3, {(0, 1, 1): 2.0, (0, 1, 2): 2.0, (1, 1, 1): 2.5}))
    assert (one.first, one.last) == (0, 1)


def test_of_two_sure_spans_the_surer_stays() -> None:
    [one] = decode(logits(4, {(0, 1, 1): 40.0, (1, 1, 2): 41.0}))
    assert (one.first, one.row) == (1, 2)


def test_what_is_an_entity_of_no_label_is_untyped() -> None:
    torn = logits(
        6, {(0, 0, 1): 0.5, (0, 0, 2): 0.4, (2, 0, 1): 3.0, (4, 0, 1): -0.5, (4, 0, 2): -0.5}
    )
    assert [(s.first, s.row) for s in decode(torn)] == [(0, 1), (2, 1), (4, 1)]
    found = decode_untyped(torn, sure=0.6)
    assert [(s.first, s.last) for s in found] == [(0, 0), (4, 4)]  # together likelier than none
    assert all(0.49 < s.score < 0.6 for s in found)


def test_a_vague_label_types_nothing() -> None:
    sure = logits(3, {(1, 0, 2): 9.0})
    assert decode_untyped(sure, sure=0.6) == []
    [one] = decode_untyped(sure, sure=0.6, vague=frozenset({2}))
    assert (one.first, one.row) == (1, 2)
