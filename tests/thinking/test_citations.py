"""A sentence counts when the evidence holds its words and all of its numbers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from smartrag.thinking.citations import confirmed, occurs
from smartrag.thinking.formats import Draft, DraftSentence
from smartrag.types import AnswerSentence, Passage
from tests.focus.graphs import passage

TOWN = passage(
    1,
    "Torvik is a harbour town at the mouth of the Isel River.",
    "Its lighthouse was built in 1844 by Hanna Roos.",
    label="Torvik",
    start=100,
)
WOMAN = passage(
    2,
    "Hanna Roos was an engineer from Port Savile.",
    "She built 7 lighthouses, the first of them in Torvik.",
    label="Hanna Roos",
    start=5,
)
DOCUMENTS = {"d1": "#" * 100 + TOWN.text, "d2": "#" * 5 + WOMAN.text}
BOTH = (TOWN, WOMAN)


def check(text: str, *evidence: int, answer: str = "xyz") -> tuple[AnswerSentence, ...]:
    return confirmed(Draft(answer, (DraftSentence(text, evidence),), True), BOTH)


def quotes(found: tuple[AnswerSentence, ...]) -> list[list[str]]:
    return [[c.quote for c in s.citations] for s in found]


def test_a_sentence_that_the_evidence_holds_is_confirmed_from_where_it_stands() -> None:
    found = check("The lighthouse of Torvik was built in 1844.", 1)
    assert [s.text for s in found] == ["The lighthouse of Torvik was built in 1844."]
    [[citation]] = [s.citations for s in found]
    assert citation.quote == "Its lighthouse was built in 1844 by Hanna Roos."
    assert (citation.paragraph_id, citation.document) == (1, "d1")
    assert (citation.start, citation.end) == (157, 204)
    assert DOCUMENTS["d1"][157:204] == citation.quote


def test_a_sentence_with_foreign_words_is_rejected() -> None:
    assert check("The cathedral of Vellen collapsed during an earthquake.", 1) == ()


def test_sixty_per_cent_of_the_content_words_are_enough_and_less_are_not() -> None:
    # Three of five, then two of five, all in one sentence.
    assert quotes(check("lighthouse built Hanna zebra yonder", 1)) == [
        ["Its lighthouse was built in 1844 by Hanna Roos."]
    ]
    assert check("lighthouse built quagga zebra yonder", 1) == ()


def test_every_number_must_stand_in_the_evidence() -> None:
    assert check("Hanna Roos built the lighthouse of Torvik in 1844.")
    assert check("Hanna Roos built the lighthouse of Torvik in 1845.") == ()


def test_a_number_of_one_digit_must_too() -> None:
    assert quotes(check("She built 7 lighthouses.")) == [
        ["She built 7 lighthouses, the first of them in Torvik."]
    ]
    assert check("She built 9 lighthouses.") == ()


def test_a_wrong_passage_number_is_corrected() -> None:
    [[right]] = quotes(check("Hanna Roos was an engineer from Port Savile.", 1))
    assert right == "Hanna Roos was an engineer from Port Savile."
    assert quotes(check("Hanna Roos was an engineer from Port Savile.", 99, -1, 0)) == [[right]]


def test_among_equal_sentences_the_passage_that_the_model_named_is_cited() -> None:
    twins = (passage(1, "The town is old indeed."), passage(2, "The town is old indeed."))
    for number in (1, 2):
        draft = Draft("x", (DraftSentence("The town is old.", (number,)),), True)
        [found] = confirmed(draft, twins)
        assert [c.paragraph_id for c in found.citations] == [number]


def test_a_sentence_may_rest_on_two_sentences_of_the_evidence() -> None:
    found = check("The engineer Hanna Roos from Port Savile built the 1844 lighthouse.", 1, 2)
    assert quotes(found) == [
        [
            "Its lighthouse was built in 1844 by Hanna Roos.",
            "Hanna Roos was an engineer from Port Savile.",
        ]
    ]


def test_no_sentence_rests_on_more_than_three() -> None:
    names = ("alpha", "bravo", "carol", "delta", "eagle")
    apart = tuple(passage(i, f"{name} {name}.") for i, name in enumerate(names))
    draft = Draft("x", (DraftSentence("alpha bravo carol delta eagle", ()),), True)
    [found] = confirmed(draft, apart)
    assert len(found.citations) == 3
    with_number = (*apart[:3], passage(3, "1999."))
    draft = Draft("x", (DraftSentence("alpha bravo carol 1999", ()),), True)
    assert confirmed(draft, with_number) == ()


def test_only_kept_sentences_can_be_cited() -> None:
    hidden = replace(TOWN, kept=(0,))
    draft = Draft("Hanna Roos", (DraftSentence("Its lighthouse was built in 1844.", (1,)),), True)
    assert confirmed(draft, (hidden,)) == ()


def test_the_label_of_a_passage_counts_among_the_words_of_its_sentences() -> None:
    found = check("Torvik has a lighthouse that was built by Hanna Roos.", 1)
    assert quotes(found) == [["Its lighthouse was built in 1844 by Hanna Roos."]]


def test_without_a_sentence_that_stands_the_short_answer_is_cited_word_for_word() -> None:
    found = check("An unheard-of zebra.", answer="hanna ROOS")
    assert [s.text for s in found] == ["hanna ROOS"]
    assert quotes(found) == [["Its lighthouse was built in 1844 by Hanna Roos."]]
    assert check("An unheard-of zebra.", answer="Hanna Port") == ()


def test_a_confirmed_sentence_needs_no_short_answer_beside_it() -> None:
    found = check("Hanna Roos was an engineer.", answer="Torvik")
    assert [s.text for s in found] == ["Hanna Roos was an engineer."]


def test_an_answer_occurs_word_for_word_and_never_within_a_word() -> None:
    assert occurs("harbour town", BOTH)
    assert occurs("Isel River.", BOTH)
    assert not occurs("harbour river", BOTH)
    assert not occurs("own", BOTH)
    assert not occurs("", BOTH)
    assert not occurs("?!", BOTH)
    assert not occurs("Torvik", ())


PIECES = st.sampled_from([*TOWN.text.split(), *WOMAN.text.split(), "zebra", "9", "1999", "", "é"])
SENTENCES = st.lists(PIECES, max_size=12).map(" ".join) | st.text(max_size=40)


@given(
    st.lists(st.tuples(SENTENCES, st.lists(st.integers(-2, 5))), max_size=4),
    SENTENCES,
    st.lists(st.sampled_from(BOTH), unique_by=lambda p: p.paragraph_id),
)
def test_every_citation_resolves_to_its_quote(
    sentences: list[tuple[str, list[int]]], answer: str, passages: list[Passage]
) -> None:
    drafted = tuple(DraftSentence(text, tuple(numbers)) for text, numbers in sentences)
    found = confirmed(Draft(answer, drafted, True), passages)
    for sentence in found:
        assert 1 <= len(sentence.citations) <= 3
        assert sentence.text in {answer, *(d.text for d in drafted)}
        for citation in sentence.citations:
            there = DOCUMENTS[citation.document][citation.start : citation.end]
            assert there == citation.quote != ""
