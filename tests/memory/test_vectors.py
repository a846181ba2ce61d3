"""Vectors in blocks, here of 64: what is written comes back, in the order of the ids."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartrag import Document
from smartrag.errors import StoreDamaged
from smartrag.kernels import quantize
from smartrag.memory import Store, StoreView, vectors
from smartrag.memory.vectors import VectorRows
from smartrag.types import Observation
from tests.fakes import HashingEncoder, observation, open_memory

ENCODER = HashingEncoder()


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "BLOCK_ROWS", 64)
        yield


def paragraph(number: int) -> Observation:
    """Paragraph `number` has `number % 3` sentences of its own."""
    text = f"number {number}. twice {2 * number}. square {number * number}."
    cuts = [0, text.index("twice"), text.index("square")]
    spans = tuple((cut, cut + 6) for cut in cuts[: number % 3])
    return observation(text, number, sentences=spans, encoder=ENCODER)


SEEN = [paragraph(number) for number in range(150)]


def put(store: Store, name: str, seen: Sequence[Observation], lens: str = "l") -> None:
    store.put(lens, Document(name, name), [seen[i : i + 20] for i in range(0, len(seen), 20)])


def blocks(store: Store) -> list[int]:
    """How many paragraphs each block holds."""
    return [
        length // 8
        for (length,) in store._connection.rows(
            "SELECT length(owners) FROM vector_blocks ORDER BY id"
        )
    ]


def assert_view_holds(view: StoreView, seen: Sequence[Observation]) -> None:
    """The view has exactly the quantised vectors of `seen` and of their sentences."""
    assert_holds(view.vectors, seen)
    rows, counts, codes = view.sentence_codes(range(len(seen)))
    assert rows == list(range(len(seen)))
    assert counts == [len(o.sentences) for o in seen]
    expected = quantize(np.concatenate([o.sentence_vectors for o in seen]))
    np.testing.assert_array_equal(codes.codes, expected.codes)
    np.testing.assert_array_equal(codes.scales, expected.scales)


def assert_holds(rows: VectorRows, seen: Sequence[Observation]) -> None:
    """`rows` are exactly the quantised vectors of `seen` and the spans of their sentences."""
    assert rows.owners.tolist() == sorted(rows.owners.tolist())
    expected = quantize(np.stack([o.vector for o in seen]))
    np.testing.assert_array_equal(rows.paragraphs.codes, expected.codes)
    np.testing.assert_array_equal(rows.paragraphs.scales, expected.scales)
    assert rows.sentence_counts.tolist() == [len(o.sentences) for o in seen]
    spans = [span for o in seen for span in o.sentences]
    assert [tuple(span) for span in rows.sentence_spans.tolist()] == spans


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1, [1]),
        (63, [63]),
        (64, [64]),
        (65, [64, 1]),
        (128, [64, 64]),
        (150, [64, 64, 22]),
    ],
)
def test_blocks_are_filled_up_before_a_new_one_is_begun(
    store: Store, count: int, sizes: list[int]
) -> None:
    seen = SEEN[:count]
    put(store, "a", seen[: count // 2])
    put(store, "b", seen[count // 2 :])
    assert blocks(store) == sizes
    assert_view_holds(store.view("l"), seen)


def test_a_document_in_the_middle_goes_and_the_rest_stays_in_order(store: Store) -> None:
    seen = SEEN
    put(store, "a", seen[:50])
    put(store, "b", seen[50:100])
    put(store, "c", seen[100:])
    store.forget("l", "b")
    assert blocks(store) == [50, 28, 22]
    assert_view_holds(store.view("l"), seen[:50] + seen[100:])
    put(store, "b", seen[50:100])
    assert blocks(store) == [50, 28, 64, 8]
    assert store.view("l").paragraph_ids.tolist() == [*range(1, 51), *range(101, 201)]
    assert_view_holds(store.view("l"), seen[:50] + seen[100:] + seen[50:100])


def test_sentence_vectors_go_with_their_paragraph(store: Store) -> None:
    put(store, "a", SEEN[:5])
    put(store, "b", SEEN[5:9])
    view = store.view("l")
    store.forget("l", "a")
    assert view.sentence_codes(range(9))[0] == [5, 6, 7, 8]
    assert store._connection.rows("SELECT count(*) FROM sentence_vectors") == [(4,)]


def test_sentence_vectors_renewed_by_another_encoder_are_left_out(store: Store) -> None:
    put(store, "a", SEEN[:6])
    view = store.view("l")
    with store._connection.atomic():  # what another process would leave behind
        store._connection.execute(
            "UPDATE sentence_vectors SET codes = zeroblob(8) WHERE paragraph_id = 3"
        )
    assert view.sentence_codes(range(6))[0] == [0, 1, 3, 4, 5]


@pytest.mark.parametrize(
    "damage",
    [
        "codes = zeroblob(length(codes) - 32)",
        "codes = zeroblob(length(codes) + 32)",
        "scales = CAST(x'0000c07f' || substr(scales, 5) AS BLOB)",  # NaN
        "sentence_spans = zeroblob(0)",
    ],
)
def test_vectors_that_do_not_fit_together_are_refused(store: Store, damage: str) -> None:
    put(store, "a", SEEN[:6])
    with store._connection.atomic():
        store._connection.execute(f"UPDATE vector_blocks SET {damage}")
    with pytest.raises(StoreDamaged, match="vectors in the file do not fit together"):
        store.view("l")


def test_recall_does_not_count_that_each_paragraph_finds_itself(store: Store) -> None:
    assert store.view("l").sketch_recall(100) == 1
    put(store, "a", SEEN)
    assert store.view("l").sketch_recall(len(SEEN)) == pytest.approx(1)
    assert store.view("l").sketch_recall(11) < 1  # as many candidates as neighbours


def test_an_emptied_block_goes(store: Store) -> None:
    seen = SEEN[:130]
    put(store, "a", seen[:64])
    put(store, "b", seen[64:128])
    put(store, "c", seen[128:])
    store.forget("l", "b")
    assert blocks(store) == [64, 2]
    store.forget("l", "c")
    store.forget("l", "a")
    assert blocks(store) == []
    assert len(store.view("l").paragraph_ids) == 0


def test_each_lens_has_blocks_of_its_own(store: Store) -> None:
    seen = SEEN[:6]
    put(store, "a", seen[:2], lens="l")
    put(store, "a", seen[2:4], lens="m")
    put(store, "b", seen[4:], lens="l")
    assert blocks(store) == [4, 2]
    assert_view_holds(store.view("l"), seen[:2] + seen[4:])
    assert_view_holds(store.view("m"), seen[2:4])


def test_a_document_may_have_more_paragraphs_than_sqlite_takes_values(store: Store) -> None:
    store._connection._sql.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 100)
    put(store, "a", SEEN)
    put(store, "a", SEEN[:3])
    assert blocks(store) == [3]
    store.forget("l", "a")
    assert blocks(store) == []


def test_a_lens_without_documents_has_no_rows(store: Store) -> None:
    rows = store.view("nobody's").vectors
    assert rows.owners.shape == (0,)
    assert rows.paragraphs.codes.shape == (0, 32)
    assert rows.sentence_spans.shape == (0, 2)


@given(st.permutations(range(7)), st.integers(0, 7))
def test_rows_written_in_any_order_are_read_in_the_order_of_ids(order: list[int], cut: int) -> None:
    seen = [SEEN[n] for n in order]
    rows = VectorRows(
        np.array(order, np.int64),
        quantize(np.stack([o.vector for o in seen])),
        np.array([len(o.sentences) for o in seen], np.int32),
        np.array([span for o in seen for span in o.sentences], np.int32).reshape(-1, 2),
    )
    position = np.arange(7)
    joined = vectors._joined([rows.select(position < cut), rows.select(position >= cut)])
    sorted_rows = vectors._reordered(joined, np.argsort(joined.owners))
    assert sorted_rows.owners.tolist() == list(range(7))
    assert_holds(sorted_rows, SEEN[:7])


def test_blocks_out_of_order_are_loaded_in_the_order_of_ids(store: Store) -> None:
    seen = SEEN[:130]
    put(store, "a", seen)
    sql = store._connection
    with sql.atomic():  # as if the last block had been written first
        sql.execute("PRAGMA defer_foreign_keys = ON")
        sql.execute("UPDATE vector_blocks SET id = -id WHERE id = 3")
        sql.execute("UPDATE paragraphs SET block_id = -3 WHERE block_id = 3")
    assert blocks(store) == [2, 64, 64]
    assert_view_holds(store.view("l"), seen)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 70)), min_size=1, max_size=6))
def test_any_sequence_of_writes_keeps_the_latest_version_of_each_document(
    writes: list[tuple[int, int]],
) -> None:
    latest: dict[int, list[Observation]] = {}
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder) / "m.db") as memory:
        assert memory.perception  # claims the encoder
        for name, count in writes:
            latest.pop(name, None)
            latest[name] = SEEN[name : name + count]
            put(memory.store, str(name), latest[name])
        expected = [o for seen in latest.values() for o in seen]
        view = memory.store.view("l")
        assert len(view.paragraph_ids) == len(expected)
        if expected:
            assert_view_holds(view, expected)
        assert all(0 < size <= vectors.BLOCK_ROWS for size in blocks(memory.store))
