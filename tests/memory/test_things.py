"""Namesakes are told apart by their company, one thing is never cut in two, and no row is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartrag.memory.things import COMMON, MOST_NAMESAKES, Rows, Things, things_of

PLAIN, PERSON, VALUE, UNKNOWN = range(4)
JOHN, OSLO, PERTH, YEAR = 7, 8, 9, 10

Seen = tuple[int, int, int]
"""Paragraph, entity and family; every paragraph is a document of its own."""


def rows_of(seen: list[Seen], weight: float = 1.0) -> Rows:
    paragraph, entity, family = np.array(sorted(seen), np.int64).reshape(-1, 3).T
    weights = np.full(len(paragraph), weight, np.float32)
    return Rows(paragraph, paragraph, entity, family, 0 * paragraph, weights)


def meant(found: Things, mentions: list[Seen], paragraph: int) -> list[int]:
    """The things that John is in a paragraph."""
    row = sorted(mentions).index(next(m for m in mentions if m[:2] == (paragraph, JOHN)))
    things: list[int] = found.mention[found.mention_rows == row].tolist()
    return things


TWO_JOHNS = [(1, JOHN, PERSON), (2, JOHN, PERSON)]
"""Two paragraphs with his name for their title."""


def test_two_of_one_title_who_know_nobody_in_common_are_namesakes() -> None:
    mentions = [(1, OSLO, PLAIN), (2, PERTH, PLAIN), (3, JOHN, PERSON), (3, PERTH, PLAIN)]
    found = things_of(rows_of(mentions), rows_of(TWO_JOHNS))
    assert found.entity_ids.tolist() == [OSLO, PERTH, JOHN, JOHN]
    first, second = found.about.tolist()
    assert first != second
    assert meant(found, mentions, 3) == [second]


def test_a_common_acquaintance_shows_that_they_are_one() -> None:
    mentions = [(1, OSLO, PLAIN), (2, OSLO, PLAIN)]
    found = things_of(rows_of(mentions), rows_of(TWO_JOHNS))
    assert found.about.tolist() == [0, 0]
    years = [(1, YEAR, VALUE), (2, YEAR, VALUE)]
    first, second = things_of(rows_of(years), rows_of(TWO_JOHNS)).about.tolist()
    assert first != second


def test_what_is_in_every_mouth_makes_nobody_acquainted() -> None:
    mentions = [(paragraph, OSLO, PLAIN) for paragraph in range(1, COMMON + 2)]
    first, second = things_of(rows_of(mentions), rows_of(TWO_JOHNS)).about.tolist()
    assert first != second


def test_where_company_does_not_tell_the_family_does_and_else_all_are_meant() -> None:
    abouts = rows_of([(1, JOHN, PERSON), (2, JOHN, PLAIN)])
    mentions = [(3, JOHN, PERSON), (4, JOHN, PLAIN), (5, JOHN, VALUE)]
    found = things_of(rows_of(mentions[:2]), abouts)
    assert [meant(found, mentions, row) for row in (3, 4)] == [[c] for c in found.about.tolist()]
    both = things_of(rows_of([(3, JOHN, PERSON)]), rows_of(TWO_JOHNS))
    assert meant(both, mentions, 3) == both.about.tolist()


def test_a_paragraph_about_one_of_them_means_that_one() -> None:
    mentions = [(1, JOHN, PERSON), (2, JOHN, PERSON)]
    found = things_of(rows_of(mentions), rows_of(TWO_JOHNS))
    assert [meant(found, mentions, row) for row in (1, 2)] == [[c] for c in found.about.tolist()]


def test_only_titles_make_namesakes() -> None:
    found = things_of(rows_of([]), rows_of(TWO_JOHNS, weight=0.8))
    assert found.about.tolist() == [0, 0]


def test_what_stands_above_very_many_texts_is_nobodys_name() -> None:
    abouts = [(paragraph, JOHN, UNKNOWN) for paragraph in range(MOST_NAMESAKES + 1)]
    assert set(things_of(rows_of([]), rows_of(abouts)).about.tolist()) == {0}
    assert len(set(things_of(rows_of([]), rows_of(abouts[1:])).about.tolist())) == MOST_NAMESAKES


def test_a_date_is_never_a_novel() -> None:
    found = things_of(rows_of([(1, YEAR, VALUE), (2, YEAR, PLAIN)]), rows_of([(2, YEAR, PLAIN)]))
    assert found.mention.tolist() == [1, 0]
    assert found.about.tolist() == [0]


def test_what_nobody_describes_is_one_thing_by_its_name() -> None:
    seen = rows_of([(1, JOHN, VALUE), (2, JOHN, PLAIN), (3, JOHN, PERSON)])
    assert things_of(seen, rows_of([])).mention.tolist() == [0, 0, 0]


PLACES = st.integers(0, 5)


@given(
    st.lists(st.tuples(PLACES, PLACES, st.integers(0, 2)), max_size=12),
    st.lists(st.tuples(PLACES, PLACES, st.integers(0, 3)), max_size=12),
    st.sampled_from([0.8, 1.0]),
)
def test_every_row_is_of_things_of_its_own_name(
    mentions: list[Seen], abouts: list[Seen], weight: float
) -> None:
    seen, described = rows_of(mentions), rows_of(abouts, weight)
    found = things_of(seen, described)
    assert set(found.mention_rows.tolist()) == set(range(len(mentions)))
    of_rows = seen.entity[found.mention_rows].tolist()
    assert found.entity_ids[found.mention].tolist() == of_rows
    assert found.entity_ids[found.about].tolist() == described.entity.tolist()
    assert set(found.mention.tolist()) | set(found.about.tolist()) == set(
        range(len(found.entity_ids))
    )
