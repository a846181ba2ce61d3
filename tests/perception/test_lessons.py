"""Lesson files: what is new in them, and every way in which one can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.errors import ReadError
from smartrag.perception.labels import Inventory, TypeRow
from smartrag.perception.lessons import FEWEST, Lesson, read_lesson

KNOWN = Inventory(8, (TypeRow(1, "person"), TypeRow(2, "organization")))
SANG = {"tokens": ["Abba", "met", "Ada"], "entities": [[0, 0, "band"], [2, 2, "person"]]}
BAND = {"type": "band", "parent": "organization"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lesson.jsonl"


def written(file: Path, *lines: object) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def refused(file: Path, *lines: object) -> str:
    with pytest.raises(ReadError) as caught:
        read_lesson(written(file, *lines), KNOWN)
    assert str(file) in str(caught.value)
    assert caught.value.remedy
    return caught.value.problem


def test_a_lesson_holds_its_sentences_and_its_new_types(file: Path) -> None:
    lesson = read_lesson(written(file, BAND, *[SANG] * FEWEST), KNOWN)
    assert dict(lesson.new) == {"band": "organization"}
    assert lesson.marked == ("band", "person")
    assert len(lesson.sentences) == FEWEST


def test_a_type_needs_no_declaration(file: Path) -> None:
    lesson = read_lesson(written(file, *[SANG] * FEWEST), KNOWN)
    assert dict(lesson.new) == {"band": ""}


def test_a_new_type_may_be_a_kind_of_another_new_one(file: Path) -> None:
    duo = {"tokens": ["Eurythmics"], "entities": [[0, 0, "duo"]]}
    declared = ({"type": "duo", "parent": "band"}, BAND)
    lesson = read_lesson(written(file, *declared, *[SANG, duo] * FEWEST), KNOWN)
    assert dict(lesson.new) == {"band": "organization", "duo": "band"}


def test_equal_lessons_have_equal_sums(file: Path) -> None:
    one = read_lesson(written(file, BAND, *[SANG] * FEWEST), KNOWN)
    two = read_lesson(written(file, *[SANG] * FEWEST, BAND), KNOWN)
    three = read_lesson(written(file, *[SANG] * FEWEST), KNOWN)
    assert one.sha256() == two.sha256() != three.sha256()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "no sentences"),
        ([{**SANG, "entities": [[2, 2, "person"]]}] * FEWEST, "all types in the file are known"),
        ([SANG] * 5, "'band' has 5 mentions and needs 10"),
        ([BAND, BAND, *[SANG] * FEWEST], "line 2: the type 'band' is declared twice"),
        ([BAND], "no sentences"),
        ([{**BAND, "color": 1}], "line 1: has the unknown key 'color'"),
        ([{"type": "ba\u0007nd"}], "has control characters"),
        ([{"type": ""}], "is empty"),
        ([{"type": 3}], "must be strings"),
        ([{"type": "band", "parent": None}], "must be strings"),
        ([{**SANG, "tags": []}], "unknown key 'tags'"),
        ([{**SANG, "entities": [[0, 3, "band"]]}], "outside the 3 tokens"),
        ([{**SANG, "entities": [[0, 1, "band"], [1, 2, "band"]]}], "overlap"),
        ([{**SANG, "entities": [[0, 0, "ba\u0000nd"]]}], "has control characters"),
        (["nothing"], "is not a JSON object"),
        ([{"type": "band", "parent": "choir"}, *[SANG] * FEWEST], "'choir', which is unknown"),
        ([{"type": "band", "parent": "band"}, *[SANG] * FEWEST], "is a kind of itself"),
    ],
)
def test_what_is_wrong_is_named(file: Path, lines: list[object], problem: str) -> None:
    assert problem in refused(file, *lines)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be read"):
        read_lesson(tmp_path / "none.jsonl", KNOWN)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_lesson_or_refused(tmp_path_factory: object, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.jsonl"  # type: ignore[attr-defined]
    file.write_bytes(content)
    try:
        assert isinstance(read_lesson(file, KNOWN), Lesson)
    except ReadError as error:
        assert error.subject == str(file)
