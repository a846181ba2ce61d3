"""1-bit sketches: their bits by hand, the search in two stages, and how often it misses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from smartrag.kernels import (
    Codes,
    Sketches,
    nearest,
    quantize,
    scan,
    scan_sketched,
    sketch,
    sketch_recall,
    topk,
    use,
)
from smartrag.kernels._choice import current

from .conftest import (
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


def components(codes: Codes) -> NDArray[np.float32]:
    return codes.codes * codes.scales[:, np.newaxis]


def bits_of(words: NDArray[np.uint64], dim: int) -> NDArray[np.bool_]:
    """Bit i % 64 of word i // 64 for every component i."""
    i = np.arange(dim)
    return (words[:, i // 64] >> (i % 64).astype(np.uint64) & np.uint64(1)).astype(np.bool_)


def candidates_by_hand(
    codes: Codes, sketches: Sketches, query: Codes, n: int, mask: Mask | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nearest rows in Hamming distance, lower ones first among equals; and all distances."""
    above = codes.codes > sketches.centre
    distances = (above != (query.codes > sketches.centre)).sum(axis=1)
    rows = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    return rows[np.argsort(distances[rows], kind="stable")[:n]], distances


def clustered(rng: np.random.Generator, n: int, dim: int = 128, lean: float = 0) -> Codes:
    """Unit vectors in clusters of about 20, all leaning by `lean` to the same side."""
    middles = rng.standard_normal((n // 20, dim))
    vectors = middles[rng.integers(0, len(middles), n)] + 0.4 * rng.standard_normal((n, dim))
    vectors += lean * rng.standard_normal(dim)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return quantize(vectors.astype(np.float32))


# --- sketch -------------------------------------------------------------------------------------
def test_sketches_by_hand(isa: str) -> None:
    sketches = sketch(raw([[1, 2, 3], [3, 2, 1]], [1.0, 1.0]))
    assert sketches.centre.tolist() == [2, 2, 2]
    assert sketches.centre.dtype == np.int8
    assert sketches.words.tolist() == [[0b100], [0b001]]  # what lies on the centre is not above it
    assert sketches.words.dtype == np.uint64
    assert len(sketches) == 2


def test_scales_do_not_count(isa: str) -> None:
    codes = [[1, 4], [2, 2], [100, 100]]
    one, other = sketch(raw(codes, [4.0, 1.0, 0.0])), sketch(raw(codes, [1.0, 1.0, 1.0]))
    assert one.centre.tolist() == other.centre.tolist() == [34, 35]
    assert one.words.tolist() == other.words.tolist() == [[0b00], [0b00], [0b11]]


def test_other_vectors_are_sketched_around_the_same_centre(isa: str) -> None:
    sketches = Sketches(np.zeros((0, 1), np.uint64), np.array([-1, 0, 5], np.int8))
    assert sketches.of(raw([[0, 0, 0], [5, 5, 6], [-1, 1, 5]], [1, 1, 1])).tolist() == [
        [0b001],
        [0b111],
        [0b010],
    ]
    assert sketches.of(Codes.empty(3)).shape == (0, 1)


@pytest.mark.parametrize("dim", [*AWKWARD_DIMS, 128, 129])
def test_a_bit_says_what_lies_above_and_the_rest_is_zero(isa: str, dim: int) -> None:
    codes = random_codes(np.random.default_rng(dim), 37, dim)
    sketches = sketch(codes)
    assert sketches.words.shape == (37, -(-dim // 64))
    above = np.zeros((37, sketches.words.shape[1] * 64), np.bool_)
    above[:, :dim] = codes.codes > sketches.centre
    assert (bits_of(sketches.words, above.shape[1]) == above).all()


def test_the_centre_is_the_mean(isa: str) -> None:
    codes = random_codes(np.random.default_rng(3), 500, 17)
    assert sketch(codes).centre.tolist() == np.rint(codes.codes.mean(axis=0)).tolist()


def test_the_centre_of_many_vectors_is_near_their_mean(isa: str) -> None:
    rng = np.random.default_rng(4)
    codes = Codes(rng.integers(-100, 127, (40_000, 3), np.int8), np.ones(40_000, np.float32))
    # A ninth of them is averaged: 66 / √4445 = 1 is one standard deviation.
    assert sketch(codes).centre == pytest.approx(codes.codes.mean(axis=0), abs=5)


def test_no_vectors_have_no_sketches_around_zero(isa: str) -> None:
    sketches = sketch(Codes.empty(65))
    assert sketches.words.shape == (0, 2)
    assert sketches.centre.tolist() == [0] * 65


@pytest.mark.parametrize(
    ("words", "dim", "message"),
    [
        (np.zeros((2, 1), np.int64), 3, r"sketches of 3 bits must be uint64 of shape \(n, 1\)"),
        (np.zeros((2, 1), np.uint64), 65, r"sketches of 65 bits must be uint64 of shape \(n, 2\)"),
        (np.zeros((2, 2), np.uint64), 64, r"sketches of 64 bits must be uint64 of shape \(n, 1\)"),
        (np.zeros(2, np.uint64), 3, r"sketches of 3 bits must be uint64 of shape \(n, 1\)"),
        (np.zeros((2, 4), np.uint64)[:, ::2], 65, "must be contiguous"),
    ],
)
def test_sketches_refuse_words_that_do_not_fit(
    words: NDArray[np.uint64], dim: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Sketches(words, np.zeros(dim, np.int8))


@pytest.mark.parametrize(
    "centre",
    [np.zeros(3), np.zeros((1, 3), np.int8), np.zeros(6, np.int8)[::2], np.zeros(0, np.int8)],
    ids=["float64", "a matrix", "strided", "empty"],
)
def test_sketches_refuse_a_centre_that_the_kernels_cannot_read(centre: NDArray[np.int8]) -> None:
    with pytest.raises(ValueError, match=r"centre|contiguous|dimension"):
        Sketches(np.zeros((2, 1), np.uint64), centre)


def test_sketches_refuse_words_at_an_odd_address() -> None:
    words = np.frombuffer(b"." * 17, np.uint64, 2, 1).reshape(2, 1)
    with pytest.raises(ValueError, match="aligned"):
        Sketches(words, np.zeros(3, np.int8))


def test_vectors_of_another_dimension_have_no_sketches_here(isa: str) -> None:
    sketches = sketch(raw([[1, 2, 3]], [1.0]))
    for other in (raw([[1, 2]], [1.0]), raw([[1]], [1.0])):
        with pytest.raises(ValueError, match="dimension"):
            sketches.of(other)


# --- nearest ------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 9, 300])
def test_nearest_is_topk_when_all_rows_are_candidates(isa: str, n: int) -> None:
    rng = np.random.default_rng(n)
    codes, query = random_codes(rng, n, 5), random_codes(rng, 1, 5)
    sketches, mask = sketch(codes), rng.random(n) < 0.5
    for k in (1, 10, 1024):
        for allowed in (None, mask):
            rows, scores = topk(codes, query, k, allowed)
            assert_same(nearest(codes, sketches, query, k, mask=allowed), [rows[0], scores[0]])


@pytest.mark.parametrize("dim", [3, 70])  # of 3 bits nearly all distances tie
@pytest.mark.parametrize("candidates", [1, 10, 100, 399])
def test_nearest_is_topk_among_the_candidates(isa: str, dim: int, candidates: int) -> None:
    rng = np.random.default_rng(dim)
    codes, query = random_codes(rng, 400, dim), random_codes(rng, 1, dim)
    sketches, mask = sketch(codes), rng.random(400) < 0.5
    for allowed in (None, mask):
        rows, _ = candidates_by_hand(codes, sketches, query, candidates, allowed)
        among = np.zeros(400, np.bool_)
        among[rows] = True
        for k in {1, min(7, candidates), candidates}:
            best, scores = topk(codes, query, k, among)
            assert_same(
                nearest(codes, sketches, query, k, candidates, allowed), [best[0], scores[0]]
            )


def test_equal_rows_come_in_ascending_order(isa: str) -> None:
    codes = Codes(np.ones((700, 9), np.int8), np.ones(700, np.float32))
    rows, scores = nearest(codes, sketch(codes), codes.rows(slice(1)), 5, candidates=20)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert scores.tolist() == [9] * 5


def test_nearest_finds_nothing_where_all_is_masked(isa: str) -> None:
    codes = raw([[1], [2]], [1, 1])
    rows, scores = nearest(codes, sketch(codes), codes.rows(slice(1)), 1, mask=np.zeros(2, bool))
    assert rows.shape == scores.shape == (0,)
    assert rows.dtype == np.int64
    assert scores.dtype == np.float32


THREE = raw([[1, 2], [3, 4], [5, 6]], [1, 1, 1])
QUERY = raw([[1, 2]], [1])


@pytest.mark.parametrize("n_queries", [0, 2])
def test_there_must_be_one_query(n_queries: int) -> None:
    queries = THREE.rows(slice(n_queries))
    with pytest.raises(ValueError, match="query must be one row of dimension 2"):
        nearest(THREE, sketch(THREE), queries, 1)
    with pytest.raises(ValueError, match="query must be one row of dimension 2"):
        scan_sketched(THREE, sketch(THREE), queries)


def test_the_query_must_have_the_dimension_of_the_codes() -> None:
    with pytest.raises(ValueError, match="query must be one row of dimension 2"):
        nearest(THREE, sketch(THREE), raw([[1]], [1]), 1)
    with pytest.raises(ValueError, match="query must be one row of dimension 2"):
        scan_sketched(THREE, sketch(THREE), raw([[1]], [1]))


@pytest.mark.parametrize("other", [raw([[1, 2]], [1]), raw([[1], [2], [3]], [1, 1, 1])])
def test_sketches_of_other_codes_are_refused(other: Codes) -> None:
    with pytest.raises(ValueError, match="sketches are not those of the codes"):
        nearest(THREE, sketch(other), QUERY, 1)
    with pytest.raises(ValueError, match="sketches are not those of the codes"):
        scan_sketched(THREE, sketch(other), QUERY)


@pytest.mark.parametrize("candidates", [-1, 0, 65_537])
def test_candidates_out_of_range_are_refused(candidates: int) -> None:
    message = f"candidates must lie within 1 and 65536, not be {candidates}"
    with pytest.raises(ValueError, match=message):
        nearest(THREE, sketch(THREE), QUERY, 1, candidates)
    with pytest.raises(ValueError, match=message):
        scan_sketched(THREE, sketch(THREE), QUERY, candidates)


@pytest.mark.parametrize(
    ("k", "candidates", "most"), [(0, 9, 9), (-1, 9, 9), (10, 9, 9), (1025, 65_536, 1024)]
)
def test_k_out_of_range_is_refused(k: int, candidates: int, most: int) -> None:
    with pytest.raises(ValueError, match=f"k must lie within 1 and {most}, not be {k}"):
        nearest(THREE, sketch(THREE), QUERY, k, candidates)


def test_a_mask_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mask must be bool of shape \(3,\)"):
        nearest(THREE, sketch(THREE), QUERY, 1, mask=np.ones(2, np.bool_))


# --- scan_sketched ------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 50])
def test_with_no_more_rows_than_candidates_all_scores_are_exact(isa: str, n: int) -> None:
    rng = np.random.default_rng(n)
    codes, query = random_codes(rng, n, 33), random_codes(rng, 1, 33)
    for candidates in (max(n, 1), 1024):
        found = scan_sketched(codes, sketch(codes), query, candidates)
        assert_same([found], [*scan(codes, query)])


@pytest.mark.parametrize("candidates", [1, 20, 600])
@pytest.mark.parametrize("made", ["clusters", "noise", "ties"])
def test_only_the_candidates_are_scored_exactly(isa: str, made: str, candidates: int) -> None:
    rng = np.random.default_rng(candidates)
    if made == "clusters":
        codes = clustered(rng, 1500)
    else:
        codes = random_codes(rng, 1500, 128 if made == "noise" else 2)
    query, sketches = codes.rows(slice(7, 8)), sketch(codes)
    scores = scan_sketched(codes, sketches, query, candidates)
    assert scores.shape == (1500,)
    assert scores.dtype == np.float32

    rows, distances = candidates_by_hand(codes, sketches, query, candidates)
    [exact] = scan(codes, query)
    assert_same([scores[rows]], [exact[rows]])
    others = np.setdiff1d(np.arange(1500), rows)
    assert np.isfinite(scores).all()
    assert scores[others].max() <= exact[rows].min()
    # An estimate comes from the distance alone.
    for distance in np.unique(distances[others]):
        assert len(np.unique(scores[others][distances[others] == distance])) == 1
    # The best candidates are in exact order at the top.
    in_order = rows[np.lexsort((rows, -exact[rows]))]
    top = np.argsort(-scores, kind="stable")
    above = exact[in_order] > exact[rows].min()
    assert (top[: above.sum()] == in_order[above]).all()


def test_estimates_fall_with_the_distance(isa: str) -> None:
    codes = clustered(np.random.default_rng(1), 3000)
    query, sketches = codes.rows(slice(1)), sketch(codes)
    scores = scan_sketched(codes, sketches, query, 100)
    rows, distances = candidates_by_hand(codes, sketches, query, 100)
    others = np.setdiff1d(np.arange(3000), rows)
    by_distance = others[np.argsort(distances[others], kind="stable")]
    assert (np.diff(scores[by_distance]) <= 0).all()
    [exact] = scan(codes, query)
    assert np.abs(scores - exact).mean() < 0.1  # of vectors of length 1


def test_equal_distances_make_a_flat_estimate(isa: str) -> None:
    codes = Codes(np.ones((900, 3), np.int8), np.ones(900, np.float32))
    assert scan_sketched(codes, sketch(codes), codes.rows(slice(1)), 10).tolist() == [3] * 900


@pytest.mark.parametrize("dim", [384, 4096])
def test_estimates_of_the_largest_vectors_are_finite(isa: str, dim: int) -> None:
    # Whatever `quantize` takes has a finite score, estimated ones too.
    signs = np.random.default_rng(dim).choice(np.array([-1e16, 1e16], np.float32), (600, dim))
    codes = quantize(signs)
    scores = scan_sketched(codes, sketch(codes), codes.rows(slice(1)), 10)
    assert np.isfinite(scores).all()
    assert scores.argmax() == 0


# --- recall -------------------------------------------------------------------------------------
def test_recall_is_the_share_of_true_neighbours_found(isa: str) -> None:
    rng = np.random.default_rng(2)
    codes, queries = random_codes(rng, 300, 40), random_codes(rng, 9, 40)
    sketches = sketch(codes)
    found = 0
    for i in range(9):
        query = queries.rows(slice(i, i + 1))
        true = set(topk(codes, query, 5)[0][0].tolist())
        found += len(true & set(nearest(codes, sketches, query, 5, 20)[0].tolist()))
    assert 0 < found < 45
    assert sketch_recall(codes, sketches, queries, 5, 20) == pytest.approx(found / 45)


def test_recall_is_full_when_all_rows_are_candidates(isa: str) -> None:
    rng = np.random.default_rng(2)
    codes = random_codes(rng, 30, 4)
    assert sketch_recall(codes, sketch(codes), random_codes(rng, 9, 4), 50, 50) == 1.0


def test_nothing_is_missed_where_there_is_nothing() -> None:
    assert sketch_recall(Codes.empty(2), sketch(Codes.empty(2)), QUERY) == 1.0
    assert sketch_recall(THREE, sketch(THREE), Codes.empty(2)) == 1.0


def test_recall_refuses_what_nearest_refuses() -> None:
    with pytest.raises(ValueError, match="k must lie within 1 and 5, not be 6"):
        sketch_recall(THREE, sketch(THREE), THREE, k=6, candidates=5)
    with pytest.raises(ValueError, match="sketches are not those of the codes"):
        sketch_recall(THREE, sketch(QUERY), THREE)


@pytest.mark.parametrize("lean", [0, 3, 10])
def test_neighbours_are_found_even_if_all_vectors_lean_to_one_side(isa: str, lean: float) -> None:
    codes = clustered(np.random.default_rng(6), 4000, lean=lean)
    queries = codes.rows(slice(25))
    assert sketch_recall(codes, sketch(codes), queries, k=10, candidates=50) > 0.95
    if lean == 10:  # it is the centre that does it
        zero = np.zeros(codes.dim, np.int8)
        plain = Sketches(Sketches(np.zeros((0, 2), np.uint64), zero).of(codes), zero)
        assert sketch_recall(codes, plain, queries, k=10, candidates=50) < 0.8


# --- every implementation -----------------------------------------------------------------------
def searches(codes: Codes, query: Codes, seed: int) -> Arrays:
    sketches = sketch(codes)
    found: list[NDArray[np.generic]] = [sketches.words, sketches.centre]
    for candidates in (1, 10, 65_536):
        for allowed in masks(len(codes), seed):
            rows, near, distances = current().topk_sketches(
                sketches.words, codes.dim, sketches.of(query)[0], candidates, allowed
            )
            found += [rows, near, distances if allowed is None else distances[allowed]]
            found += nearest(codes, sketches, query, min(7, candidates), candidates, allowed)
        found.append(scan_sketched(codes, sketches, query, candidates))
    return found


@pytest.mark.parametrize("dim", [*AWKWARD_DIMS, 128, 320, 321, 385, 448, 704, 768, 769, 1000])
def test_agreement_on_awkward_dimensions(dim: int) -> None:
    rng = np.random.default_rng(dim)
    codes, query = random_codes(rng, 300, dim), random_codes(rng, 1, dim)
    assert_agreement(lambda: searches(codes, query, dim))


@pytest.mark.parametrize("n", [*AWKWARD_ROWS, 4097])
def test_agreement_on_awkward_numbers_of_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    codes, query = random_codes(rng, n, 70), random_codes(rng, 1, 70)
    assert_agreement(lambda: searches(codes, query, n))


def test_distances_by_hand(isa: str) -> None:
    words = np.array([[0b111, 1], [0b011, 0], [0b011, 1], [0, 2**63 + 1]], np.uint64)
    query = np.array([0b011, 1], np.uint64)
    rows, near, distances = current().topk_sketches(words, 128, query, 3, None)
    assert distances.tolist() == [1, 1, 0, 3]
    assert rows.tolist() == [2, 0, 1]
    assert near.tolist() == [0, 1, 1]


@settings(max_examples=40)
@given(
    rows=st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=20),
    seed=st.integers(0, 99),
)
def test_agreement_on_any_codes(rows: list[list[int]], seed: int) -> None:
    use("reference")
    codes = Codes(np.array(rows, np.int8).reshape(-1, 3), np.ones(len(rows), np.float32))
    assert_agreement(lambda: searches(codes, raw([[1, -1, 0]], [1]), seed))
