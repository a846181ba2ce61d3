"""What old labels mean once there are finer types, merged ones and retired ones."""

from __future__ import annotations

from smartrag.perception.labels import Inventory, TypeRow
from smartrag.perception.training.data import Guideline
from smartrag.perception.training.guidelines import guideline

BASE = Inventory(9, (TypeRow(1, "person"), TypeRow(2, "organization"), TypeRow(3, "time")))
GROWN = BASE.with_types({"band": "organization", "duo": "band", "genre": ""})


def test_a_set_speaks_for_the_types_that_it_marks() -> None:
    assert guideline(BASE, ["person", "organization"]) == Guideline(
        {"person": (1,), "organization": (2,)}, (3,)
    )


def test_finer_types_stand_under_the_broader_one_and_free_ones_anywhere() -> None:
    assert guideline(GROWN, ["person", "organization"]) == Guideline(
        {"person": (1,), "organization": (2, 4, 5)}, (3, 6)
    )


def test_a_finer_type_that_is_marked_itself_stands_for_itself() -> None:
    assert guideline(GROWN, ["organization", "band"]).rows_of == {
        "organization": (2,),
        "band": (4, 5),
    }


def test_what_is_broader_than_the_marked_types_is_unmarked() -> None:
    assert guideline(GROWN, ["duo"]) == Guideline({"duo": (5,)}, (1, 2, 3, 4, 6))


def test_after_a_merge_both_names_mean_both_rows() -> None:
    merged = GROWN.merged("duo", "band")
    told = guideline(merged, ["band", "duo"])
    assert told.rows_of == {"band": (4, 5), "duo": (4, 5)}


def test_a_retired_type_marks_nothing_and_counts_as_the_one_above() -> None:
    retired = GROWN.retired("band")
    assert guideline(retired, ["band"]).rows_of == {}
    assert guideline(retired, ["organization"]).rows_of == {"organization": (2, 4, 5)}


def test_a_lenient_guideline_leaves_known_types_open() -> None:
    told = guideline(GROWN, ["organization", "band"], lenient=4)
    assert told.rows_of == {"organization": (2,), "band": (4, 5)}
    assert told.unmarked == (1, 2, 3, 6)
