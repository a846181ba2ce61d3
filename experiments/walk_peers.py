"""Graphs shaped like MRGraph, and personalised PageRank on them by other libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
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


def peers(
    graph: MentionGraph, seeds: NDArray[np.int64], masses: NDArray[np.float64], restart: float
) -> dict[str, Callable[[], NDArray[np.float64]]]:
    """Ready to be called; each returns the scores of all nodes."""
    return dict(_all(graph, seeds, masses / masses.sum(), restart))


def _all(
    graph: MentionGraph, seeds: NDArray[np.int64], masses: NDArray[np.float64], restart: float
) -> Iterator[tuple[str, Callable[[], NDArray[np.float64]]]]:
    n, damping = graph.n_nodes, 1 - restart
    start = np.bincount(seeds, masses, n).astype(np.float64)
    with suppress(ImportError):
        sparse = _module("scipy.sparse")
        matrix = sparse.csr_matrix((graph.weights, graph.targets, graph.offsets), (n, n))
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        walk = (sparse.diags(1 / np.maximum(sums, 1e-300)) @ matrix).T.tocsr()

        def power() -> NDArray[np.float64]:
            scores: NDArray[np.float64] = start
            change = 1.0
            while change > 1e-8:
                new = restart * start + damping * (walk @ scores)
                change = float(np.abs(new - scores).sum())
                scores = new
            return scores

        yield "scipy_power_1e-8", power
        with suppress(ImportError):
            ranking = _module("sknetwork.ranking")
            solver = ranking.PageRank(damping, solver="piteration", n_iter=30, tol=1e-8)
            yield "scikit_network", lambda: solver.fit_predict(matrix, weights=start)
    with suppress(ImportError):
        igraph = _module("igraph")
        pairs = np.stack([graph.sources, graph.targets], axis=1)
        edges = igraph.Graph(n, pairs.tolist(), directed=True)
        edges.es["weight"] = graph.weights.tolist()
        yield (
            "igraph_prpack",
            lambda: np.array(
                edges.personalized_pagerank(damping=damping, reset=start.tolist(), weights="weight")
            ),
        )
    if n <= _NETWORKX_MOST:
        with suppress(ImportError):
            networkx = _module("networkx")
            walked = networkx.DiGraph()
            walked.add_nodes_from(range(n))
            walked.add_weighted_edges_from(
                zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights, strict=True)
            )
            chosen = {int(node): float(mass) for node, mass in zip(seeds, masses, strict=True)}

            def nx_scores() -> NDArray[np.float64]:
                scores = networkx.pagerank(
                    walked, alpha=damping, personalization=chosen, tol=1e-8 / n
                )
                return np.array([scores[node] for node in range(n)])

            yield "networkx", nx_scores


def _module(name: str) -> Any:
    return importlib.import_module(name)
