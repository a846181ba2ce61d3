"""The names of what a paragraph is about."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.about import abouts
from smartrag.types import Mention, Paragraph


def found(title: str, text: str = "x", heading: tuple[str, ...] = ()) -> dict[str, float]:
    paragraph = Paragraph(0, 0, len(text), text, heading=heading)
    return {a.name: a.weight for a in abouts(title, paragraph)}


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Oslo", {"Oslo": 1.0}),
        ("John Doe (actor)", {"John Doe": 1.0, "John Doe (actor)": 1.0}),
        ("John D. Doe", {"John D. Doe": 1.0, "John Doe": 0.7}),
        ("John D Doe", {"John D Doe": 1.0, "John Doe": 0.7}),
        ("John Dan Doe", {"John Dan Doe": 1.0}),
        ("The Glass Orchard", {"The Glass Orchard": 1.0, "Glass Orchard": 0.8}),
        ("The Hobbit", {"The Hobbit": 1.0}),
        ("Springfield, Illinois", {"Springfield, Illinois": 1.0, "Springfield": 0.6}),
        ("Rye, New York", {"Rye, New York": 1.0}),
        ("Star Trek: Nemesis", {"Star Trek: Nemesis": 1.0, "Star Trek": 0.6}),
        ("Alien: Covenant", {"Alien: Covenant": 1.0}),
        ("  Two \n words ", {"Two words": 1.0}),
        ("The", {}),
        ("It", {}),
        ("...", {}),
        ("", {}),
    ],
)
def test_a_title_gives_its_usual_other_forms(title: str, names: dict[str, float]) -> None:
    assert found(title) == names


def test_the_last_two_headings_name_the_paragraph_beside_the_title() -> None:
    assert found("Trip", heading=("Top", "Norway", "Bergen")) == {
        "Trip": 1.0,
        "Norway": 1.0,
        "Bergen": 1.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "Mara Ida Lindqvist is a director.",
        "Mara Ida Lindqvist (born 1950) directed films.",
        "Mara Ida Lindqvist, a director, was born in Torvik.",
        "“Mara Ida Lindqvist” was a director.",
        "Mara  Ida  Lindqvist  was a director.",
    ],
)
def test_the_first_subject_counts_when_it_shares_a_word_with_a_heading(text: str) -> None:
    assert found("Mara Lindqvist", text) == {"Mara Lindqvist": 1.0, "Mara Ida Lindqvist": 0.8}
    assert found("Otto Brandl", text) == {"Otto Brandl": 1.0}


def test_without_any_heading_the_first_subject_stands_alone() -> None:
    assert found("", "The Isel River is 212 kilometres long.") == {"Isel River": 0.8}


def opening(text: str, surface: str, type_: str = "person") -> dict[str, float]:
    start = text.index(surface)
    mention = Mention(start, start + len(surface), surface, type_, 0.9)
    paragraph = Paragraph(0, 0, len(text), text)
    return {a.name: a.weight for a in abouts("", paragraph, [mention])}


def test_the_entity_with_which_a_text_begins_is_what_it_is_about() -> None:
    assert opening("Mara Lindqvist directed films.", "Mara Lindqvist") == {"Mara Lindqvist": 0.8}
    assert opening("The Glass Orchard won.", "Glass Orchard", "art") == {"Glass Orchard": 0.8}
    assert opening("“Mara Lindqvist sang.", "Mara Lindqvist") == {"Mara Lindqvist": 0.8}
    assert opening("When Mara Lindqvist sang.", "Mara Lindqvist") == {}
    assert opening("May 1987 saw rain.", "May 1987", "time") == {}


def test_a_name_is_of_the_kind_that_most_mentions_like_it_are() -> None:
    text = "Mara Lindqvist sang. Mara Lindqvist slept, and Otto too."
    inside = [
        Mention(start, start + 14, "Mara Lindqvist", "person", 0.9)
        for start in (text.index("Mara"), text.rindex("Mara"))
    ]
    above = [Mention(0, 14, "Mara Lindqvist", "location", 0.9)]
    paragraph = Paragraph(0, 0, len(text), text)
    assert {a.kind for a in abouts("Mara Lindqvist", paragraph, inside, above)} == {"person"}
    assert {a.kind for a in abouts("Mara Lindqvist", paragraph, [], above)} == {"location"}
    assert {a.kind for a in abouts("Mara Lindqvist", paragraph)} == {""}


def test_a_chat_is_about_those_who_speak_in_it() -> None:
    text = "Time: 12:00\nAdaBerg: Hello!\n[12:01] Otto Brandl: Hi, it is Oslo: rainy.\nAdaBerg: ok"
    assert found("", text) == {"Ada Berg": 0.6, "Otto Brandl": 0.6}
    assert found("", "Otto: one line only.") == {}


def test_a_message_is_about_its_sender() -> None:
    text = 'From: "Ada Berg" <ada@example.org>\nTo: Otto <otto@example.org>\n\nHello.'
    assert found("", text) == {"Ada Berg": 0.6}


def most_named(text: str, *names: str) -> dict[str, float]:
    mentions = [
        Mention(m.start(), m.end(), m[0], "person", 0.9) for m in re.finditer("|".join(names), text)
    ]
    paragraph = Paragraph(0, 0, len(text), text)
    return {a.name: a.weight for a in abouts("", paragraph, mentions)}


def test_where_nothing_else_tells_it_is_what_is_named_most_often() -> None:
    text = "when Ada saw Ben, Ada ran to Ben, and Ada fell."
    assert most_named(text, "Ada", "Ben") == {"Ada": 0.5}
    assert most_named(text + " poor Ben!", "Ada", "Ben") == {}
    assert most_named("when Ada saw Ada", "Ada") == {}


def test_a_stop_word_in_common_is_not_a_name_in_common() -> None:
    assert found("The Hobbit", "The Ring is a thing.") == {"The Hobbit": 1.0}


def test_a_subject_of_more_than_six_words_is_none() -> None:
    assert found("", "One Two Three Four Five Six is it.") == {"One Two Three Four Five Six": 0.8}
    assert found("", "One Two Three Four Five Six Seven is it.") == {}


def test_a_pronoun_is_no_subject() -> None:
    assert found("", "It is long.") == {}


@pytest.mark.parametrize(
    "phrase", ["known as", "also called", "known professionally as", "nicknamed", "stage name"]
)
def test_another_name_is_read_from_the_text(phrase: str) -> None:
    text = f"Ines Calder, {phrase} the Tin Nightingale, sings; {phrase} Tin Bird, too."
    assert found("Ines Calder", text) == {"Ines Calder": 1.0, "Tin Bird": 0.7}


def test_another_name_of_one_word_or_far_down_does_not_count() -> None:
    assert found("Ines Calder", "She is known as Madonna.") == {"Ines Calder": 1.0}
    late = f"{'x ' * 200}known as Tin Bird."
    assert found("Ines Calder", late) == {"Ines Calder": 1.0}


def test_a_name_found_twice_has_its_best_weight_and_the_best_come_first() -> None:
    text = "The Glass Orchard is a film, also called Orchard of Glass, a drama."
    paragraph = Paragraph(0, 0, len(text), text, heading=("Glass Orchard",))
    assert [(a.name, a.weight) for a in abouts("The Glass Orchard", paragraph)] == [
        ("Glass Orchard", 1.0),
        ("The Glass Orchard", 1.0),
        ("Orchard of Glass", 0.7),
    ]


ANY = st.text(st.sampled_from('AbÉ .,:;()"“known as ') | st.characters(), max_size=120)


@given(ANY, ANY, st.lists(ANY, max_size=3))
def test_any_text_gives_names_with_weights_between_0_and_1(
    title: str, text: str, heading: list[str]
) -> None:
    assert all(0 < w <= 1 for w in found(title, text, tuple(heading)).values())


@pytest.mark.parametrize("piece", [" ", "( ", "A ", "A. B. ", "known as A ", '" ', "(a ", "A,"])
def test_long_monotonous_texts_take_linear_time(piece: str) -> None:
    begun = time.process_time()
    found(f"A{piece * 20000}b", f"A{piece * 20000}b", (piece * 20000,))
    assert time.process_time() - begun < 8
