"""Vectors as int8 codes and 1-bit sketches, the search for the nearest, and PageRank on a graph.

A float32 vector of dimension d is kept as d int8 codes and one float32 scale, a quarter of the
memory; nearness is the inner product of the codes. The work is done by a small compiled library
where there is one and by numpy where there is not; integers and scores are the same to the last
bit, only the time differs. `_reference` is the definition of right, `_native` the one door to the
library, `_build` compiles it on devices for which no wheel is made.

The environment variable SMARTRAG_KERNELS caps the choice: "avx2" means AVX2 or, where the processor
lacks it, the next best that it has; "reference" means numpy. A name of another architecture leaves
the plain C++.
"""

from __future__ import annotations

from smartrag.kernels._choice import available, build, isa, use
from smartrag.kernels.codes import Codes, quantize
from smartrag.kernels.pagerank import PageRank, Transitions, pagerank
from smartrag.kernels.search import scan, topk
from smartrag.kernels.sketches import Sketches, nearest, scan_sketched, sketch, sketch_recall

__all__ = [
    "Codes",
    "PageRank",
    "Sketches",
    "Transitions",
    "available",
    "build",
    "isa",
    "nearest",
    "pagerank",
    "quantize",
    "scan",
    "scan_sketched",
    "sketch",
    "sketch_recall",
    "topk",
    "use",
]
