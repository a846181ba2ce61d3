"""Graphs shaped like MRGraph, and personalised PageRank on them by other libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PASSAGES = 0.4
"""Share of passages among the nodes; the others are entities. As in the stores of the QA sets."""

_ZIPF = 0.8
"""Exponent of the entities' frequencies."""

_NETWORKX_MOST = 20_000
"""networkx needs minutes for more nodes."""


@dataclass(frozen=True, slots=True)
class MentionGraph:
    """Passages and entities, joined in both directions by weighted mentions, as sparse rows."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_passages: int

    @property
    def n_nodes(self) -> int:
        """Passages and entities together."""
        return len(self.offsets) - 1

    @property
    def sources(self) -> NDArray[np.int64]:
        """The source of every edge."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.offsets))


def mention_graph(n_nodes: int, n_mentions: int, rng: np.random.Generator) -> MentionGraph:
    """Every entity is mentioned once, and then the more often the more frequent it is.

    Weights are the entity's rarity times a sentence's relevance between 0.4 and 1, as in Focus.
    """
    n_passages = int(n_nodes * _PASSAGES)
    n_entities = n_nodes - n_passages
    share = np.arange(1, n_entities + 1) ** -_ZIPF
    more = rng.choice(n_entities, n_mentions - n_entities, p=share / share.sum())
    entity = np.concatenate([rng.permutation(n_entities), more])
    passage = rng.integers(0, n_passages, n_mentions)
    frequency = np.bincount(entity, minlength=n_entities)
    rarity = np.log((n_passages + 1) / frequency[entity]) / np.log(n_passages + 1)
    weight = np.maximum(rarity, 1e-3) * rng.uniform(0.4, 1, n_mentions)

    pairs, first = np.unique(passage * n_entities + entity, return_index=True)
    passage, entity, weight = pairs // n_entities, pairs % n_entities + n_passages, weight[first]
    sources = np.concatenate([passage, entity])
    targets = np.concatenate([entity, passage])
    order = np.lexsort((targets, sources))
    return MentionGraph(
        np.searchsorted(sources[order], np.arange(n_nodes + 1)),
        targets[order],
        np.concatenate([weight, weight])[order],
        n_passages,
    )


Scores = NDArray[np.float64]


def peers(
    graph: MentionGraph,
    seeds: NDArray[np.int64],
    masses: Scores,
    restart: float,
) -> dict[str, Callable[[], object]]:
    """Those that are installed, ready to be called."""
    start = restarts(graph, seeds, masses)
    found: dict[str, Callable[[], object]] = {}
    for library in (_scipy, _scikit_network, _igraph, _networkx):
        with suppress(ImportError):
            found |= library(graph, start, restart)
    return found


def restarts(graph: MentionGraph, seeds: NDArray[np.int64], masses: Scores) -> Scores:
    """Where walks restart: the share of every node."""
    return np.bincount(seeds, masses / masses.sum(), graph.n_nodes).astype(np.float64)


def power_iteration(graph: MentionGraph, start: Scores, restart: float) -> Callable[[], Scores]:
    """The scores of all nodes, exact to 1e-8 in all; ready to be called."""
    sparse = _module("scipy.sparse")
    matrix = _matrix(graph)
    walk = (sparse.diags(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix).T.tocsr()

    def power() -> Scores:
        scores, change = start, 1.0
        while change > 1e-8:
            new: Scores = restart * start + (1 - restart) * (walk @ scores)
            change = float(np.abs(new - scores).sum())
            scores = new
        return scores

    return power


def _scipy(graph: MentionGraph, start: Scores, restart: float) -> dict[str, Callable[[], object]]:
    return {"scipy_power_1e-8": power_iteration(graph, start, restart)}


def _scikit_network(
    graph: MentionGraph, start: Scores, restart: float
) -> dict[str, Callable[[], object]]:
    ranking = _module("sknetwork.ranking")
    matrix = _matrix(graph)
    solver = ranking.PageRank(1 - restart, solver="piteration", n_iter=30, tol=1e-8)
    return {"scikit_network": lambda: solver.fit_predict(matrix, weights=start)}


def _igraph(graph: MentionGraph, start: Scores, restart: float) -> dict[str, Callable[[], object]]:
    pairs = np.stack([graph.sources, graph.targets], axis=1)
    edges = _module("igraph").Graph(graph.n_nodes, pairs.tolist(), directed=True)
    edges.es["weight"] = graph.weights.tolist()
    reset = start.tolist()
    return {
        "igraph_prpack": lambda: edges.personalized_pagerank(
            damping=1 - restart, reset=reset, weights="weight"
        )
    }


def _networkx(
    graph: MentionGraph, start: Scores, restart: float
) -> dict[str, Callable[[], object]]:
    networkx = _module("networkx")
    n = graph.n_nodes
    if n > _NETWORKX_MOST:
        return {}
    edges = networkx.DiGraph()
    edges.add_nodes_from(range(n))
    edges.add_weighted_edges_from(
        zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True)
    )
    chosen = {int(node): float(start[node]) for node in np.flatnonzero(start)}
    return {
        "networkx": lambda: networkx.pagerank(
            edges, alpha=1 - restart, personalization=chosen, tol=1e-8 / n
        )
    }


def _matrix(graph: MentionGraph) -> Any:
    shape = (graph.n_nodes, graph.n_nodes)
    return _module("scipy.sparse").csr_matrix((graph.weights, graph.targets, graph.offsets), shape)


def _module(name: str) -> Any:
    return importlib.import_module(name)
