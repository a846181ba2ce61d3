"""Names: one key for one name, aliases that the text bears out, namesakes apart."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.names import Alias, aliases, canonical, compatible, key
from smartrag.text import normal_name
from smartrag.types import Mention

TYPES = "person organization location building art product event other time number name".split()


def mentions(text: str, *named: tuple[str, str]) -> list[Mention]:
    """The names, each with its type, where they stand one after the other in `text`."""
    found, position = [], 0
    for surface, type_ in named:
        start = text.index(surface, position)
        position = start + len(surface)
        found.append(Mention(start, position, surface, type_, 1.0))
    return found


def found_in(text: str, *named: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [(a.name, a.other, a.rule) for a in aliases(text, mentions(text, *named))]


# --- canonical names ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("surface", "type_", "name"),
    [
        ("Ada Lovelace's", "person", "ada lovelace"),
        ("Ada  LOVELACE’s", "person", "ada lovelace"),
        ("the Netherlands'", "location", "netherlands"),
        ("The Wall", "art", "the wall"),
        ("The Beatles", "organization", "beatles"),
        ("The Beatles", "", "the beatles"),
        ("The Who", "organization", "the who"),
        ("the", "organization", "the"),
        ("The Rock", "person", "the rock"),
        ("A Coruña", "location", "a coruña"),
        ("Dr. Ada Lovelace", "person", "ada lovelace"),
        ("Rev. Dr. Martin Luther King Jr.", "person", "martin luther king jr"),
        ("Dr. Seuss", "person", "dr seuss"),
        ("King George", "person", "king george"),
        ("Mrs. Henry Wood", "person", "mrs henry wood"),
        ("General Electric Company", "organization", "general electric company"),
        ("J.R.R. Tolkien", "person", "j r r tolkien"),
        ("J. R. R. Tolkien", "person", "j r r tolkien"),
        ("JRR Tolkien", "person", "j r r tolkien"),
        ("KIM Jong-un", "person", "kim jong un"),
        ("TS ELIOT", "person", "ts eliot"),
        ("U.S.", "location", "us"),
        ("the U. S. Army", "organization", "us army"),
        ("Rolling Stones", "organization", "rolling stones"),
        ("'s", "", "s"),
        ("—", "person", ""),
    ],
)
def test_a_canonical_name_lacks_what_the_sentence_adds(surface: str, type_: str, name: str) -> None:
    assert canonical(surface, type_) == name


def test_accents_and_scripts_keep_names_apart() -> None:
    names = ["Orleans", "Orléans", "東京", "京都", "Москва", "Μόσχα"]
    assert len({key(name, "location") for name in names}) == len(names)
    assert key("ＡＢＢ", "organization") == key("ABB", "organization")


def test_a_person_a_year_and_other_things_of_one_name_are_different() -> None:
    assert key("Washington", "person") == "washington (person)"
    assert key("Washington", "location") == key("Washington", "organization") == "washington"
    assert key("1984", "time") == key("1984", "number") == "1984 (value)"
    assert key("1984", "art") == "1984"
    assert key("…", "person") == ""


@given(st.text(max_size=30), st.sampled_from(TYPES))
def test_only_what_holds_no_word_has_no_name(surface: str, type_: str) -> None:
    name = canonical(surface, type_)
    assert bool(name) == bool(normal_name(surface))
    assert name == normal_name(name)


@pytest.mark.parametrize(
    ("a", "b", "fits"),
    [
        ("person", "person", True),
        ("person", "organization", False),
        ("person", "", True),
        ("person", "other", True),
        ("organization", "location", True),
        ("location", "building", True),
        ("art", "product", True),
        ("art", "location", False),
        ("time", "other", False),
        ("time", "number", False),
    ],
)
def test_types_are_compatible_where_a_recogniser_wavers(a: str, b: str, fits: bool) -> None:
    assert compatible(a, b) is compatible(b, a) is fits


# --- what the text says ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "name", "other"),
    [
        ("The World Health Organization (WHO) met.", "World Health Organization", "WHO"),
        ("The WHO (World Health Organization) met.", "World Health Organization", "WHO"),
        ("Escuela de Medicina (“ESMED”; 1999)", "Escuela de Medicina", "ESMED"),
        ("The Arctic Logistics LLC (A.L.) flew.", "Arctic Logistics LLC", "A.L."),
    ],
)
def test_an_acronym_in_brackets_spells_the_name(text: str, name: str, other: str) -> None:
    named = sorted([name, other], key=text.index)
    found = found_in(text, *((n, "organization") for n in named))
    expected = (key(name, "organization"), key(other, "organization"), "brackets")
    assert found == [expected]


def test_brackets_with_other_letters_or_a_person_say_nothing() -> None:
    text = "The World Health Organization (UN) met Ann Other (AO)."
    named = ("World Health Organization", "UN", "Ann Other", "AO")
    types = ("organization", "organization", "person", "organization")
    assert found_in(text, *zip(named, types, strict=True)) == []


@pytest.mark.parametrize(
    "between", [", also known as ", " (also called the ", ", better known as “", " also known as "]
)
def test_known_as_joins_neighbours(between: str) -> None:
    text = f"Samuel Clemens{between}Mark Twain wrote."
    assert found_in(text, ("Samuel Clemens", "person"), ("Mark Twain", "person")) == [
        ("samuel clemens (person)", "mark twain (person)", "known as")
    ]


def test_a_show_of_somebody_called_something_is_no_alias() -> None:
    text = "He had a show on Alpha TV called Gros Plan."
    assert found_in(text, ("Alpha TV", "other"), ("Gros Plan", "other")) == []


def test_an_acronym_stands_for_the_only_name_it_abbreviates() -> None:
    text = "The U.S. is large. The United States are many."
    once = [("U.S.", "location"), ("United States", "location")]
    assert found_in(text, *once) == [("united states", "us", "acronym")]
    text += " Upper Silesia is not."
    assert found_in(text, *once, ("Upper Silesia", "location")) == []


# --- persons --------------------------------------------------------------------------------------
ADA = ("Ada Lovelace", "person")


def test_a_surname_is_short_for_the_only_person_of_that_name_before_it() -> None:
    text = "Ada Lovelace wrote. Lovelace and Prof. Lovelace read."
    short = [("Lovelace", "person"), ("Prof. Lovelace", "person")]
    assert found_in(text, ADA, *short) == [
        ("ada lovelace (person)", "lovelace (person)", "surname"),
        ("ada lovelace (person)", "prof lovelace (person)", "surname"),
    ]


def test_a_surname_of_two_people_is_nobodys_alias() -> None:
    text = "Ada Lovelace and Ralph Lovelace met. Lovelace wrote."
    named = [ADA, ("Ralph Lovelace", "person"), ("Lovelace", "person")]
    assert found_in(text, *named) == []


def test_two_spellings_of_one_person_are_one_candidate() -> None:
    text = "John D. Doe, or John Doe, met J. D. Doe. Doe slept."
    named = [(n, "person") for n in ("John D. Doe", "John Doe", "J. D. Doe", "Doe")]
    assert found_in(text, *named) == [
        ("john d doe (person)", "doe (person)", "surname"),
        ("john d doe (person)", "j d doe (person)", "initials"),
        ("john d doe (person)", "john doe (person)", "initials"),
    ]


def test_a_middle_name_is_dropped_after_the_full_name_only() -> None:
    long, short = ("Luis Armando Roche", "person"), ("Luis Roche", "person")
    assert found_in("Luis Armando Roche, as Luis Roche, …", long, short) == [
        ("luis armando roche (person)", "luis roche (person)", "middle name")
    ]
    assert found_in("Luis Roche had a son, Luis Armando Roche.", short, long) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Lovelace met Ada Lovelace.", [("Lovelace", "person"), ADA]),
        ("Ada Lovelace lived in Lovelace.", [ADA, ("Lovelace", "location")]),
        ("Ada Lovelace met Mrs. Lovelace.", [ADA, ("Mrs. Lovelace", "person")]),
        ("Ada Lovelace had a girl, also named Ada.", [ADA, ("Ada", "person")]),
        ("Paul Roe Jr. met Jr. later.", [("Paul Roe Jr.", "person"), ("Jr.", "person")]),
    ],
)
def test_namesakes_are_no_aliases(text: str, named: list[tuple[str, str]]) -> None:
    assert found_in(text, *named) == []


def test_junior_is_somebody_else_but_his_surname_is_the_last_name() -> None:
    text = "Paul Roe Jr. met Paul Roe. Roe slept."
    named = [("Paul Roe Jr.", "person"), ("Paul Roe", "person"), ("Roe", "person")]
    assert found_in(text, *named) == []
    assert found_in("Paul Roe Jr. came. Roe slept.", named[0], named[2]) == [
        ("paul roe jr (person)", "roe (person)", "surname")
    ]


def test_a_first_name_and_a_title_are_dropped() -> None:
    assert found_in("Ada Lovelace wrote. Ada read.", ADA, ("Ada", "person")) == [
        ("ada lovelace (person)", "ada (person)", "first name")
    ]
    short = [("President Obama", "person"), ("Obama", "person")]
    assert found_in("President Obama spoke. Obama left.", *short) == [
        ("president obama (person)", "obama (person)", "title")
    ]
    both = [("Mr. Darcy", "person"), ("Mrs. Darcy", "person"), ("Darcy", "person")]
    assert found_in("Mr. Darcy and Mrs. Darcy: Darcy spoke.", *both) == []


# --- other things ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "other", "type_", "rule"),
    [
        ("Acme Holdings Inc.", "Acme", "organization", "organization"),
        ("Epic Records", "Epic", "organization", "organization"),
        ("University of Oxford", "Oxford", "organization", "organization"),
        ("San Antonio Spurs", "Spurs", "organization", "last word"),
        ("Nobel Prizes", "Nobel Prize", "other", "plural"),
        ("The Killers", "Killers", "art", "article"),
    ],
)
def test_short_forms_of_things(name: str, other: str, type_: str, rule: str) -> None:
    text = f"{name} came first, {other} later."
    found = found_in(text, (name, type_), (other, type_))
    assert found == [(key(name, type_), key(other, type_), rule)]


@pytest.mark.parametrize(
    ("name", "other", "type_"),
    [
        ("Sony Pictures", "Sony", "organization"),
        ("Rolling Stones", "Stones", "art"),
        ("New York City", "New York", "location"),
        ("Americans", "American", "location"),
        ("May 2011", "May", "time"),
    ],
)
def test_no_short_forms_of_things(name: str, other: str, type_: str) -> None:
    assert found_in(f"{name} came first, {other} later.", (name, type_), (other, type_)) == []


def test_an_organization_is_no_alias_of_a_place() -> None:
    named = [("University of Oxford", "organization"), ("Oxford", "location")]
    assert found_in("The University of Oxford lies in Oxford.", *named) == []


# --- always ---------------------------------------------------------------------------------------
WORDS = st.sampled_from(
    "Ada Lovelace A. John D. Doe Dr. Mrs. the The of United States U.S. US Inc. Jr. II 東京".split()
)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
JOINTS = st.sampled_from([" ", ". ", " (", "), ", ", also known as ", " named "])


@given(st.lists(st.tuples(NAMES, st.sampled_from(TYPES), JOINTS), max_size=12))
def test_aliases_lead_every_key_to_one_name(parts: list[tuple[str, str, str]]) -> None:
    text, named = "", []
    for surface, type_, joint in parts:
        named.append(Mention(len(text), len(text) + len(surface), surface, type_, 1.0))
        text += surface + joint
    found = aliases(text, named)
    keys = {key(m.surface, m.type) for m in named}
    fuller = {alias.other: alias.name for alias in found}
    assert len(fuller) == len(found)
    for alias in found:
        assert {alias.name, alias.other} <= keys
        name, steps = alias.other, 0
        while name in fuller:
            name, steps = fuller[name], steps + 1
            assert steps <= len(found)
    assert aliases(text, named[::-1]) == found


def test_a_text_without_names_has_no_aliases() -> None:
    assert aliases("Nothing here.", []) == ()
    assert Alias("a", "b", "surname") != Alias("a", "b", "title")


def test_a_book_full_of_names_takes_linear_time() -> None:
    named = [Mention(10 * i, 10 * i + 9, f"N{i} M{i % 50} Z", "person", 1.0) for i in range(4000)]
    begun = time.process_time()
    aliases(" " * 40_010, named)
    assert time.process_time() - begun < 5
