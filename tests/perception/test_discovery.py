"""Pending mentions become proposals: what is too small, loose, alike or nameless, and any input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from smartrag.perception.discovery import coherence, discover, merge_close, unit_rows
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
    assert discover(PRIZES[:1], SETTINGS) == ()
    assert discover([], SETTINGS) == ()


def test_a_group_that_does_not_hold_together_is_dropped_unseen() -> None:
    asked: list[Cluster] = []
    loose = group(0, ["A Prize", "B Prize", "C Prize", "D Prize"], spread=1.5)
    wide = replace(SETTINGS, epsilon=50.0, floor=0.99)
    assert discover(loose, wide, lambda cluster: asked.append(cluster)) == ()
    assert asked == []


def test_vectors_count_by_their_direction_only() -> None:
    longer = [replace(mention, vector=mention.vector * 3) for mention in BANDS]
    [one] = discover([*BANDS, *longer], SETTINGS)
    assert one.members == tuple(range(8))


def test_what_points_nowhere_is_no_type() -> None:
    nowhere = [replace(mention, vector=np.zeros(8, np.float32)) for mention in BANDS]
    assert discover(nowhere, SETTINGS) == ()
    [bands] = discover([*nowhere, *BANDS], SETTINGS)
    assert bands.members == (4, 5, 6, 7)


# --- merging --------------------------------------------------------------------------------------
def fan(*degrees: float) -> FloatArray:
    """A unit vector in the plane for each angle."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def merged(vectors: FloatArray, *, merge: float, floor: float = 0.6) -> list[list[int]]:
    """What becomes of groups of one vector each."""
    groups = [np.array([row]) for row in range(len(vectors))]
    settings = replace(SETTINGS, merge=merge, floor=floor)
    return [group.tolist() for group in merge_close(groups, vectors, settings)]


def test_groups_are_merged_down_to_the_cosine_asked_for() -> None:
    vectors = fan(0, 90, 10)
    assert merged(vectors, merge=0.98) == [[0, 2], [1]]
    assert merged(vectors, merge=0.99) == [[0], [1], [2]]  # the cosine of ten degrees is 0.985


def test_the_nearest_groups_are_merged_first() -> None:
    """The other way round all three would end in one group."""
    assert merged(fan(0, 16, 25), merge=0.95) == [[0], [1, 2]]


def test_groups_whose_union_would_not_hold_together_stay_apart() -> None:
    vectors = fan(0, 60)
    assert coherence(vectors) == pytest.approx(np.cos(np.radians(30)))
    assert merged(vectors, merge=0.4, floor=0.9) == [[0], [1]]
    assert merged(vectors, merge=0.4, floor=0.8) == [[0, 1]]


def test_large_clusters_that_ward_keeps_apart_are_one_proposal() -> None:
    """Forty mentions ten degrees from forty others: d is 0.6, the cosine 0.985."""
    pending = [
        Pending(f"prize {row}", "", vector) for row, vector in enumerate(fan(*[0] * 40, *[10] * 40))
    ]
    narrow = replace(SETTINGS, epsilon=0.1)
    halves = discover(pending, replace(narrow, merge=1), lambda c: f"half {c.members[0]}")
    assert [len(proposal.members) for proposal in halves] == [40, 40]
    [whole] = discover(pending, replace(narrow, merge=0.95))
    assert whole.members == tuple(range(80))


# --- naming ---------------------------------------------------------------------------------------
def test_groups_with_the_same_name_are_one() -> None:
    mixed = [BANDS[0], *PRIZES, *BANDS[1:]]
    [one] = discover(mixed, SETTINGS, lambda cluster: "thing")
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


@pytest.mark.parametrize("vectors", [[[np.nan, 1], [1, 0]], [[np.inf, 1], [1, 0]], [[1], [1, 0]]])
def test_vectors_that_cannot_be_compared_are_refused(vectors: list[list[float]]) -> None:
    pending = [Pending("A Prize", "", np.array(vector, np.float32)) for vector in vectors]
    with pytest.raises(ValueError, match=r"finite|same shape"):
        discover(pending, SETTINGS)


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 20), st.just(4)),
        elements=st.one_of(
            st.floats(-9, 9, width=32), st.floats(width=32, allow_nan=False, allow_infinity=False)
        ),
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
