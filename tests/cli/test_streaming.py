from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from smartrag.cli.streaming import StreamedAnswer

# All of Unicode with lone surrogates too: a model may write half a pair as an escape.
_TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from('"\\{}[],:/\n\ud83d\ude00'))
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_TEXT | st.just("answer"), inner, max_size=3)
    ),
    max_leaves=8,
)


def stream(text: str, cuts: list[int]) -> str:
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    answer = StreamedAnswer()
    return "".join(answer.feed(text[a:b]) for a, b in pairwise(edges))


@given(
    st.dictionaries(_TEXT.filter(lambda key: key != "answer"), _VALUE, max_size=3),
    _TEXT,
    st.dictionaries(_TEXT.filter(lambda key: key != "answer"), _VALUE, max_size=3),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.lists(st.integers(min_value=0), max_size=12),
)
def test_any_pieces_give_the_decoded_value(
    before: dict[str, object],
    value: str,
    after: dict[str, object],
    ascii_only: bool,
    indent: int | None,
    cuts: list[int],
) -> None:
    kept = {key: v for key, v in after.items() if key not in before}
    text = json.dumps({**before, "answer": value, **kept}, ensure_ascii=ascii_only, indent=indent)
    assert stream(text, cuts) == json.loads(text)["answer"]


@given(
    st.dictionaries(_TEXT.filter(lambda key: key != "answer"), _VALUE, max_size=4),
    st.lists(st.integers(min_value=0), max_size=5),
)
def test_a_reply_without_the_key_gives_nothing(value: dict[str, object], cuts: list[int]) -> None:
    assert stream(json.dumps(value), cuts) == ""


@given(st.text(max_size=60), st.lists(st.integers(min_value=0), max_size=5))
def test_no_text_is_an_error(text: str, cuts: list[int]) -> None:
    stream(text, cuts)


def test_what_is_known_is_given_at_once() -> None:
    answer = StreamedAnswer()
    pieces = ['Sure: {"ans', 'wer": "O', "s", "lo", "\\u00e", '9", "answer": "x"}']
    assert [answer.feed(piece) for piece in pieces] == ["", "O", "s", "lo", "", "é"]


def test_a_pair_of_escapes_waits_for_its_second_half() -> None:
    answer = StreamedAnswer()
    assert answer.feed('{"answer": "\\ud83d') == ""
    assert answer.feed('\\ude00"}') == "😀"


def test_an_escaped_key_counts_and_a_nested_one_does_not() -> None:
    assert stream('{"a": {"answer": "no"}, "\\u0061nswer": "yes"}', []) == "yes"


def test_other_values_give_nothing() -> None:
    for value in ("1984", "null", '["x"]', '{"answer": "x"}'):
        assert stream('{"answer": ' + value + ', "b": "c"}', []) == ""


def test_a_broken_escape_is_shown_as_unknown() -> None:
    assert stream('{"answer": "a\\uzzzzb"}', []) == "a\ufffdb"
