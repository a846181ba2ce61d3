"""Pending mentions become proposals: what is too small, loose, alike or nameless, and any input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from smartrag.perception.discovery import coherence, discover, unit_rows
from smartrag.perception.naming import Cluster, Pending
from smartrag.settings import DiscoverySettings
from smartrag.types import FloatArray

SETTINGS = DiscoverySettings(epsilon=0.5, smallest=3, floor=0.6, merge=0.95)


def group(axis: int, names: list[str], spread: float = 0.1, seed: int = 0) -> list[Pending]:
    """Mentions around one axis of eight."""
    chance = np.random.default_rng(seed + axis)
    vectors = spread * chance.standard_normal((len(names), 8)).astype(np.float32)
    vectors[:, axis] += 1
    return [
        Pending(name, f"They met {name} there.", vector)
        for name, vector in zip(names, vectors, strict=True)
    ]


BANDS = group(0, ["the Queen band", "the Muse band", "the Blur band", "the Yes band"])
PRIZES = group(1, ["Nobel Prize", "Turing Prize", "Booker Prize"])


def test_each_group_is_proposed_under_the_word_that_its_names_share() -> None:
    bands, prizes = discover([*BANDS, *PRIZES], SETTINGS)
    assert (bands.name, bands.members) == ("band", (0, 1, 2, 3))
    assert (prizes.name, prizes.members) == ("prize", (4, 5, 6))
    assert bands.coherence > 0.9
    assert float(bands.centroid @ bands.centroid) == pytest.approx(1)


def test_groups_that_are_too_small_or_one_name_only_are_no_types() -> None:
    assert discover(PRIZES[:2], SETTINGS) == ()
    assert discover([PRIZES[0]] * 9, SETTINGS) == ()
    assert discover([], SETTINGS) == ()


def test_a_group_that_does_not_hold_together_is_dropped_unseen() -> None:
    asked: list[Cluster] = []
    loose = group(0, ["A Prize", "B Prize", "C Prize", "D Prize"], spread=1.5)
    wide = replace(SETTINGS, epsilon=50.0, floor=0.99)
    assert discover(loose, wide, lambda cluster: asked.append(cluster)) == ()
    assert asked == []


def test_groups_with_the_same_direction_are_one() -> None:
    far = [replace(p, vector=p.vector * 3) for p in group(0, ["A Band", "B Band", "C Band"])]
    narrow = replace(SETTINGS, epsilon=0.02)
    assert len(discover([*BANDS, *far], narrow)) <= 1
    [one] = discover([*BANDS, *far], replace(narrow, epsilon=0.2))
    assert one.members == tuple(range(7))


def test_groups_with_the_same_name_are_one() -> None:
    [one] = discover([*BANDS, *PRIZES], SETTINGS, lambda cluster: "thing")
    assert (one.name, one.members) == ("thing", tuple(range(7)))


def test_the_namer_sees_the_mentions_and_may_decline() -> None:
    seen: list[tuple[str, ...]] = []

    def namer(cluster: Cluster) -> str | None:
        seen.append(tuple(mention.surface for mention in cluster.mentions))
        return None if "Nobel Prize" in seen[-1] else "  Rock\u0007 BANDS! "

    [bands] = discover([*BANDS, *PRIZES], SETTINGS, namer)
    assert bands.name == "rock bands"
    assert seen[1] == ("Nobel Prize", "Turing Prize", "Booker Prize")


def test_coherence_is_the_mean_cosine_to_the_centroid() -> None:
    vectors = unit_rows(np.array([[1, 0], [0, 2], [1, 1]], np.float32))
    [centroid] = unit_rows(vectors.mean(axis=0, keepdims=True))
    assert coherence(vectors) == pytest.approx(float((vectors @ centroid).mean()))
    assert unit_rows(np.zeros((1, 2), np.float32)).tolist() == [[0, 0]]


@given(
    arrays.arrays(
        np.float32, st.tuples(st.integers(1, 20), st.just(4)), elements=st.floats(-9, 9, width=32)
    ),
    st.lists(st.text(max_size=9), min_size=20, max_size=20),
)
def test_any_mentions_give_proposals_that_share_no_member(
    vectors: FloatArray, names: list[str]
) -> None:
    pending = [Pending(n, f"x {n} y", v) for n, v in zip(names, vectors, strict=False)]
    proposals, again = (
        discover(pending, replace(SETTINGS, smallest=2, floor=0.1)) for _ in range(2)
    )
    assert [(p.name, p.members) for p in proposals] == [(p.name, p.members) for p in again]
    members = [m for p in proposals for m in p.members]
    assert len(members) == len(set(members))
    assert len({p.name for p in proposals}) == len(proposals)
    assert all(p.name and p.name.isprintable() and len(p.name) <= 40 for p in proposals)
