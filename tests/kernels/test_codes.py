"""int8 codes: what is taken, what is refused, and quantisation by hand and by property."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from smartrag.kernels import Codes, quantize, use

from .conftest import (
    AVAILABLE,
    AWKWARD_DIMS,
    AWKWARD_ROWS,
    Arrays,
    assert_agreement,
    assert_same,
    f32,
    raw,
)

FOUR = raw([[1, 2], [3, 4], [5, 6], [7, 8]], [0.5, 1, 1.5, 2])


# --- Codes --------------------------------------------------------------------------------------
def test_codes_know_their_size() -> None:
    assert len(FOUR) == 4
    assert FOUR.dim == 2
    assert len(Codes.empty(7)) == 0
    assert Codes.empty(7).dim == 7


def test_codes_keep_the_arrays_that_they_are_given() -> None:
    codes, scales = np.zeros((2, 3), np.int8), np.zeros(2, np.float32)
    kept = Codes(codes, scales)
    assert kept.codes is codes
    assert kept.scales is scales


def test_rows_are_picked_by_number_by_mask_and_by_slice() -> None:
    by_number = FOUR.rows(np.array([3, 0, 3]))
    assert by_number.codes.tolist() == [[7, 8], [1, 2], [7, 8]]
    assert by_number.scales.tolist() == [2, 0.5, 2]
    by_mask = FOUR.rows(np.array([False, True, False, True]))
    assert by_mask.codes.tolist() == [[3, 4], [7, 8]]
    by_slice = FOUR.rows(slice(1, 3))
    assert by_slice.scales.tolist() == [1, 1.5]
    assert np.shares_memory(by_slice.codes, FOUR.codes)
    assert len(FOUR.rows(slice(2, 2))) == 0
    assert len(FOUR.rows(np.empty(0, np.int64))) == 0


def test_codes_are_put_together_in_order() -> None:
    both = Codes.concatenate([raw([[1, 2]], [0.5]), Codes.empty(2), raw([[3, 4]], [0.25])])
    assert len(both) == 2
    assert both.dim == 2
    assert both.codes.tolist() == [[1, 2], [3, 4]]
    assert both.scales.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("parts", [[], [Codes.empty(2), Codes.empty(3)]])
def test_nothing_and_unequal_dimensions_cannot_be_put_together(parts: list[Codes]) -> None:
    with pytest.raises(ValueError, match=r"concatenate|dimension"):
        Codes.concatenate(parts)


@pytest.mark.parametrize(
    ("codes", "scales", "message"),
    [
        (np.zeros((2, 3), np.uint8), np.zeros(2, np.float32), "codes must be int8"),
        (np.zeros(3, np.int8), np.zeros(3, np.float32), r"not int8 of shape \(3,\)"),
        (np.zeros((2, 3), np.int8), np.zeros(2), "scales must be float32"),
        (np.zeros((2, 3), np.int8), np.zeros(3, np.float32), "each of the 2 rows"),
        (np.zeros((2, 3), np.int8), np.zeros((2, 1), np.float32), "each of the 2 rows"),
        (np.zeros((3, 2), np.int8).T, np.zeros(2, np.float32), "contiguous"),
        (np.zeros((2, 3), np.int8), np.zeros(4, np.float32)[::2], "contiguous"),
        (np.zeros((2, 3), np.int8), np.frombuffer(b"." * 9, np.float32, 2, 1), "aligned"),
        (np.zeros((2, 0), np.int8), np.zeros(2, np.float32), "dimension"),
        (np.zeros((0, 131_072), np.int8), np.zeros(0, np.float32), "dimension"),
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


def test_the_largest_numbers(isa: str) -> None:
    codes = quantize(f32([1e16, -1e16], [0, 1e16]))
    assert codes.codes.tolist() == [[127, -127], [0, 127]]
    assert codes.scales.tolist() == [float(np.float32(1e16) / np.float32(127))] * 2


def test_quantize_takes_no_rows_and_any_layout(isa: str) -> None:
    assert len(quantize(np.empty((0, 3), np.float32))) == 0
    columns = np.asfortranarray(f32([1, 2], [3, 4]))
    assert quantize(columns).codes.tolist() == [[64, 127], [95, 127]]  # 63.5 and 95.25
    odd_address = np.frombuffer(b"." + f32([1, 2]).tobytes(), np.float32, 2, 1).reshape(1, 2)
    assert quantize(odd_address).codes.tolist() == [[64, 127]]


def test_quantize_leaves_the_vectors_as_they_are(isa: str) -> None:
    vectors = f32([1, -2], [0, 0.5])
    quantize(vectors)
    assert vectors.tolist() == [[1, -2], [0, 0.5]]


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
        (np.zeros((2, 3), ">f4"), "not >f4"),
        (np.zeros(3, np.float32), r"not float32 of shape \(3,\)"),
        (np.zeros((2, 0), np.float32), "dimension must lie within 1 and 131071, not be 0"),
        (np.zeros((0, 131_072), np.float32), "not be 131072"),
    ],
)
def test_quantize_refuses_other_arrays(vectors: NDArray[np.float32], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quantize(vectors)


# --- every implementation -----------------------------------------------------------------------
def arrays_of(codes: Codes) -> Arrays:
    return [codes.codes, codes.scales]


@pytest.mark.parametrize("dim", [*AWKWARD_DIMS, 1025, 4099])
def test_agreement_on_awkward_dimensions(dim: int) -> None:
    vectors = np.random.default_rng(dim).standard_normal((70, dim)).astype(np.float32)
    vectors[::9] *= np.float32(1e-42)
    assert_agreement(lambda: arrays_of(quantize(vectors)))


@pytest.mark.parametrize("n", AWKWARD_ROWS)
def test_agreement_on_awkward_numbers_of_rows(n: int) -> None:
    vectors = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
    assert_agreement(lambda: arrays_of(quantize(vectors)))


def test_agreement_on_numbers_that_are_nearly_ties() -> None:
    # With a scale of 1, half integers and their neighbours in float32 meet every rounding.
    halves = np.arange(-126.5, 127, dtype=np.float32)
    numbers = [halves, np.nextafter(halves, np.float32(0)), np.nextafter(halves, np.float32(999))]
    vectors = np.concatenate([[127], *numbers]).astype(np.float32)[np.newaxis]
    assert_agreement(lambda: arrays_of(quantize(vectors)))
    assert quantize(vectors).scales.tolist() == [1.0]


vector_sets = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 12), st.integers(1, 40)),
    elements=st.floats(-(2.0**53), 2.0**53, width=32),
)


@settings(max_examples=50)
@given(vectors=vector_sets)
def test_agreement_on_any_vectors(vectors: NDArray[np.float32]) -> None:
    assert_agreement(lambda: arrays_of(quantize(vectors)))


@settings(max_examples=50)
@given(vectors=vector_sets)
def test_codes_stay_within_127_and_half_a_scale(vectors: NDArray[np.float32]) -> None:
    for name in AVAILABLE:
        use(name)
        codes = quantize(vectors)
        assert codes.codes.min() >= -127
        restored = codes.codes * codes.scales[:, np.newaxis].astype(np.float64)
        # Float rounding of scale and quotient adds a little to the half; a subnormal scale a lot.
        normal = codes.scales >= np.finfo(np.float32).tiny
        error = np.abs(restored - vectors)[normal]
        assert (error <= 0.50002 * codes.scales[normal, np.newaxis]).all(), name


@settings(max_examples=50)
@given(vectors=vector_sets, data=st.data())
def test_a_row_is_quantised_whatever_stands_beside_it(
    vectors: NDArray[np.float32], data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, len(vectors) - 1))
    for name in AVAILABLE:
        use(name)
        alone = quantize(vectors[row : row + 1])
        assert_same(arrays_of(alone), arrays_of(quantize(vectors).rows(slice(row, row + 1))))
