"""PageRank around a few nodes: by hand on tiny graphs, against a linear solve on others."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from smartrag.kernels import PageRank, Transitions, pagerank, use

from .conftest import AVAILABLE, assert_same

ROUNDING = 1e-6
"""How far float32 may lead above an exact score."""

Edges = Sequence[dict[int, float]]
"""For every node the weights of its edges by target."""


def arrays_of(edges: Edges) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    return (
        np.cumsum([0, *(len(out) for out in edges)]),
        np.array([target for out in edges for target in out], np.int64),
        np.array([weight for out in edges for weight in out.values()], np.float64),
    )


def transitions(*edges: dict[int, float]) -> Transitions:
    return Transitions.of(*arrays_of(edges))


def random_edges(rng: np.random.Generator, n: int, degree: float) -> Edges:
    """Some nodes have many edges, some none."""
    edges: list[dict[int, float]] = []
    for _ in range(n):
        m = min(n, int(rng.exponential(degree)))
        targets = rng.choice(n, m, replace=False)
        edges.append({int(target): float(rng.random()) for target in targets})
    return edges


def walk(
    graph: Transitions, seeds: dict[int, float], k: int = 1024, restart: float = 0.5, **more: float
) -> PageRank:
    nodes, masses = np.array(list(seeds), np.int64), np.array(list(seeds.values()), np.float64)
    return pagerank(graph, nodes, masses, k, restart, **more)


def exact(edges: Edges, seeds: dict[int, float], restart: float) -> NDArray[np.float64]:
    """The solution of p = restart · s + (1 − restart) · Pᵀ p; a stuck walk restarts."""
    n = len(edges)
    start = np.zeros(n)
    for seed, mass in seeds.items():
        start[seed] += mass
    start /= start.sum()
    steps = np.zeros((n, n))
    for node, out in enumerate(edges):
        if (total := sum(out.values())) > 0:
            for target, weight in out.items():
                steps[node, target] += weight / total
        else:
            steps[node] = start
    p = np.linalg.solve(np.eye(n) - (1 - restart) * steps.T, restart * start)
    return p.astype(np.float64, copy=False)


def assert_near(found: PageRank, p: NDArray[np.float64], k: int) -> None:
    """The scores are those of `p` up to what the walk left out, and so is the order."""
    nodes, scores = found.nodes, found.scores
    assert nodes.dtype == np.int64
    assert scores.dtype == np.float32
    assert len(nodes) == len(set(nodes.tolist())) <= min(k, len(p))
    assert (scores <= p[nodes] + ROUNDING).all()
    assert (scores >= p[nodes] - found.missing - ROUNDING).all()
    assert (np.diff(scores) <= 0).all()
    tied = np.flatnonzero(np.diff(scores) == 0)
    assert (nodes[tied] < nodes[tied + 1]).all()
    if len(nodes) < k:  # then all nodes with a score are there
        assert 1 - scores.sum(dtype=np.float64) <= found.missing + 1e-5
    # Where the gap between two ranks is larger than any error, both sides of it must be right.
    order = np.argsort(-p, kind="stable")
    for rank in range(1, min(k, len(p))):
        if p[order[rank - 1]] - p[order[rank]] > found.missing + 2 * ROUNDING:
            assert set(nodes[:rank].tolist()) == set(order[:rank].tolist())


# --- Transitions --------------------------------------------------------------------------------
def test_weights_become_probabilities() -> None:
    graph = transitions({0: 1, 1: 1, 2: 2}, {}, {1: 5})
    assert graph.offsets.tolist() == [0, 3, 3, 4]
    assert graph.targets.tolist() == [0, 1, 2, 1]
    assert graph.weights.tolist() == [0.25, 0.25, 0.5, 1]
    assert graph.offsets.dtype == np.int64
    assert graph.targets.dtype == np.int32
    assert graph.weights.dtype == np.float32
    assert len(graph) == 3


def test_edges_of_weight_zero_are_dropped() -> None:
    graph = transitions({0: 0, 1: 3, 2: 0}, {0: 0}, {2: 1, 0: 1})
    assert graph.offsets.tolist() == [0, 1, 1, 3]
    assert graph.targets.tolist() == [1, 2, 0]
    assert graph.weights.tolist() == [1, 0.5, 0.5]


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-30, 1e30, 1e308])
def test_weights_may_have_any_size(size: float) -> None:
    graph = transitions({0: size, 1: size}, {0: size}, {})
    assert graph.weights.tolist() == [0.5, 0.5, 1]


def test_very_unequal_weights_are_no_error() -> None:
    graph = transitions({0: 1e308, 1: 1e-300}, {0: 1})
    assert graph.weights[0] == 1
    assert graph.weights.sum() == 2


def test_float32_weights_at_their_largest_do_not_overflow() -> None:
    weights = np.full(4, np.finfo(np.float32).max)
    graph = Transitions.of(np.array([0, 4]), np.zeros(4, np.int32), weights)
    assert graph.weights.tolist() == [0.25] * 4


def test_a_graph_may_be_empty_or_without_edges() -> None:
    assert len(transitions()) == 0
    graph = transitions({}, {})
    assert graph.offsets.tolist() == [0, 0, 0]
    assert len(graph) == 2


def test_the_arrays_given_are_left_alone() -> None:
    offsets, targets, weights = arrays_of([{0: 0.0, 1: 4.0}, {0: 7.0}])
    Transitions.of(offsets, targets, weights)
    assert weights.tolist() == [0, 4, 7]
    assert offsets.tolist() == [0, 2, 3]
    assert targets.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("offsets", "targets", "weights", "message"),
    [
        ([], [], [], "offsets must be integers of shape"),
        ([0.0, 1.0], [0], [1], "offsets must be integers of shape"),
        ([[0, 1]], [0], [1], "offsets must be integers of shape"),
        ([0, 1], [0.0], [1], "targets must be integers of shape"),
        ([0, 1], [[0]], [[1]], "targets must be integers of shape"),
        ([0, 1], [0], [1, 1], "weights as many numbers"),
        ([1, 1], [0], [1], "offsets must ascend from 0"),
        ([0, 2], [0], [1], "offsets must ascend from 0 to the number of edges"),
        ([0, 0], [0], [1], "offsets must ascend from 0 to the number of edges"),
        ([0, 2, 1, 2], [0, 0], [1, 1], "offsets must ascend"),
        ([0, 1], [1], [1], "targets must lie within 0 and 0"),
        ([0, 1, 1], [-1], [1], "targets must lie within 0 and 1"),
        ([0, 1], [0], [-1], "weights must be finite and not negative"),
        ([0, 1], [0], [np.nan], "weights must be finite and not negative"),
        ([0, 1], [0], [np.inf], "weights must be finite and not negative"),
    ],
)
def test_what_is_no_graph_is_refused(
    offsets: list[int], targets: list[int], weights: list[float], message: str
) -> None:
    types = (np.array(offsets), np.array(targets, None if targets else int), np.array(weights))
    with pytest.raises(ValueError, match=message):
        Transitions.of(*types)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_unsigned_offsets_must_ascend_too(kind: type[np.unsignedinteger]) -> None:
    # ValueError. Differences of unsigned integers wrap around and are never negative.
    with pytest.raises(ValueError, match="offsets must ascend"):
        Transitions.of(np.array([0, 2, 1, 2], kind), np.array([0, 0]), np.ones(2))


def test_offsets_without_a_shape_are_refused() -> None:
    # ValueError, "anything else" of the docstring.
    with pytest.raises(ValueError, match="offsets must be integers of shape"):
        Transitions.of(np.array(0), np.array([], np.int64), np.ones(0))


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.uint64])
def test_integers_may_be_of_any_type(isa: str, kind: type[np.integer]) -> None:
    # What is documented as integers, uint64 too.
    graph = Transitions.of(np.array([0, 1, 2], kind), np.array([1, 0], kind), np.ones(2))
    found = pagerank(graph, np.array([0], kind), np.ones(1, np.float32), 2)
    assert found.nodes.tolist() == [0, 1]


# --- by hand ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("edges", "seeds", "scores"),
    [
        # p0 = 1/2 + p1/2, p1 = p0/2: from a node without edges the walk restarts.
        ([{1: 1}, {}], {0: 1}, {0: 2 / 3, 1: 1 / 3}),
        # A walk that starts where it is stuck stays there.
        ([{1: 1}, {}], {1: 1}, {1: 1}),
        # p0 = 1/4 + p1/4, p1 = 1/4 + p0/2 + p1/4
        ([{1: 1}, {}], {0: 1, 1: 1}, {0: 0.4, 1: 0.6}),
        # p0 = 1/2 + p1/2, p1 = p0/2
        ([{1: 1}, {0: 1}], {0: 1}, {0: 2 / 3, 1: 1 / 3}),
        # A self loop: p0 = 1/2 + (p0/2 + p1)/2, p1 = p0/4
        ([{0: 1, 1: 1}, {0: 1}], {0: 1}, {0: 0.8, 1: 0.2}),
        ([{0: 5}], {0: 1}, {0: 1}),
        # Weights are shares: p1 = 3/8 p0, p2 = 1/8 p0, and both go back.
        ([{1: 3, 2: 1}, {0: 1}, {0: 1}], {0: 1}, {0: 2 / 3, 1: 1 / 4, 2: 1 / 12}),
        # Two parts without a way between them: 3 and 4 are never reached.
        ([{1: 1}, {0: 1}, {2: 1}, {4: 1}, {3: 1}], {0: 3, 2: 1}, {0: 1 / 2, 1: 1 / 4, 2: 1 / 4}),
    ],
)
def test_by_hand(isa: str, edges: Edges, seeds: dict[int, float], scores: dict[int, float]) -> None:
    found = walk(transitions(*edges), seeds)
    assert set(found.nodes.tolist()) == set(scores)
    for node, score in zip(found.nodes.tolist(), found.scores.tolist(), strict=True):
        assert score == pytest.approx(scores[node], abs=1e-5)
    assert 0 <= found.missing <= 1e-5


def test_the_linear_solve_agrees_with_the_hand() -> None:
    assert exact([{0: 1, 1: 1}, {0: 1}], {0: 1}, 0.5) == pytest.approx([0.8, 0.2])
    assert exact([{1: 1}, {}], {0: 1, 1: 1}, 0.5) == pytest.approx([0.4, 0.6])


def test_a_walk_that_always_restarts_stays_at_its_seeds(isa: str) -> None:
    found = walk(transitions({1: 1}, {2: 1}, {}), {2: 1, 0: 3}, restart=1)
    assert found.nodes.tolist() == [0, 2]
    assert found.scores.tolist() == [0.75, 0.25]
    assert found.missing == 0


def test_a_seed_may_be_named_again(isa: str) -> None:
    graph = transitions({1: 1, 2: 2}, {}, {0: 1})
    once = pagerank(graph, np.array([0, 1]), np.array([2.0, 1.0]), 3)
    thrice = pagerank(graph, np.array([0, 1, 0]), np.array([1.0, 1.0, 1.0]), 3)
    assert thrice.nodes.tolist() == once.nodes.tolist()
    assert thrice.scores == pytest.approx(once.scores, abs=2e-6)


def test_only_the_proportions_of_the_masses_count(isa: str) -> None:
    graph = transitions({1: 1, 2: 2}, {}, {0: 1})
    one = walk(graph, {0: 1, 1: 3})
    for size in (1e-300, 1e-10, 1e10, 5e307):
        again = walk(graph, {0: size, 1: 3 * size})
        assert again.nodes.tolist() == one.nodes.tolist()
        assert again.scores == pytest.approx(one.scores, abs=1e-6)


def test_masses_may_be_integers_or_very_unequal(isa: str) -> None:
    found = pagerank(transitions({}, {}), np.array([0, 1]), np.array([3, 1]), 2, restart=1)
    assert found.scores.tolist() == [0.75, 0.25]
    found = walk(transitions({}, {}), {0: 1e300, 1: 1e-300}, restart=1)
    assert found.nodes[0] == 0
    assert found.scores[0] == 1


def test_no_seeds_find_nothing(isa: str) -> None:
    for graph in (transitions(), transitions({}), transitions({1: 1}, {0: 1})):
        found = walk(graph, {})
        assert found.nodes.shape == found.scores.shape == (0,)
        assert found.nodes.dtype == np.int64
        assert found.missing == 0


def test_of_equal_scores_the_lower_node_comes_first(isa: str) -> None:
    star = transitions(dict.fromkeys(range(9, 0, -1), 1.0), *[{0: 1.0}] * 9)
    assert walk(star, {0: 1}, k=4).nodes.tolist() == [0, 1, 2, 3]
    assert walk(star, {0: 1}).nodes.tolist() == list(range(10))


def test_k_cuts_the_same_ranking(isa: str) -> None:
    edges = random_edges(np.random.default_rng(1), 60, 4)
    graph = transitions(*edges)
    all_of_them = walk(graph, {5: 1, 6: 2})
    for k in (1, 2, 10, 59):
        found = walk(graph, {5: 1, 6: 2}, k=k)
        assert_same([found.nodes, found.scores], [all_of_them.nodes[:k], all_of_them.scores[:k]])


def test_no_more_than_1024_are_returned_from_a_large_graph(isa: str) -> None:
    star = transitions(dict.fromkeys(range(1, 3001), 1.0), *({} for _ in range(3000)))
    found = walk(star, {0: 1})
    assert found.nodes.tolist() == list(range(1024))
    assert len(walk(star, {0: 1}, k=1023).nodes) == 1023


def test_a_coarser_walk_misses_more_and_says_so(isa: str) -> None:
    edges = random_edges(np.random.default_rng(2), 200, 5)
    graph, p = transitions(*edges), exact(edges, {0: 1, 1: 1}, 0.5)
    missing = []
    for epsilon in (1e-3, 1e-5, 1e-7, 1e-9):
        found = walk(graph, {0: 1, 1: 1}, epsilon=epsilon)
        assert_near(found, p, 1024)
        missing.append(found.missing)
    assert missing == sorted(missing, reverse=True)
    assert missing[0] > 1e-5
    assert missing[-1] < 1e-5


# --- what is refused ----------------------------------------------------------------------------
TWO = transitions({1: 1}, {0: 1})


@pytest.mark.parametrize("k", [-1, 0, 1025])
def test_k_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=f"k must lie within 1 and 1024, not be {k}"):
        walk(TWO, {0: 1}, k=k)


@pytest.mark.parametrize("restart", [-0.1, 0, 1.001, np.nan, np.inf])
def test_a_restart_out_of_range_is_refused(restart: float) -> None:
    with pytest.raises(ValueError, match=r"restart must lie within 0.01 and 1"):
        walk(TWO, {0: 1}, restart=restart)


def test_the_smallest_restart_keeps_the_promise_and_a_smaller_one_is_refused(isa: str) -> None:
    # The rounding of float32 adds up over the many steps; with 1 − restart = 1 no walk would end.
    found = walk(TWO, {0: 1}, restart=0.01)
    p = exact([{1: 1}, {0: 1}], {0: 1}, 0.01)
    assert (found.scores <= p[found.nodes] + 1e-5).all()
    assert 1 - found.scores.sum(dtype=np.float64) <= found.missing + 1e-5
    for restart in (0.0099, 1e-50):
        with pytest.raises(ValueError, match=r"restart must lie within 0\.01 and 1"):
            walk(TWO, {0: 1}, restart=restart)


@pytest.mark.parametrize("epsilon", [0, -1, 9e-10, np.nan])
def test_an_epsilon_out_of_range_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be at least 1e-09, not"):
        walk(TWO, {0: 1}, epsilon=epsilon)


@pytest.mark.parametrize(
    ("seeds", "masses", "message"),
    [
        ([0.0], [1], "seeds must be integers of shape"),
        ([[0]], [[1]], "seeds must be integers of shape"),
        ([0], [1, 1], "masses as many numbers"),
        ([0], [], "masses as many numbers"),
        ([-1], [1], "seeds must lie within 0 and 1"),
        ([0, 2], [1, 1], "seeds must lie within 0 and 1"),
        ([0, 1], [1, 0], "masses must be finite and positive"),
        ([0], [-1], "masses must be finite and positive"),
        ([0], [np.nan], "masses must be finite and positive"),
        ([0], [np.inf], "masses must be finite and positive"),
    ],
)
def test_what_are_no_seeds_is_refused(seeds: list[int], masses: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pagerank(TWO, np.array(seeds), np.array(masses), 1)


def test_an_empty_graph_has_no_seeds() -> None:
    with pytest.raises(ValueError, match="seeds must lie within 0 and -1"):
        walk(transitions(), {0: 1})


# --- working memory and threads -----------------------------------------------------------------
def test_working_memory_is_reused_and_clean(isa: str) -> None:
    edges = random_edges(np.random.default_rng(3), 300, 4)
    graph, other = transitions(*edges), {7: 1.0, 200: 0.5}
    first = walk(graph, {0: 1, 1: 1})
    in_between = walk(graph, other, epsilon=1e-3)
    again = walk(graph, {0: 1, 1: 1})
    assert_same([again.nodes, again.scores], [first.nodes, first.scores])
    assert again.missing == first.missing
    fresh = walk(transitions(*edges), other, epsilon=1e-3)
    assert_same([in_between.nodes, in_between.scores], [fresh.nodes, fresh.scores])

    [scratch] = graph._scratch
    assert not scratch["score"].any()
    assert not scratch["waiting"].any()


def test_a_refused_call_leaves_the_graph_usable(isa: str) -> None:
    graph = transitions({1: 1}, {0: 1})
    before = walk(graph, {0: 1})
    with pytest.raises(ValueError, match="seeds must lie within"):
        walk(graph, {2: 1})
    after = walk(graph, {0: 1})
    assert_same([after.nodes, after.scores], [before.nodes, before.scores])


def test_walks_side_by_side_find_the_same(isa: str) -> None:
    graph = transitions(*random_edges(np.random.default_rng(4), 1000, 5))
    alone = [walk(graph, {i: 1, i + 1: 2}) for i in range(20)]
    together = threading.Barrier(2)

    def walks(numbers: Sequence[int]) -> list[tuple[int, PageRank]]:
        together.wait(timeout=60)
        return [(i, walk(graph, {i: 1, i + 1: 2})) for i in numbers]

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(walks, [range(20), range(19, -1, -1)]):
            for i, found in done:
                assert_same([found.nodes, found.scores], [alone[i].nodes, alone[i].scores])
                assert found.missing == alone[i].missing
    assert 1 <= len(graph._scratch) <= 2


# --- against the exact solution -----------------------------------------------------------------
@pytest.mark.parametrize("n", [2, 10, 200])
@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
@pytest.mark.parametrize("epsilon", [1e-4, 1e-6])
def test_random_graphs(isa: str, n: int, restart: float, epsilon: float) -> None:
    rng = np.random.default_rng(n)
    for degree in (1, 6):
        edges = random_edges(rng, n, degree)
        seeds = {int(node): float(rng.random()) + 0.1 for node in rng.integers(0, n, 3)}
        p = exact(edges, seeds, restart)
        for k in (1, 10, 1024):
            found = walk(transitions(*edges), seeds, k, restart, epsilon=epsilon)
            assert_near(found, p, k)


@st.composite
def small_graphs(draw: st.DrawFn) -> tuple[Edges, dict[int, float]]:
    """Edges and seeds; weights from so small a set that scores tie."""
    n = draw(st.integers(1, 8))
    nodes, sizes = st.integers(0, n - 1), st.sampled_from([0.0, 1.0, 2.0, 1e-20, 1e20])
    edges = draw(st.lists(st.dictionaries(nodes, sizes, max_size=4), min_size=n, max_size=n))
    seeds = draw(st.dictionaries(nodes, st.sampled_from([0.5, 1.0, 1e6]), min_size=1))
    return edges, seeds


@settings(max_examples=40)
@given(
    graph=small_graphs(),
    k=st.integers(1, 10),
    restart=st.sampled_from([0.1, 0.5, 0.99, 1.0]),
    epsilon=st.sampled_from([1e-2, 1e-6, 1e-9]),
)
def test_any_graph(
    graph: tuple[Edges, dict[int, float]], k: int, restart: float, epsilon: float
) -> None:
    edges, seeds = graph
    p = exact(edges, seeds, restart)
    for name in AVAILABLE:
        use(name)
        assert_near(walk(transitions(*edges), seeds, k, restart, epsilon=epsilon), p, k)
