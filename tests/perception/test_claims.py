"""Which names of a document mean the same: one name a thing, and nothing merged that is two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.claims import claims
from smartrag.text import normal_name
from smartrag.types import About, Claim, Mention

TYPES = {
    "Ada Lovelace": "person",
    "Lovelace": "person",
    "Lovelace's": "person",
    "Ada": "person",
    "World Health Organization": "organization",
    "WHO": "organization",
    "the Beatles": "organization",
    "Beatles": "organization",
    "1984": "time",
    "Lovelace, Colorado": "location",
}


def paragraph(*names: str, joint: str = " met ") -> tuple[str, list[Mention]]:
    """The names in a row, each a mention."""
    text, mentions = "", []
    for name in names:
        start = len(text)
        mentions.append(Mention(start, start + len(name), name, TYPES[name], 1.0))
        text += name + joint
    return text, mentions


def told(*paragraphs: tuple[str, list[Mention]], title: About | None = None) -> set[Claim]:
    return set(claims([title] if title else [], paragraphs))


def test_a_surname_means_the_full_name_in_a_later_paragraph() -> None:
    found = told(paragraph("Ada Lovelace"), paragraph("Lovelace", "Lovelace's"))
    assert found == {
        Claim("ada lovelace", "lovelace", "person", "surname"),
        Claim("ada lovelace", "lovelace s", "person", "surname"),
    }


def test_a_title_is_a_name_too() -> None:
    title = About("Ada Lovelace", 1.0, "person")
    assert told(paragraph("Lovelace"), title=title) == {
        Claim("ada lovelace", "lovelace", "person", "surname")
    }
    assert told(paragraph("Lovelace"), title=About("Ada Lovelace", 1.0)) == set()  # a ship, perhaps


def test_all_spellings_mean_the_title_or_else_the_most_frequent() -> None:
    spelt = paragraph("the Beatles", "Beatles", "Beatles")
    assert told(spelt) == {Claim("beatles", "the beatles", "", "spelling")}
    title = About("The Beatles", 1.0, "organization")
    assert told(spelt, title=title) == {Claim("the beatles", "beatles", "", "spelling")}


def test_an_acronym_in_brackets_means_what_stands_before() -> None:
    text = "World Health Organization (WHO) is old."
    mentions = [
        Mention(0, 25, text[:25], "organization", 1.0),
        Mention(27, 30, "WHO", "organization", 1.0),
    ]
    assert told((text, mentions)) == {
        Claim("world health organization", "who", "", "brackets"),
    }


def test_dates_and_names_without_words_claim_nothing() -> None:
    assert told(paragraph("1984", "1984")) == set()
    assert told(("--", [Mention(0, 2, "--", "person", 1.0)])) == set()
    assert told() == set()


def test_a_name_that_is_short_for_two_is_left_alone() -> None:
    text = "Ada Lovelace met Bob Lovelace, and Lovelace laughed."
    mentions = [
        Mention(0, 12, text[:12], "person", 1.0),
        Mention(17, 29, text[17:29], "person", 1.0),
        Mention(35, 43, text[35:43], "person", 1.0),
    ]
    assert told((text, mentions)) == set()


@given(
    st.lists(st.lists(st.sampled_from(sorted(TYPES)), max_size=6), max_size=4),
    st.sampled_from(["", *TYPES]),
)
def test_claims_lead_in_one_step_to_a_name_of_the_document(
    names: list[list[str]], title: str
) -> None:
    about = About(title, 1.0, TYPES[title]) if title else None
    found = told(*(paragraph(*row) for row in names), title=about)
    known = {normal_name(n) for row in names for n in row} | {normal_name(title)}
    others = {(claim.other, claim.family) for claim in found}
    assert len(others) == len(found)
    for claim in found:
        assert {claim.name, claim.other} <= known
        assert claim.name != claim.other
        assert (claim.name, claim.family) not in others
