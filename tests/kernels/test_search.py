"""Exact search: by hand, at the limits, in threads, and every implementation to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from smartrag.kernels import Codes, quantize, scan, topk, use

from .conftest import (
    AVAILABLE,
    AWKWARD_DIMS,
    AWKWARD_ROWS,
    Arrays,
    assert_agreement,
    assert_same,
    masks,
    random_codes,
    raw,
)

Mask = NDArray[np.bool_]

FIVE = raw([[1], [3], [2], [3], [1]], [1.0] * 5)
ONE = raw([[1]], [1.0])


# --- scan ---------------------------------------------------------------------------------------
def test_scan_by_hand(isa: str) -> None:
    codes = raw([[1, 2, 3], [-127, 127, 0], [5, 5, 5]], [0.5, 1.0, 0.0])
    scores = scan(codes, raw([[10, -20, 30], [1, 1, 1]], [0.25, 2.0]))
    # (10 - 40 + 90) * 0.125, (-1270 - 2540) * 0.25, and a scale of zero; 6 * 1 and 0 * 2
    assert scores.tolist() == [[7.5, -952.5, 0.0], [6.0, 0.0, 0.0]]
    assert scores.dtype == np.float32


def test_the_product_of_the_scales_is_rounded_first(isa: str) -> None:
    scores = scan(raw([[5]], [0.1]), raw([[1]], [0.1]))
    by_hand = np.float32(5) * (np.float32(0.1) * np.float32(0.1))
    assert by_hand != np.float32(5) * np.float32(0.1) * np.float32(0.1)
    assert_same([scores], [np.array([[by_hand]])])


def test_a_dot_product_beyond_24_bits_is_rounded_once(isa: str) -> None:
    # 127 * 127 * 1041 = 16790289 is odd and above 2^24, where floats are even: down to 16790288.
    ones = raw([[127] * 1041], [1.0])
    assert scan(ones, ones).tolist() == [[16790288.0]]


def test_the_longest_and_largest_vectors_have_a_finite_score(isa: str) -> None:
    longest = raw([[127] * 131_071], [1e14])
    [[score]] = scan(longest, longest)
    assert 2.1e37 < score < 2.2e37


def test_near_vectors_score_as_their_inner_product(isa: str) -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = scan(quantize(vectors), quantize(vectors[:3]))
    # Each component errs by half a scale at most; over 384 of either sign far less than 0.01 stays.
    assert np.abs(scores - vectors[:3] @ vectors.T).max() < 0.01


# --- topk ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("k", "rows", "scores"),
    [
        (1, [1], [3]),
        (2, [1, 3], [3, 3]),
        (4, [1, 3, 2, 0], [3, 3, 2, 1]),
        (5, [1, 3, 2, 0, 4], [3, 3, 2, 1, 1]),
        (1024, [1, 3, 2, 0, 4], [3, 3, 2, 1, 1]),
    ],
)
def test_topk_by_hand(isa: str, k: int, rows: list[int], scores: list[float]) -> None:
    found = topk(FIVE, ONE, k)
    assert found[0].tolist() == [rows]
    assert found[1].tolist() == [scores]
    assert found[0].dtype == np.int64
    assert found[1].dtype == np.float32


def test_every_query_has_a_ranking_of_its_own(isa: str) -> None:
    rows, scores = topk(FIVE, raw([[1], [-1], [0]], [1.0, 2.0, 1.0]), 3)
    assert rows.tolist() == [[1, 3, 2], [0, 4, 2], [0, 1, 2]]
    assert scores.tolist() == [[3, 3, 2], [-2, -2, -4], [0, 0, 0]]


def test_a_mask_says_which_rows_may_be_returned(isa: str) -> None:
    mask = np.array([True, False, True, True, True])
    rows, scores = topk(FIVE, ONE, 3, mask)
    assert rows.tolist() == [[3, 2, 0]]
    assert scores.tolist() == [[3, 2, 1]]
    assert topk(FIVE, ONE, 3, ~mask)[0].tolist() == [[1]]


def test_a_mask_may_be_a_view(isa: str) -> None:
    mask = np.array([True, True, False, True, True, False, True, False, False, True])[::2]
    assert topk(FIVE, ONE, 5, mask)[0].tolist() == [[3, 2, 0]]


def test_nothing_is_found_where_all_is_masked(isa: str) -> None:
    for threads in (1, 2):
        rows, scores = topk(FIVE, raw([[1], [2]], [1, 1]), 3, np.zeros(5, np.bool_), threads)
        assert rows.shape == scores.shape == (2, 0)
        assert rows.dtype == np.int64


def test_nothing_is_found_among_no_rows(isa: str) -> None:
    for threads in (1, 3):
        rows, scores = topk(Codes.empty(1), ONE, 5, np.zeros(0, np.bool_), threads)
        assert rows.shape == scores.shape == (1, 0)
        assert scan(Codes.empty(1), ONE, threads).shape == (1, 0)


def test_no_query_is_no_error(isa: str) -> None:
    assert scan(FIVE, Codes.empty(1)).shape == (0, 5)
    for k, threads in ((3, 1), (3, 2), (9, 1)):
        rows, scores = topk(FIVE, Codes.empty(1), k, threads=threads)
        # Expected as documented: (q, m) with m = min(k, rows allowed), whatever q is.
        assert rows.shape == scores.shape == (0, min(k, 5))


def test_zero_and_minus_zero_tie(isa: str) -> None:
    # -1 times a product of scales that underflows is -0.0; it ranks by row number beside 0.0.
    codes = raw([[-1], [0], [-1]], [1e-30] * 3)
    for threads in (1, 2, 3):
        rows, scores = topk(codes, raw([[1]], [1e-30]), 3, threads=threads)
        assert rows.tolist() == [[0, 1, 2]]
        assert np.signbit(scores).tolist() == [[True, False, True]]


def test_the_last_rows_win_when_scores_rise(isa: str) -> None:
    # Every row displaces one: 1000 rows of score 0, 1, 2 … through a heap of 3.
    codes = Codes(np.ones((1000, 1), np.int8), np.arange(1000, dtype=np.float32))
    assert topk(codes, ONE, 3)[0].tolist() == [[999, 998, 997]]


def test_the_first_rows_win_when_all_scores_are_equal(isa: str) -> None:
    codes = Codes(np.ones((3000, 1), np.int8), np.ones(3000, np.float32))
    assert topk(codes, ONE, 1024)[0].tolist() == [list(range(1024))]
    allowed = np.arange(3000) % 3 == 2
    assert topk(codes, ONE, 100, allowed)[0].tolist() == [list(range(2, 302, 3))]


# --- what is refused ----------------------------------------------------------------------------
@pytest.mark.parametrize("k", [-1, 0, 1025])
def test_k_out_of_range_is_refused(isa: str, k: int) -> None:
    with pytest.raises(ValueError, match=f"k must lie within 1 and 1024, not be {k}"):
        topk(FIVE, ONE, k)


@pytest.mark.parametrize(
    "mask", [np.ones(4, np.bool_), np.ones((1, 5), np.bool_), np.ones(5, np.uint8)]
)
def test_a_mask_that_does_not_fit_is_refused(mask: Mask) -> None:
    with pytest.raises(ValueError, match=r"mask must be bool of shape \(5,\)"):
        topk(FIVE, ONE, 1, mask)


@pytest.mark.parametrize("threads", [-1, 0])
def test_there_must_be_a_thread(threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads must be at least 1, not {threads}"):
        scan(FIVE, ONE, threads)
    with pytest.raises(ValueError, match=f"threads must be at least 1, not {threads}"):
        topk(FIVE, ONE, 1, threads=threads)


def test_queries_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match="queries have dimension 2, the codes have 1"):
        scan(FIVE, raw([[1, 2]], [1.0]))
    with pytest.raises(ValueError, match="queries have dimension 2, the codes have 1"):
        topk(FIVE, raw([[1, 2]], [1.0]), 1)


# --- threads ------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [2, 7, 64])
@pytest.mark.parametrize("n", [1, 50, 300])
def test_threads_change_nothing(isa: str, n: int, threads: int) -> None:
    rng = np.random.default_rng(n)
    codes, queries = random_codes(rng, n, 3), random_codes(rng, 4, 3)
    mask = rng.random(n) < 0.6
    assert_same([scan(codes, queries, threads)], [scan(codes, queries)])
    for k, allowed in ((1, None), (10, None), (10, mask), (1024, mask)):
        one = topk(codes, queries, k, allowed)
        assert_same(topk(codes, queries, k, allowed, threads), one)


# --- every implementation -----------------------------------------------------------------------
def searches(codes: Codes, queries: Codes, seed: int) -> Arrays:
    found: list[NDArray[np.generic]] = [scan(codes, queries)]
    for k in (1, 3, 10, 1024):
        for allowed in masks(len(codes), seed):
            found += topk(codes, queries, k, allowed)
    return found


@pytest.mark.parametrize("dim", [*AWKWARD_DIMS, 1024, 1025, 4099])
def test_agreement_on_awkward_dimensions(dim: int) -> None:
    rng = np.random.default_rng(dim)
    codes, queries = random_codes(rng, 70, dim), random_codes(rng, 3, dim)
    assert_agreement(lambda: searches(codes, queries, dim))


@pytest.mark.parametrize("n", [*AWKWARD_ROWS, 4097])
def test_agreement_on_awkward_numbers_of_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    codes, queries = random_codes(rng, n, 3), raw([[7, -9, 1], [0, 1, -1]], [0.1, 3.0])
    assert_agreement(lambda: searches(codes, queries, n))


@pytest.mark.parametrize("n_queries", [1, 2, 3, 4, 5, 31, 32, 33, 64, 65, 100])
@pytest.mark.parametrize("dim", [5, 97])
def test_agreement_on_awkward_numbers_of_queries(n_queries: int, dim: int) -> None:
    rng = np.random.default_rng(n_queries)
    codes, queries = random_codes(rng, 67, dim), random_codes(rng, n_queries, dim)
    assert_agreement(lambda: searches(codes, queries, dim))


@pytest.mark.parametrize("dim", AWKWARD_DIMS)
@pytest.mark.parametrize("sign", [1, -1])
def test_scores_at_the_extremes_are_exact(isa: str, dim: int, sign: int) -> None:
    extreme = Codes(np.full((5, dim), 127, np.int8), np.ones(5, np.float32))
    query = Codes(np.full((2, dim), sign * 127, np.int8), np.ones(2, np.float32))
    assert scan(extreme, query).tolist() == [[sign * 16129 * dim] * 5] * 2


@st.composite
def coded(draw: st.DrawFn) -> tuple[Codes, Codes]:
    """Codes and queries. The lattice makes scores tie."""
    n, n_queries, dim = (draw(st.integers(low, 12)) for low in (0, 1, 1))
    finite = st.floats(-(2.0**53), 2.0**53, width=32)
    lattice = st.integers(-3, 3).map(lambda x: x / 2)
    numbers = draw(st.sampled_from([finite, lattice]))
    vectors = draw(arrays.arrays(np.float32, (n + n_queries, dim), elements=numbers))
    use("reference")
    codes = quantize(vectors)
    return codes.rows(slice(n)), codes.rows(slice(n, None))


@settings(max_examples=40)
@given(both=coded(), seed=st.integers(0, 99))
def test_agreement_on_any_vectors(both: tuple[Codes, Codes], seed: int) -> None:
    assert_agreement(lambda: searches(*both, seed))


@settings(max_examples=40)
@given(both=coded(), k=st.integers(1, 15), threads=st.sampled_from([1, 1, 1, 2]), data=st.data())
def test_topk_is_the_start_of_the_sorted_rows(
    both: tuple[Codes, Codes], k: int, threads: int, data: st.DataObject
) -> None:
    codes, queries = both
    n = len(codes)
    mask = data.draw(arrays.arrays(np.bool_, n))
    for name in AVAILABLE:
        use(name)
        scores = scan(codes, queries)
        found = topk(codes, queries, k, mask, threads)
        for of_all, rows, best in zip(scores, *found, strict=True):
            in_order = sorted((-float(of_all[row]), row) for row in range(n) if mask[row])[:k]
            assert rows.tolist() == [row for _, row in in_order], name
            assert_same([best], [of_all[rows]])
