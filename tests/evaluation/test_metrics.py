"""Every metric against a value worked out by hand, and bounds that hold for any input."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.evaluation.metrics import (
    all_at,
    bootstrap_interval,
    citation_scores,
    contains,
    exact_match,
    normalise_answer,
    paired_bootstrap,
    percentile,
    recall_at,
    reciprocal_rank,
    token_f1,
)

RANKED = [7, 3, 9, 1]


# --- retrieval ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("k", "recall"), [(1, 0.0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (9, 2 / 3)]
)
def test_recall_is_the_share_of_gold_in_the_top_k(k: int, recall: float) -> None:
    assert recall_at(RANKED, {3, 1, 5}, k) == recall


def test_a_passage_ranked_twice_counts_once() -> None:
    assert recall_at([3, 3], {3, 1}, 2) == 0.5


def test_all_gold_needs_the_whole_chain() -> None:
    assert all_at(RANKED, {3, 1}, 3) == 0.0
    assert all_at(RANKED, {3, 1}, 4) == 1.0


def test_reciprocal_rank_is_that_of_the_first_gold_passage() -> None:
    assert reciprocal_rank(RANKED, {1, 9}) == 1 / 3
    assert reciprocal_rank(RANKED, {4}) == 0.0


def test_retrieval_without_gold_is_refused() -> None:
    with pytest.raises(ValueError, match="without gold"):
        recall_at(RANKED, frozenset(), 2)
    with pytest.raises(ValueError, match="without gold"):
        reciprocal_rank(RANKED, frozenset())


@given(
    ranked=st.lists(st.integers(0, 20), max_size=12),
    gold=st.frozensets(st.integers(0, 20), min_size=1, max_size=5),
    k=st.integers(1, 12),
)
def test_recall_only_grows_with_k(ranked: list[int], gold: frozenset[int], k: int) -> None:
    small, large = recall_at(ranked, gold, k), recall_at(ranked, gold, k + 1)
    assert 0.0 <= small <= large <= 1.0
    assert all_at(ranked, gold, k) == (small == 1.0)
    assert (reciprocal_rank(ranked, gold) >= 1 / k) == (small > 0.0)


# --- answers --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  The Tale of   a Tub! ", "tale of tub"),
        ("U.S.A.", "usa"),
        ("An-the", "anthe"),
        ("Der Müller", "der müller"),
        ("the", ""),
    ],
)
def test_answers_are_normalised_as_in_squad(text: str, normal: str) -> None:
    assert normalise_answer(text) == normal


def test_f1_of_two_of_three_tokens() -> None:
    # "barack hussein obama" and "barack obama": P = 2/3, R = 1, F1 = 4/5.
    assert token_f1("Barack Hussein Obama", ["Barack Obama"]) == pytest.approx(0.8)


def test_f1_counts_a_repeated_token_as_often_as_both_have_it() -> None:
    # {new: 2, york: 1} and {new: 1, york: 2}: c = 2, P = R = 2/3.
    assert token_f1("new new york", ["new york york"]) == pytest.approx(2 / 3)


def test_f1_takes_the_best_answer() -> None:
    assert token_f1("Paris", ["London", "city of Paris"]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("prediction", "answer", "f1"),
    [
        ("yes", "yes", 1.0),
        ("Yes.", "yes", 1.0),
        ("yes they are", "yes", 0.0),
        ("no", "no country", 0.0),
        ("noanswer", "noanswer", 1.0),
        ("yes they are", "yes they were", 2 / 3),
    ],
)
def test_yes_and_no_score_only_on_equality(prediction: str, answer: str, f1: float) -> None:
    assert token_f1(prediction, [answer]) == pytest.approx(f1)


def test_where_nothing_is_left_equality_decides() -> None:
    assert token_f1("the", ["A"]) == 1.0
    assert token_f1("", ["Paris"]) == 0.0
    assert token_f1("Paris", []) == exact_match("Paris", []) == contains("Paris", []) == 0.0


def test_exact_match_is_after_normalising() -> None:
    assert exact_match("The Beatles.", ["Rush", "beatles"]) == 1.0
    assert exact_match("The Beatles band", ["beatles"]) == 0.0


@pytest.mark.parametrize(
    ("prediction", "answer", "found"),
    [
        ("It was the Empire State Building.", "Empire State", 1.0),
        ("I do not know", "no", 0.0),
        ("in 1923", "19", 0.0),
        ("首都是北京市", "北京", 1.0),
        ("nothing", "the", 0.0),
    ],
)
def test_contains_looks_for_whole_words(prediction: str, answer: str, found: float) -> None:
    assert contains(prediction, [answer]) == found


@given(st.text(), st.lists(st.text(), max_size=3))
def test_answer_scores_of_any_text_are_fractions(prediction: str, answers: list[str]) -> None:
    f1, em = token_f1(prediction, answers), exact_match(prediction, answers)
    assert 0.0 <= em <= f1 <= 1.0
    assert contains(prediction, answers) in (0.0, 1.0)


@given(st.text(alphabet="ab the yes.", max_size=20), st.text(alphabet="ab the yes.", max_size=20))
def test_f1_is_symmetric(one: str, other: str) -> None:
    assert token_f1(one, [other]) == token_f1(other, [one])
    assert token_f1(one, [one]) == 1.0


@given(st.text())
def test_normalising_leaves_no_outer_or_double_space(text: str) -> None:
    normal = normalise_answer(text)
    assert normal == " ".join(normal.split())
    assert not {"a", "an", "the"} & set(normal.split())


# --- citations ------------------------------------------------------------------------------------
def test_citations_are_scored_by_sentence() -> None:
    predicted = {(0, 1), (0, 2), (4, 0)}
    gold = {(0, 1), (4, 0), (5, 0), (5, 1)}
    assert citation_scores(predicted, gold) == (2 / 3, 2 / 4)


def test_no_citation_scores_nothing() -> None:
    assert citation_scores(set(), {(0, 0)}) == (0.0, 0.0)
    assert citation_scores({(0, 0)}, set()) == (0.0, 0.0)


# --- over many questions --------------------------------------------------------------------------
def test_the_interval_of_equal_values_is_that_value() -> None:
    assert bootstrap_interval([0.5] * 10, seed=1) == (0.5, 0.5)


def test_the_interval_is_near_that_of_the_normal_distribution() -> None:
    # 400 coins, half of them heads: 0.5 ± 1.96 · 0.5 / √400 = 0.5 ± 0.049.
    low, high = bootstrap_interval([0.0, 1.0] * 200, seed=7)
    assert low == pytest.approx(0.451, abs=0.006)
    assert high == pytest.approx(0.549, abs=0.006)


def test_a_wider_level_gives_a_wider_interval_and_a_seed_repeats_it() -> None:
    values = [0.0, 0.2, 0.4, 0.9, 1.0]
    narrow, wide = (bootstrap_interval(values, 3, rounds=500, level=p) for p in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert narrow == bootstrap_interval(values, 3, rounds=500, level=0.5)


def test_the_paired_test_sees_a_small_gain_through_a_large_spread() -> None:
    b = [i / 100 for i in range(90)]
    difference, low, high = paired_bootstrap([x + 0.1 for x in b], b, seed=0)
    assert (difference, low, high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_paired_test_needs_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_bootstrap([1.0, 0.0], [1.0], seed=0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 9))
def test_an_interval_lies_between_the_extremes(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed, rounds=20)
    within = 1e-12
    assert min(values) - within <= low <= high <= max(values) + within


def test_percentiles_are_interpolated() -> None:
    values = [40.0, 10.0, 30.0, 20.0]
    assert percentile(values, 50) == 25.0
    # Rank 0.95 · 3 = 2.85, between 30 and 40.
    assert math.isclose(percentile(values, 95), 38.5)
    assert (percentile(values, 0), percentile(values, 100)) == (10.0, 40.0)


def test_nothing_has_no_percentile_and_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        percentile([], 50)
    with pytest.raises(ValueError, match="at least one value"):
        bootstrap_interval([], seed=0)
