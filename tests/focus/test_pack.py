"""Evidence that fits, the most telling first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from smartrag.focus import pack
from smartrag.types import Passage
from tests.focus.graphs import passage


def words(passages: Sequence[Passage]) -> int:
    """Each passage costs its words and two for its head."""
    return sum(2 + len(p.excerpt.split()) for p in passages)


def kept(packed: Sequence[Passage]) -> dict[int, tuple[int, ...]]:
    return {p.paragraph_id: p.kept for p in packed}


FIVE = [passage(i, "a b c.", "d e f.", "g h i.") for i in range(5)]


def test_with_room_for_all_everything_is_kept() -> None:
    packed = pack(FIVE, 500, words)
    assert [p.excerpt for p in packed] == ["a b c. d e f. g h i."] * 5


def test_sentences_are_taken_in_the_order_of_their_worth() -> None:
    # 5 words for the first sentence of a passage, 3 for each further one.
    steps = [
        (5, {0: (0,)}),
        (10, {0: (0,), 1: (0,)}),
        (13, {0: (0, 1), 1: (0,)}),
        (16, {0: (0, 1), 1: (0, 1)}),
        (21, {0: (0, 1), 1: (0, 1), 2: (0,)}),
        (24, {0: (0, 1), 1: (0, 1), 2: (0, 1)}),
        (29, {0: (0, 1), 1: (0, 1), 2: (0, 1), 3: (0,)}),
        (34, {0: (0, 1), 1: (0, 1), 2: (0, 1), 3: (0,), 4: (0,)}),
        (37, {0: (0, 1, 2), 1: (0, 1), 2: (0, 1), 3: (0,), 4: (0,)}),
        (40, {0: (0, 1, 2), 1: (0, 1, 2), 2: (0, 1), 3: (0,), 4: (0,)}),
        (43, {0: (0, 1, 2), 1: (0, 1, 2), 2: (0, 1), 3: (0, 1), 4: (0,)}),
    ]
    for budget, expected in steps:
        assert kept(pack(FIVE, budget, words)) == expected


def test_a_sentence_that_does_not_fit_is_passed_over_and_shorter_ones_are_tried() -> None:
    long = passage(0, "a b c d e f g h i j k l.", "short one.")
    other = passage(1, "m n.")
    assert kept(pack([long, other], 8, words)) == {0: (1,), 1: (0,)}


def test_the_most_telling_sentence_comes_first_and_the_text_order_is_restored() -> None:
    telling = replace(passage(0, "first.", "second.", "third."), kept=(2, 0, 1))
    assert kept(pack([telling], 3, words)) == {0: (2,)}
    assert kept(pack([telling], 4, words)) == {0: (0, 2)}
    assert pack([telling], 4, words)[0].excerpt == "first. third."


def test_passages_that_keep_no_sentence_are_left_out() -> None:
    assert pack([replace(FIVE[0], kept=()), FIVE[1]], 500, words) == (FIVE[1],)
    assert pack(FIVE, 4, words) == ()
    assert pack([], 500, words) == ()


PASSAGES = st.lists(
    st.lists(st.text("ab \n", max_size=40), max_size=5).flatmap(
        lambda sentences: st.permutations(range(len(sentences))).map(
            lambda order: replace(passage(0, *sentences), kept=tuple(order))
        )
    ),
    max_size=8,
).map(lambda ps: [replace(p, paragraph_id=i) for i, p in enumerate(ps)])


@given(PASSAGES, st.integers(0, 500))
def test_the_budget_is_never_exceeded_and_nothing_is_invented(
    passages: list[Passage], budget: int
) -> None:
    packed = pack(passages, budget, words)
    assert words(packed) <= budget
    ids = [p.paragraph_id for p in packed]
    assert ids == sorted(set(ids))
    for p in packed:
        assert p.kept
        assert set(p.kept) <= set(passages[p.paragraph_id].kept)
        assert list(p.kept) == sorted(p.kept)


@given(PASSAGES)
def test_a_large_budget_keeps_all_sentences(passages: list[Passage]) -> None:
    packed = pack(passages, 10**6, words)
    assert kept(packed) == {p.paragraph_id: tuple(sorted(p.kept)) for p in passages if p.kept}
