from __future__ import annotations

import json

import pytest

from smartrag.errors import ReadError
from smartrag.perception.readers.jsonl import read_json, read_jsonl
from smartrag.types import Document, Section


def sections(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(s.heading, document.text[s.start : s.end]) for s in document.sections]


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def test_a_corpus_has_a_section_a_row_and_no_title() -> None:
    text = '{"id": 1, "title": "A", "text": "one"}\n\n{"title": "", "text": "two"}\n'
    document = read_jsonl(text, "corpus.jsonl")
    assert document.text == "one\n\ntwo"
    assert document.sections == (Section(0, 3, ("A",)), Section(5, 8))
    assert (document.title, document.media_type) == ("", "application/jsonl")


def test_question_rows_give_each_passage_once_and_no_question() -> None:
    first = {
        "question": "Who?",
        "answers": ["Ada"],
        "paragraphs": [
            {"title": "A", "text": "one", "supporting": True},
            {"title": "B", "text": "x"},
        ],
    }
    second = {
        "question": "Where?",
        "paragraphs": [{"title": "B", "text": "x"}, {"title": "B", "text": "y"}],
    }
    empty = {"question": "When?", "paragraphs": []}
    document = read_jsonl(lines(first, second, empty), "hotpot.jsonl")
    assert sections(document) == [(("A",), "one"), (("B",), "x"), (("B",), "y")]
    assert document.title == ""


def test_the_official_forms_of_the_same_passages() -> None:
    passage = [(("A",), "One. Two.")]
    hotpot = {"question": "?", "context": [["A", ["One.", " Two."]]]}
    wiki = {"question": "?", "context": [["A", ["One.", "Two."]]]}
    columns = {"question": "?", "context": {"title": ["A"], "sentences": [["One.", " Two."]]}}
    musique = {"question": "?", "paragraphs": [{"title": "A", "paragraph_text": "One. Two."}]}
    for row in (hotpot, wiki, columns, musique):
        assert sections(read_json(json.dumps([row]), "a.json")) == passage
    assert sections(read_jsonl(lines(hotpot, wiki, columns, musique), "a.jsonl")) == passage


def test_other_rows_are_lines_of_their_fields() -> None:
    row = {
        "name": "Ada",
        "born": {"year": 1815, "place": {"city": "London"}},
        "tags": ["x", "y"],
        "alive": False,
        "note": None,
        "context": "free text",
        "paragraphs": [],
    }
    document = read_json(json.dumps(row), "a_b.json")
    assert sections(document) == [
        (
            ("Ada",),
            "name: Ada\nborn.year: 1815\nborn.place.city: London\ntags: x\ntags: y\n"
            "context: free text",
        )
    ]
    assert (document.title, document.media_type) == ("a b", "application/json")


def test_escapes_cannot_bring_back_what_decoding_removed() -> None:
    document = read_jsonl(r'{"title": "a\ud800b", "text": "c\u0000d\re"}', "a.jsonl")
    assert sections(document) == [(("a b",), "c d\ne")]


def test_a_string_may_hold_a_unicode_line_end() -> None:
    document = read_jsonl('{"title": "A", "text": "x\u2028y\tz"}', "a.jsonl")
    assert document.text == "x\u2028y\tz"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1}\n\n{"a": ', "malformed at line 3"),
        ('{"a": 1}\n[1]', "line 2 is not a JSON object"),
        ("[" * 100_000, "malformed at line 1 .nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "malformed at line 1 .a number with too many digits"),
    ],
)
def test_a_bad_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(ReadError, match=problem) as caught:
        read_jsonl(text, "a.jsonl")
    assert caught.value.subject == "a.jsonl"


def test_a_bad_place_in_an_array_is_named() -> None:
    with pytest.raises(ReadError, match="malformed at line 2"):
        read_json('[{"a": 1},\n{"a" 2}]', "a.json")
    with pytest.raises(ReadError, match="row 2 is not a JSON object"):
        read_json('[{"a": 1}, 2]', "a.json")
