"""The picture of the kernels' benchmark: time against rows, both axes logarithmic.

python -m experiments.plot_kernels
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure

RESULT = Path("experiments/results/kernels.json")
SHOWN = {
    "numpy_f32": "numpy float32",
    "faiss_flat_f32": "faiss flat float32",
    "faiss_sq8": "faiss SQ8",
    "usearch_exact_i8": "usearch exact int8",
    "sqlite_vec_i8": "sqlite-vec int8",
    "numkong_i8_scan": "NumKong int8, scores only",
    "simsimd_i8_scan": "SimSIMD int8, scores only",
    "ours_serial": "SmartRAG int8 top-10, serial",
    "ours_avx2": "SmartRAG int8 top-10, AVX2",
    "ours_two_stage_1024": "SmartRAG two stages, 1,024 candidates",
    "read_codes": "reading the codes once",
}


def main() -> None:
    times: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in json.loads(RESULT.read_text(encoding="utf-8"))["rows"]:
        if row["work"] in ("scan_topk_i8", "two_stage"):
            times[row["method"]].append((row["n"], row["median_ms"]))
    figure = Figure(figsize=(7.5, 5))
    axes = figure.subplots()
    for method, label in SHOWN.items():
        if points := sorted(times.get(method, [])):
            ours = label.startswith("SmartRAG")
            axes.loglog(
                *zip(*points, strict=True),
                marker="o",
                linewidth=2.2 if ours else 1,
                linestyle=":" if method == "read_codes" else "-" if ours else "--",
                label=label,
            )
    axes.set_xlabel("vectors of 384 dimensions")
    axes.set_ylabel("milliseconds a query, one thread")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(RESULT.with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
