"""Names of clusters without a language model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag.perception.naming import Cluster, Pending, name_by_head_words, type_name

NOWHERE = np.ones(2, np.float32)


def named(*texts: str) -> str | None:
    """The name of a cluster of mentions, marked by brackets in their texts."""
    mentions = []
    for text in texts:
        surface = text.partition("[")[2].partition("]")[0]
        mentions.append(Pending(surface, text.replace("[", "").replace("]", ""), NOWHERE))
    return name_by_head_words(
        Cluster(tuple(range(len(texts))), tuple(mentions), coherence=1.0, centroid=NOWHERE)
    )


def test_what_the_texts_call_the_mentions_is_their_name() -> None:
    assert (
        named("[Queen], a British rock band from London, sang.", "The band [Muse] sang.") == "band"
    )
    assert named("[Python] is a programming language.", "[Rust] is one of the languages.") == (
        "language"
    )
    assert named("[Oslo Prize] was given.", "She won [Prizes].", "[Bergen Prizes]") == "prize"


def test_one_name_alone_does_not_name_the_others() -> None:
    assert named("[Queen], a band.", "[Queen], a band.", "[Muse] sang.") == "like queen"


def test_words_that_say_nothing_are_no_names() -> None:
    assert named("[A of the] x", "[B of the] x", "[B of the] x") == "like b of the"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("  Rock BANDS!\n", "rock bands"),
        ("rock\u0000band", "rock band"),
        ("—", ""),
        ("", ""),
        ("Künstler-Gruppe", "künstler-gruppe"),
        ("a " * 40, " ".join("a" * 20)),
    ],
)
def test_what_a_namer_says_becomes_a_name_of_a_type(said: str, name: str) -> None:
    assert type_name(said) == name


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=40)), min_size=1, max_size=6))
def test_any_cluster_gets_a_name_that_is_clean(pairs: list[tuple[str, str]]) -> None:
    mentions = tuple(Pending(s, f"{a}{s}", NOWHERE) for s, a in pairs)
    name = name_by_head_words(Cluster(tuple(range(len(pairs))), mentions, 1.0, NOWHERE))
    cleaned = type_name(name or "")
    assert cleaned.isprintable()
    assert type_name(cleaned) == cleaned
