"""Coreference: pronouns of the main entity, and silence where another one could be meant."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.coreference import antecedents
from smartrag.types import About, Mention

TYPES = {
    "Ada Lovelace": "person",
    "Lovelace": "person",
    "Charles Babbage": "person",
    "Alien": "art",
    "Aliens": "art",
    "Acme": "organization",
    "Bolt": "organization",
    "Oslo": "location",
    "Norway": "location",
    "1815": "time",
    "Whoever": "name",
}
NAME = re.compile("|".join(sorted(TYPES, key=len, reverse=True)))


def mentions(text: str) -> list[Mention]:
    return [Mention(*m.span(), m[0], TYPES[m[0]], 1.0) for m in NAME.finditer(text)]


def resolved(text: str, *titles: str, known: dict[str, str] | None = None) -> str:
    """`text` with an asterisk behind every reference that is linked."""
    abouts = [About(title, 1.0) for title in titles]
    for link in reversed(antecedents(text, mentions(text), abouts, known)):
        text = f"{text[: link.end]}*{text[link.end :]}"
    return text


# --- persons --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace was born in 1815. She* lived in Oslo, where her* house stands.",
        "In Oslo, Ada Lovelace lived. Lovelace loved it, and it loved her*.",
        "Ada Lovelace met Charles Babbage. He asked what she knew.",
        # The second sentence begins with "she", and the third goes on with it.
        "Ada Lovelace wrote in Oslo. She* knew Charles Babbage well. She* died, but she* is read.",
        # Whose house?
        "Ada Lovelace wrote in Oslo. She* knew Charles Babbage and her house. "
        "Her* work lives on to this day.",
        "Ada Lovelace wrote in Oslo. Charles Babbage knew her then. She read what he wrote.",
        "Ada Lovelace wrote. Charles Babbage spoke. She died.",
        "Ada Lovelace wrote. Her* mother wept. She died.",
        "Ada Lovelace wrote to Whoever, and she wept.",
        "Ada Lovelace wrote “She Walks in Beauty”. They liked it.",
    ],
)
def test_a_pronoun_stands_for_the_person_until_another_could_be_meant(text: str) -> None:
    assert resolved(text.replace("*", ""), "Ada Lovelace") == text


def test_a_link_names_the_main_entity_as_the_paragraph_does() -> None:
    text = "Lovelace wrote. She read."
    [link] = antecedents(text, mentions(text), [About("Lovelace", 1.0)])
    assert (text[link.start : link.end], link.name, link.type) == ("She", "Lovelace", "person")


def test_without_a_title_the_first_subject_is_the_main_entity() -> None:
    assert resolved("Ada Lovelace wrote. She read.") == "Ada Lovelace wrote. She* read."
    assert resolved("“The Acme” fell. Its end came.") == "“The Acme” fell. Its* end came."
    assert resolved("In Oslo Ada Lovelace wrote. She read.") == (
        "In Oslo Ada Lovelace wrote. She read."
    )
    assert resolved("Whoever wrote. She read. It fell.") == "Whoever wrote. She read. It fell."
    assert resolved("1815 was cold. It rained. Its snow fell.") == (
        "1815 was cold. It rained. Its snow fell."
    )


def test_a_title_that_is_not_mentioned_needs_a_type() -> None:
    text = "In 1815 she wrote."
    assert resolved(text, "Early life", "Ada Lovelace") == text
    types = {"Ada Lovelace": "person"}
    assert resolved(text, "Early life", "Ada Lovelace", known=types) == "In 1815 she* wrote."
    text = "Charles Babbage came. She knew that he did."
    assert resolved(text, "Ada Lovelace", known=types) == text
    assert resolved("It was cold.", "1815", known={"1815": "time"}) == "It was cold."


# --- things ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "Acme makes bolts. It* grew, and its* owner got rich. In 1815, it* burnt.",
        "Acme has a seat in Oslo. It* grew in other towns too. Its* owner got rich.",
        "Acme is in Oslo, whose lake feeds its people.",
        "Acme grew. Bolt grew. It fell.",
        "Acme grew. It is known that it fell. It rained.",
        "Acme grew. The owners burnt rather than leave it.",
        "Acme grew and sang Until It Sleeps. He left.",
        "Acme is a company. “It grew,” he said.",
    ],
)
def test_it_is_the_main_thing_as_the_subject_of_a_clause(text: str) -> None:
    assert resolved(text.replace("*", ""), "Acme") == text


@pytest.mark.parametrize(
    "text",
    [
        "Alien is a 1979 film by Bolt. In Oslo the film* ran long. The film*'s end is sad.",
        "Alien (1979) is a science fiction film. The film* ran. The song did not.",
        "Alien is a film company in Oslo. The film ran. The company* grew.",
        "Alien is a film. The film of the year ran, and so did the film Aliens.",
        "Alien ran in Oslo. The film ran.",
        "Alien is a tale of a film. The film ran.",
        "Alien is a film. It* ran. The film* ended. It* was sad.",
    ],
)
def test_the_film_is_what_the_first_sentence_calls_a_film(text: str) -> None:
    assert resolved(text.replace("*", ""), "Alien") == text


# --- always ---------------------------------------------------------------------------------------
PIECES = st.sampled_from(
    [
        *TYPES,
        "She ",
        "he ",
        "his ",
        "It ",
        "it ",
        "its ",
        "The company ",
        "is a company ",
        ". ",
        ", ",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60)


@given(TEXTS, st.sampled_from([(), ("Ada Lovelace",), ("Acme",)]))
def test_links_are_references_in_order_outside_of_names(text: str, titles: tuple[str, ...]) -> None:
    named = mentions(text)
    links = antecedents(text, named, [About(title, 1.0) for title in titles])
    said = "he him his himself she her hers herself it its the".split()
    for link in links:
        assert text[link.start : link.end].lower().split()[0] in said
        assert not any(m.start < link.end and link.start < m.end for m in named)
        assert (link.name, link.type) in TYPES.items()
    assert all(a.end <= b.start for a, b in pairwise(links))
    assert len({(link.name, link.type) for link in links}) <= 1


@pytest.mark.parametrize("piece", ["she ", "it is ", "the film ", "a, ", "is a ", ". It ", "Acme "])
def test_long_monotonous_texts_take_bounded_time(piece: str) -> None:
    text = "Alien is a film " + piece * 2000
    begun = time.process_time()
    antecedents(text, mentions(text), [About("Alien", 1.0)])
    assert time.process_time() - begun < 10
