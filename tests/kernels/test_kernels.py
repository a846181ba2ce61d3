"""Every implementation: values computed by hand, then agreement with the reference to the bit."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from smartrag import kernels
from smartrag.kernels import Codes, quantize, scan, topk, use

AVAILABLE = kernels._available()
COMPILED = [isa for isa in AVAILABLE if isa != "reference"]
AWKWARD_DIMS = [1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 63, 65, 97, 384]
AWKWARD_ROWS = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 255, 256, 257, 600]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = kernels.isa()
    yield
    use(before)


@pytest.fixture(params=AVAILABLE)
def isa(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    use(name)
    return name


def f32(*rows: list[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def raw(rows: list[list[int]], scales: list[float]) -> Codes:
    return Codes(np.array(rows, np.int8), np.array(scales, np.float32))


def random_codes(rng: np.random.Generator, n: int, dim: int) -> Codes:
    """Codes over the whole range, and scales from so small a set that scores tie."""
    return Codes(
        rng.integers(-127, 128, (n, dim), np.int8, endpoint=False),
        rng.choice(np.array([0, 0.5, 0.007], np.float32), n),
    )


def bits(array: NDArray[np.float32]) -> list[int]:
    """What == cannot tell apart, such as 0 and -0, differs here."""
    return [int(word) for word in array.view(np.uint32)]


# --- the interface ------------------------------------------------------------------------------
def test_the_exports_are_exactly_these() -> None:
    assert kernels.__all__ == ["Codes", "isa", "quantize", "scan", "topk", "use"]


def test_use_and_isa_agree(isa: str) -> None:
    assert kernels.isa() == isa


def test_use_names_what_is_available() -> None:
    with pytest.raises(ValueError, match="no kernels named 'abacus' here; available: reference"):
        use("abacus")


# --- quantize -----------------------------------------------------------------------------------
def test_quantize_by_hand(isa: str) -> None:
    # Largest magnitude 254: scale 2. Ties go to even: 1/2 to 0, 3/2 to 2, 5/2 to 2.
    codes = quantize(f32([254, 1, 3, 5], [-127, 64, 0.4, -0.6]))
    assert codes.codes.tolist() == [[127, 0, 2, 2], [-127, 64, 0, -1]]
    assert codes.scales.tolist() == [2.0, 1.0]
    assert codes.codes.dtype == np.int8
    assert codes.scales.dtype == np.float32


def test_a_row_of_zeros_has_scale_zero(isa: str) -> None:
    codes = quantize(f32([0, -0.0], [1, 0]))
    assert codes.codes.tolist() == [[0, 0], [127, 0]]
    assert codes.scales.tolist() == [0.0, float(np.float32(1) / np.float32(127))]


def test_the_smallest_numbers(isa: str) -> None:
    ulp = 2.0**-149  # the smallest float32
    # 63 ulp / 127 rounds to scale 0; 190 ulp / 127 to a scale of 1 ulp, and 190 is cut to 127.
    codes = quantize(f32([63 * ulp, -ulp], [190 * ulp, -190 * ulp]))
    assert codes.codes.tolist() == [[0, 0], [127, -127]]
    assert codes.scales.tolist() == [0.0, ulp]


def test_quantize_takes_no_rows_and_any_layout(isa: str) -> None:
    assert len(quantize(np.empty((0, 3), np.float32))) == 0
    columns = np.asfortranarray(f32([1, 2], [3, 4]))
    assert quantize(columns).codes.tolist() == [[64, 127], [95, 127]]  # 63.5 and 95.25
    odd_address = np.frombuffer(b"." + f32([1, 2]).tobytes(), np.float32, 2, 1).reshape(1, 2)
    assert quantize(odd_address).codes.tolist() == [[64, 127]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.1e16, -1.1e16])
@pytest.mark.parametrize("place", [0, 4])
def test_quantize_refuses_what_has_no_finite_score(isa: str, bad: float, place: int) -> None:
    vectors = np.ones((2, 5), np.float32)
    vectors[1, place] = bad
    with pytest.raises(ValueError, match=r"finite and lie within ±1e\+16"):
        quantize(vectors)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((2, 3)), "float32 of shape .n, d., not float64"),
        (np.zeros(3, np.float32), r"not float32 of shape \(3,\)"),
        (np.zeros((2, 0), np.float32), "dimension must lie within 1 and 131071, not be 0"),
        (np.zeros((0, 131_072), np.float32), "not be 131072"),
    ],
)
def test_quantize_refuses_other_arrays(vectors: NDArray[np.float32], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quantize(vectors)


# --- Codes --------------------------------------------------------------------------------------
def test_codes_are_put_together_in_order() -> None:
    both = Codes.concatenate([raw([[1, 2]], [0.5]), Codes.empty(2), raw([[3, 4]], [0.25])])
    assert len(both) == 2
    assert both.dim == 2
    assert both.codes.tolist() == [[1, 2], [3, 4]]
    assert both.scales.tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("codes", "scales", "message"),
    [
        (np.zeros((2, 3), np.uint8), np.zeros(2, np.float32), "codes must be int8"),
        (np.zeros(3, np.int8), np.zeros(3, np.float32), "codes must be int8"),
        (np.zeros((2, 3), np.int8), np.zeros(2), "scales must be float32"),
        (np.zeros((2, 3), np.int8), np.zeros(3, np.float32), "each of the 2 rows"),
        (np.zeros((3, 2), np.int8).T, np.zeros(2, np.float32), "contiguous"),
        (np.zeros((2, 3), np.int8), np.zeros(4, np.float32)[::2], "contiguous"),
        (np.zeros((2, 0), np.int8), np.zeros(2, np.float32), "dimension"),
        (np.zeros((2, 3), np.int8), np.array([0, -1], np.float32), "scales must lie within"),
        (np.zeros((2, 3), np.int8), np.array([0, np.nan], np.float32), "scales must lie within"),
        (np.zeros((2, 3), np.int8), np.array([0, 1e15], np.float32), "scales must lie within"),
    ],
)
def test_codes_refuse_what_the_kernels_cannot_read(
    codes: NDArray[np.int8], scales: NDArray[np.float32], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Codes(codes, scales)


# --- scan ---------------------------------------------------------------------------------------
def test_scan_by_hand(isa: str) -> None:
    codes = raw([[1, 2, 3], [-127, 127, 0], [5, 5, 5]], [0.5, 1.0, 0.0])
    scores = scan(codes, raw([[10, -20, 30]], [0.25]))
    # (10 - 40 + 90) * 0.125, (-1270 - 2540) * 0.25, and a scale of zero
    assert scores.tolist() == [7.5, -952.5, 0.0]
    assert scores.dtype == np.float32


def test_the_product_of_the_scales_is_rounded_first(isa: str) -> None:
    scores = scan(raw([[5]], [0.1]), raw([[1]], [0.1]))
    by_hand = np.float32(5) * (np.float32(0.1) * np.float32(0.1))
    assert by_hand != np.float32(5) * np.float32(0.1) * np.float32(0.1)
    assert bits(scores) == bits(np.array([by_hand]))


def test_a_dot_product_beyond_24_bits_is_rounded_once(isa: str) -> None:
    # 127 * 127 * 1041 = 16790289 is odd and above 2^24, where floats are even: down to 16790288.
    ones = raw([[127] * 1041], [1.0])
    assert scan(ones, ones).tolist() == [16790288.0]


def test_the_longest_and_largest_vectors_have_a_finite_score(isa: str) -> None:
    longest = raw([[127] * 131_071], [1e14])
    (score,) = scan(longest, longest)
    assert 2.1e37 < score < 2.2e37


def test_near_vectors_score_as_their_inner_product(isa: str) -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = scan(quantize(vectors), quantize(vectors[:1]))
    # Each component errs by half a scale at most; over 384 of either sign far less than 0.01 stays.
    assert np.abs(scores - vectors @ vectors[0]).max() < 0.01


@pytest.mark.parametrize("query", [raw([[1, 2]], [1.0]), raw([[1], [2]], [1.0, 1.0])])
def test_a_query_that_does_not_fit_is_refused(isa: str, query: Codes) -> None:
    with pytest.raises(ValueError, match="the query"):
        scan(raw([[1]], [1.0]), query)
    with pytest.raises(ValueError, match="the query"):
        topk(raw([[1]], [1.0]), query, 1)


# --- topk ---------------------------------------------------------------------------------------
FIVE = raw([[1], [3], [2], [3], [1]], [1.0] * 5)
ONE = raw([[1]], [1.0])


@pytest.mark.parametrize(
    ("k", "rows", "scores"),
    [
        (0, [], []),
        (1, [1], [3]),
        (2, [1, 3], [3, 3]),
        (4, [1, 3, 2, 0], [3, 3, 2, 1]),
        (5, [1, 3, 2, 0, 4], [3, 3, 2, 1, 1]),
        (1024, [1, 3, 2, 0, 4], [3, 3, 2, 1, 1]),
    ],
)
def test_topk_by_hand(isa: str, k: int, rows: list[int], scores: list[float]) -> None:
    found = topk(FIVE, ONE, k)
    assert found[0].tolist() == rows
    assert found[1].tolist() == scores
    assert found[0].dtype == np.int64
    assert found[1].dtype == np.float32


def test_a_mask_says_which_rows_may_be_returned(isa: str) -> None:
    mask = np.array([True, False, True, True, True])
    rows, scores = topk(FIVE, ONE, 3, mask)
    assert rows.tolist() == [3, 2, 0]
    assert scores.tolist() == [3, 2, 1]
    assert topk(FIVE, ONE, 3, ~mask)[0].tolist() == [1]
    assert topk(FIVE, ONE, 3, np.zeros(5, np.bool_))[0].tolist() == []


def test_zero_and_minus_zero_tie(isa: str) -> None:
    # -1 times a product of scales that underflows is -0.0; it ranks by row number beside 0.0.
    codes = raw([[-1], [0], [-1]], [1e-30] * 3)
    rows, scores = topk(codes, raw([[1]], [1e-30]), 3)
    assert rows.tolist() == [0, 1, 2]
    assert np.signbit(scores).tolist() == [True, False, True]


def test_the_last_rows_win_when_scores_rise(isa: str) -> None:
    # Every row displaces one: 1000 rows of score 0, 1, 2 … through a heap of 3.
    codes = Codes(np.ones((1000, 1), np.int8), np.arange(1000, dtype=np.float32))
    assert topk(codes, ONE, 3)[0].tolist() == [999, 998, 997]


def test_nothing_is_found_among_no_rows(isa: str) -> None:
    rows, scores = topk(Codes.empty(1), ONE, 5, np.zeros(0, np.bool_))
    assert rows.shape == scores.shape == (0,)
    assert scan(Codes.empty(1), ONE).shape == (0,)


@pytest.mark.parametrize("k", [-1, 1025])
def test_k_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=f"k must lie within 0 and 1024, not be {k}"):
        topk(FIVE, ONE, k)


@pytest.mark.parametrize("mask", [np.ones(4, np.bool_), np.ones(5, np.uint8)])
def test_a_mask_that_does_not_fit_is_refused(mask: NDArray[np.bool_]) -> None:
    with pytest.raises(ValueError, match=r"mask must be bool of shape \(5,\)"):
        topk(FIVE, ONE, 1, mask)


# --- every instruction set against the reference ------------------------------------------------
def assert_agreement(
    other: str, vectors: NDArray[np.float32], codes: Codes, query: Codes, seed: int
) -> None:
    """`other` gives the reference's bits on all three functions."""
    use("reference")
    quantized, scores = quantize(vectors), scan(codes, query)
    mask = np.random.default_rng(seed).random(len(codes)) < 0.5
    searches = [(k, m) for k in (1, 3, 10, 1024) for m in (None, mask)]
    found = [topk(codes, query, k, m) for k, m in searches]

    use(other)
    again = quantize(vectors)
    assert (again.codes == quantized.codes).all()
    assert bits(again.scales) == bits(quantized.scales)
    assert bits(scan(codes, query)) == bits(scores)
    for (k, m), (rows, best) in zip(searches, found, strict=True):
        again_rows, again_best = topk(codes, query, k, m)
        assert again_rows.tolist() == rows.tolist()
        assert bits(again_best) == bits(best)


@pytest.mark.parametrize("other", COMPILED)
@pytest.mark.parametrize("dim", [*AWKWARD_DIMS, 1024, 1025, 4099])
def test_agreement_on_awkward_dimensions(other: str, dim: int) -> None:
    rng = np.random.default_rng(dim)
    vectors = rng.standard_normal((70, dim)).astype(np.float32)
    query = Codes(random_codes(rng, 1, dim).codes, np.array([0.3], np.float32))
    assert_agreement(other, vectors, random_codes(rng, 70, dim), query, seed=dim)


@pytest.mark.parametrize("other", COMPILED)
@pytest.mark.parametrize("n", [*AWKWARD_ROWS, 4097])
def test_agreement_on_awkward_numbers_of_rows(other: str, n: int) -> None:
    rng = np.random.default_rng(n)
    vectors = rng.standard_normal((n, 3)).astype(np.float32)
    assert_agreement(other, vectors, random_codes(rng, n, 3), raw([[7, -9, 1]], [0.1]), seed=n)


@pytest.mark.parametrize("other", COMPILED)
@pytest.mark.parametrize("dim", AWKWARD_DIMS)
@pytest.mark.parametrize("sign", [1, -1])
def test_agreement_at_the_extremes(other: str, dim: int, sign: int) -> None:
    extreme = Codes(np.full((3, dim), 127, np.int8), np.ones(3, np.float32))
    query = Codes(np.full((1, dim), sign * 127, np.int8), np.ones(1, np.float32))
    use(other)
    assert scan(extreme, query).tolist() == [sign * 16129 * dim] * 3


finite = st.floats(-(2.0**53), 2.0**53, width=32)
small_lattice = st.integers(-3, 3).map(lambda x: x / 2)


@st.composite
def vector_sets(draw: st.DrawFn) -> NDArray[np.float32]:
    """At least one vector; the first serves as the query. The lattice makes scores tie."""
    n, dim = draw(st.integers(1, 12)), draw(st.integers(1, 40))
    numbers = draw(st.sampled_from([finite, small_lattice]))
    flat = draw(st.lists(numbers, min_size=n * dim, max_size=n * dim))
    return np.array(flat, np.float32).reshape(n, dim)


@pytest.mark.parametrize("other", COMPILED)
@settings(deadline=None)  # a busy machine is no failure
@given(vectors=vector_sets(), seed=st.integers(0, 99))
def test_agreement_on_any_vectors(other: str, vectors: NDArray[np.float32], seed: int) -> None:
    use("reference")
    codes, query = quantize(vectors), quantize(vectors[:1])
    assert_agreement(other, vectors, codes, query, seed)


@pytest.mark.parametrize("name", AVAILABLE)
@settings(deadline=None)  # a busy machine is no failure
@given(vectors=vector_sets())
def test_codes_stay_within_127_and_half_a_scale(name: str, vectors: NDArray[np.float32]) -> None:
    use(name)
    codes = quantize(vectors)
    assert codes.codes.min() >= -127
    restored = codes.codes * codes.scales[:, np.newaxis].astype(np.float64)
    # Float rounding of scale and quotient adds a little to the half; a subnormal scale a lot.
    normal = codes.scales >= np.finfo(np.float32).tiny
    error = np.abs(restored - vectors)[normal]
    assert (error <= 0.50002 * codes.scales[normal, np.newaxis]).all()


@pytest.mark.parametrize("name", AVAILABLE)
@settings(deadline=None)  # a busy machine is no failure
@given(vectors=vector_sets(), k=st.integers(0, 15), data=st.data())
def test_topk_is_the_start_of_the_sorted_rows(
    name: str, vectors: NDArray[np.float32], k: int, data: st.DataObject
) -> None:
    use(name)
    n = len(vectors)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    codes, query = quantize(vectors), quantize(vectors[:1])
    scores = scan(codes, query)
    in_order = sorted((-float(scores[row]), row) for row in range(n) if mask[row])[:k]
    rows, best = topk(codes, query, k, mask)
    assert rows.tolist() == [row for _, row in in_order]
    assert bits(best) == bits(scores[rows])
