from __future__ import annotations

from collections.abc import Sequence

from smartrag.evaluation import ner
from smartrag.perception.labelled import Entity, Sentence
from smartrag.perception.labels import Inventory, TypeRow

KNOWN = Inventory(
    12,
    (
        TypeRow(1, "person"),
        TypeRow(2, "art"),
        TypeRow(3, "event"),
        TypeRow(4, "time"),
        TypeRow(5, "writer", parent="person"),
    ),
)


def test_types_of_data_sets_stand_for_ours() -> None:
    assert ner.meanings("PER", KNOWN) == ("person",)
    assert ner.meanings("MISC", KNOWN) == ("art", "event")
    assert ner.meanings("person-actor", KNOWN) == ("person",)
    assert ner.meanings("writer", KNOWN) == ("writer",)
    assert ner.meanings("enzyme", KNOWN) == ()


def test_what_is_marked_found_and_both_gives_precision_and_recall() -> None:
    gold = [[(0, 1, "PER"), (3, 3, "MISC")], [(0, 0, "PER")]]
    found = [[(0, 1, "person"), (3, 3, "person"), (5, 5, "art")], []]
    every, misc, per = ner.score(gold, found, KNOWN)
    assert every == {
        "type": "all",
        "f1": 2 * 1 / (3 + 3),
        "precision": 1 / 3,
        "recall": 1 / 3,
        "n": 3,
        "found": 3,
        "span_f1": 2 * 2 / (3 + 3),
    }
    assert (per["type"], per["f1"], per["n"], per["found"]) == ("person", 2 / 4, 2, 2)
    assert (misc["type"], misc["f1"], misc["found"]) == ("MISC", 0.0, 1)


def test_types_that_stand_for_one_of_ours_share_a_row() -> None:
    gold = [[(0, 0, "person-actor"), (1, 1, "person-athlete")]]
    [_, person] = ner.score(gold, [[(0, 0, "person")]], KNOWN)
    assert (person["type"], person["n"], person["found"], person["recall"]) == ("person", 2, 1, 0.5)


def test_a_finer_type_counts_as_the_broader_and_never_the_other_way() -> None:
    [every, _] = ner.score([[(0, 0, "PER")]], [[(0, 0, "writer")]], KNOWN)
    assert every["f1"] == 1
    [every, _] = ner.score([[(0, 0, "writer")]], [[(0, 0, "person")]], KNOWN)
    assert every["f1"] == 0


def test_what_a_data_set_does_not_mark_is_left_out() -> None:
    [every, _] = ner.score([[(0, 0, "PER")]], [[(0, 0, "person"), (2, 2, "time")]], KNOWN)
    assert every["precision"] == 1
    [every, _] = ner.score([[(0, 0, "enzyme")]], [[(0, 0, "person")]], KNOWN)
    assert (every["n"], every["found"], every["f1"], every["span_f1"]) == (1, 0, 0.0, 0.0)


def test_mentions_become_tokens_and_half_a_token_is_on_no_border() -> None:
    sentence = Sentence("s", ("U.S.", "Navy", "ships"), ())
    exact = [(0, 4, "a"), (5, 9, "b")]
    assert ner.token_spans(sentence, exact) == [(0, 0, "a"), (1, 1, "b")]
    [(first, last, _)] = ner.token_spans(sentence, [(0, 3, "a")])
    assert (first, last) == (-3, 0)


def test_sentences_are_read_in_batches_and_scored_as_one() -> None:
    sentences = [Sentence(str(i), ("Ada", "sang"), (Entity(0, 0, "PER"),)) for i in range(5)]
    sizes = []

    def recognise(texts: Sequence[str]) -> list[list[tuple[int, int, str]]]:
        sizes.append(len(texts))
        return [[(0, 3, "person")] for _ in texts]

    every, _ = ner.evaluate(sentences, recognise, KNOWN, batch=2)
    assert sizes == [2, 2, 1]
    assert (every["f1"], every["n"]) == (1.0, 5)
