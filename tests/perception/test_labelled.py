from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.errors import ReadError
from smartrag.perception.labelled import (
    Entity,
    Sentence,
    read_sentences,
    sentence_of,
    write_sentences,
)

GOOD = {"tokens": ["Ada", "sang", "in", "Oslo"], "entities": [[3, 3, "place"], [0, 0, "person"]]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "labelled.jsonl"


def test_sentences_are_read_with_their_entities_in_order(file: Path) -> None:
    file.write_text(json.dumps({"id": "one", **GOOD}) + "\n\n" + json.dumps(GOOD))
    one, two = read_sentences(file)
    assert one == Sentence(
        "one",
        ("Ada", "sang", "in", "Oslo"),
        (Entity(0, 0, "person"), Entity(3, 3, "place")),
    )
    assert two.id == "3"  # the line, where a sentence has no name
    assert one.text == "Ada sang in Oslo"
    assert one.spans() == [(0, 3), (4, 8), (9, 11), (12, 16)]


def test_a_compressed_file_and_latex_quotes_are_read(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl.gz"
    with gzip.open(file, "wt") as out:
        out.write(json.dumps({"tokens": ["``", "Ada", "''"], "entities": []}))
    [sentence] = read_sentences(file)
    assert sentence.text == '" Ada "'


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entites": []}, "unknown key 'entites'"),
        ({"tokens": []}, "'tokens' must be"),
        ({"tokens": ["a b", "c"]}, "'tokens' must be"),
        ({"tokens": "Ada"}, "'tokens' must be"),
        ({"entities": None}, "'entities' must be"),
        ({"entities": [[0, 4, "x"]]}, "lies outside the 4 tokens"),
        ({"entities": [[-1, 0, "x"]]}, "lies outside"),
        ({"entities": [[2, 1, "x"]]}, "lies outside"),
        ({"entities": [[0, "x"]]}, "is not [first, last, type]"),
        ({"entities": [[0, 0, "x\n"]]}, "outer white space"),
        ({"entities": [[0, 0, "x\u202ey"]]}, "control characters"),
        ({"entities": [[0, 0, ""]]}, "is empty"),
        ({"entities": [[0, 0, "x" * 61]]}, "longer than 60"),
        ({"entities": [[0, 2, "x"], [1, 3, "y"]]}, "overlap"),
        ({"entities": [[0, 2, "x"], [0, 2, "y"]]}, "of the same tokens"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(
    file: Path, change: dict[str, object], problem: str
) -> None:
    file.write_text(json.dumps(GOOD) + "\n" + json.dumps({**GOOD, **change}))
    with pytest.raises(ReadError) as caught:
        list(read_sentences(file))
    assert "line 2" in str(caught.value)
    assert problem in str(caught.value)
    assert caught.value.subject == str(file)


def test_overlapping_entities_are_kept_where_they_are_expected(file: Path) -> None:
    file.write_text(json.dumps({**GOOD, "entities": [[0, 3, "x"], [3, 3, "y"]]}))
    [sentence] = read_sentences(file, nested=True)
    assert sentence.entities == (Entity(0, 3, "x"), Entity(3, 3, "y"))


def test_what_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(json.dumps(GOOD).encode())[:-9])
    for path in (tmp_path / "missing.jsonl", tmp_path, torn):
        with pytest.raises(ReadError):
            list(read_sentences(path))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    file = tmp_path_factory.mktemp("any") / "labelled.jsonl"
    file.write_bytes(raw)
    try:
        list(read_sentences(file))
    except ReadError as error:
        assert error.subject == str(file)


def test_running_text_becomes_a_sentence_with_whole_words_labelled() -> None:
    sentence = sentence_of("Abba’s first band, Queen.", [(19, 24, "band"), (0, 3, "band")], "one")
    assert sentence.tokens == ("Abba", "’", "s", "first", "band", ",", "Queen", ".")
    assert sentence.entities == (Entity(0, 0, "band"), Entity(6, 6, "band"))
    assert sentence.id == "one"
    overlapping = sentence_of("Abba Queen", [(0, 10, "band"), (5, 10, "song"), (99, 101, "x")])
    assert overlapping.entities == (Entity(0, 1, "band"),)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    sentences = [sentence_of("Ada sang.", [(0, 3, "person")], "a"), sentence_of("Å 生.", [], "b")]
    write_sentences(tmp_path / "some.jsonl.gz", sentences)
    assert list(read_sentences(tmp_path / "some.jsonl.gz")) == sentences
