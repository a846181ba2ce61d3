"""The door to the compiled library: found where it was built, and quietly done without."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import smartrag.kernels
from smartrag import kernels
from smartrag.kernels import Codes, Transitions, _build, _choice, _native, pagerank, quantize, use

from .conftest import COMPILED, forget, has_compiler, random_codes

HEADER = Path(__file__).parents[2] / "kernels" / "include" / "smartrag_kernels.h"
CHOSEN_BY_HAND = bool(os.environ.get("SMARTRAG_KERNELS"))

library = _choice._library
compiled = pytest.mark.skipif(library is None, reason="no compiled kernels in this installation")


def path_of_library() -> Path:
    assert library is not None
    return Path(library._c._name)


@pytest.mark.skipif(CHOSEN_BY_HAND, reason="SMARTRAG_KERNELS decides")
def test_where_there_is_a_compiler_the_library_is_loaded() -> None:
    # A fallback this quiet needs a loud test: a build that fails would only show as slowness.
    assert kernels.isa() != "reference" or not has_compiler(), (
        f"{_native.unavailable_reason()}; install the package again: pip install -e ."
    )


def test_a_reason_is_given_exactly_when_there_is_no_library() -> None:
    assert (_native.unavailable_reason() == "") == (library is not None)


# --- finding it ---------------------------------------------------------------------------------
@compiled
def test_the_library_of_the_installation_is_found() -> None:
    found = _native.load()
    assert found is not None
    assert found.isas == COMPILED


@pytest.mark.parametrize("name", ["libsmartrag_kernels.so", "nowhere/libsmartrag_kernels.so"])
def test_no_library_is_no_error(tmp_path: Path, name: str) -> None:
    assert _native.first_of([tmp_path / name]) is None
    assert _native.unavailable_reason() == "no compiled library in the installation"
    assert _native.first_of([]) is None


def test_an_installation_without_any_library_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smartrag.kernels, "__path__", [str(tmp_path)])
    monkeypatch.setenv("SMARTRAG_HOME", str(tmp_path))
    forget()
    assert kernels.available() == ("reference",)
    assert kernels.isa() == "reference"
    assert _native.unavailable_reason() == "no compiled library in the installation"


def test_a_device_without_a_place_for_a_library_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None, as `target` gives none where there are no sources or is no home folder.
    monkeypatch.setattr(smartrag.kernels, "__path__", [str(tmp_path)])
    monkeypatch.setattr(_build, "target", lambda: None)
    assert _native.load() is None
    assert _native.unavailable_reason() == "no compiled library in the installation"


def test_a_path_that_cannot_be_looked_at_is_no_error() -> None:
    # None. Path.exists raises OSError for too long a name, or a folder that may not be
    # read, up to Python 3.13; SMARTRAG_HOME can be either.
    assert _native.first_of([Path("/" + "x" * 300)]) is None


def test_a_damaged_library_is_no_error(tmp_path: Path) -> None:
    damaged = tmp_path / "libsmartrag_kernels.so"
    damaged.write_bytes(b"not a library")
    assert _native.first_of([damaged]) is None
    assert _native.unavailable_reason().startswith(f"{damaged}: ")


def test_a_folder_in_the_place_of_a_library_is_no_error(tmp_path: Path) -> None:
    assert _native.first_of([tmp_path]) is None
    assert _native.unavailable_reason().startswith(f"{tmp_path}: ")


@compiled
def test_a_library_of_another_version_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _native.ABI_VERSION == 2
    monkeypatch.setattr(_native, "ABI_VERSION", 99)
    assert _native.first_of([path_of_library()]) is None
    assert _native.unavailable_reason() == f"{path_of_library()}: has ABI version 2, not 99"


@pytest.mark.skipif(sys.platform == "win32" or not has_compiler(), reason="no C++ compiler")
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("extern int unrelated; int unrelated = 1;", "sr_abi_version"),
        ('extern "C" int sr_abi_version() { return 1; }', "has ABI version 1, not 2"),
        ('extern "C" int sr_abi_version() { return 2; }', "sr_use"),
    ],
)
def test_a_library_of_somebody_else_is_no_error(tmp_path: Path, source: str, reason: str) -> None:
    path = tmp_path / "libsmartrag_kernels.so"
    (tmp_path / "other.cpp").write_text(source, encoding="utf-8")
    [compiler, *_] = _build.compilers()
    command = [compiler, "-shared", "-fPIC", str(tmp_path / "other.cpp"), "-o", str(path)]
    subprocess.run(command, check=True)
    assert _native.first_of([path]) is None
    assert _native.unavailable_reason().startswith(f"{path}: ")
    assert reason in _native.unavailable_reason()


@compiled
def test_the_search_goes_on_behind_a_damaged_library(tmp_path: Path) -> None:
    damaged = tmp_path / "libsmartrag_kernels.so"
    damaged.write_bytes(b"not a library")
    found = _native.first_of([tmp_path / "none.so", damaged, path_of_library()])
    assert found is not None
    assert found.isas[-1] == "serial"
    assert _native.unavailable_reason() == ""


@compiled
def test_the_first_library_is_taken(tmp_path: Path) -> None:
    copy = tmp_path / "copy.so"
    shutil.copy(path_of_library(), copy)
    found = _native.first_of([copy, path_of_library()])
    assert found is not None
    assert found._c._name == str(copy)
    assert found.isa() == COMPILED[0]


@compiled
def test_looking_at_what_a_library_can_do_changes_nothing() -> None:
    use("serial")
    again = _native.first_of([path_of_library()])
    assert again is not None
    assert again.isa() == kernels.isa() == "serial"


# --- the interface ------------------------------------------------------------------------------
INTERFACE = {
    "sr_abi_version",
    "sr_isa",
    "sr_push_f32",
    "sr_quantize_i8",
    "sr_scan_i8",
    "sr_sketch_u1",
    "sr_topk_i8",
    "sr_topk_u1",
    "sr_use",
}


def test_the_door_knows_the_whole_interface() -> None:
    assert {*_native._SIGNATURES, "sr_abi_version"} == INTERFACE
    header = HEADER.read_text(encoding="utf-8")
    assert set(re.findall(r"^SR_API .*?(sr_\w+)\(", header, re.MULTILINE)) == INTERFACE
    assert f"#define SR_ABI_VERSION {_native.ABI_VERSION}\n" in header


@compiled
@pytest.mark.skipif(sys.platform != "linux", reason="nm -D reads ELF files")
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_the_library_exports_exactly_its_interface() -> None:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(path_of_library())],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {line.split()[-1] for line in listing.splitlines()} == INTERFACE


# --- arguments that C refuses -------------------------------------------------------------------
ROOM = {
    name: np.zeros(1 << 16, np.uint8)
    for name in "codes scales queries query_scales vectors centre sketches query offsets targets "
    "weights seeds masses scratch rows scores distances n_found waiting".split()
}
ROOM["masses"][:4] = np.ones(1, np.float32).view(np.uint8)
HERE = {name: room.ctypes.data for name, room in ROOM.items()}

Arguments = dict[str, int | float | None]


def named(*names: str, **others: int | float | None) -> Arguments:
    return {name: HERE[name] if name in HERE else others[name] for name in names}


CODES = named("codes", "scales", "n_rows", "dim", n_rows=1, dim=4)
QUERIES = named("queries", "query_scales", "n_queries", n_queries=1)
VALID: dict[str, Arguments] = {
    "sr_quantize_i8": named("vectors", "n_rows", "dim", "codes", "scales", n_rows=1, dim=4),
    "sr_scan_i8": {**CODES, **QUERIES, **named("scores")},
    "sr_topk_i8": {
        **CODES,
        **QUERIES,
        **named("mask", "k", "rows", "scores", "n_found", mask=None, k=1),
    },
    "sr_sketch_u1": named("codes", "n_rows", "dim", "centre", "sketches", n_rows=1, dim=4),
    "sr_topk_u1": {
        **named("sketches", "n_rows", "dim", "query", "mask", n_rows=1, dim=4, mask=None),
        **named("k", "rows", "distances", "of_all", "n_found", k=1, of_all=None),
    },
    "sr_push_f32": {
        **named("offsets", "targets", "weights", "n_nodes", n_nodes=1),
        **named("seeds", "masses", "n_seeds", n_seeds=1),
        **named("restart", "epsilon", "scratch", "k", restart=0.5, epsilon=1e-6, k=1),
        **named("rows", "scores", "n_found", "waiting"),
    },
}
NEEDED = {
    "sr_quantize_i8": ["vectors", "codes", "scales"],
    "sr_scan_i8": ["codes", "scales", "queries", "query_scales", "scores"],
    "sr_topk_i8": ["codes", "scales", "queries", "query_scales", "rows", "scores", "n_found"],
    "sr_sketch_u1": ["codes", "centre", "sketches"],
    "sr_topk_u1": ["sketches", "query", "rows", "distances", "n_found"],
    "sr_push_f32": "offsets seeds masses scratch rows scores n_found waiting".split(),
}
OUT_OF_RANGE: list[tuple[str, str, float]] = [
    *((name, "dim", dim) for name in VALID if name != "sr_push_f32" for dim in (0, 131_072)),
    ("sr_topk_i8", "k", 1025),
    ("sr_topk_u1", "k", 65_537),
    ("sr_push_f32", "k", 1025),
    ("sr_push_f32", "n_nodes", 2**31),
    *(("sr_push_f32", "restart", restart) for restart in (0, -0.5, 1.001, np.nan)),
    *(("sr_push_f32", "epsilon", epsilon) for epsilon in (0, 9e-10, np.nan)),
]


def status_of(name: str, **changed: int | float | None) -> int:
    assert library is not None
    assert changed.keys() <= VALID[name].keys()
    status: int = getattr(library._c, name)(*(VALID[name] | changed).values())
    return status


OK, REFUSED, VALUE, LACKING = 0, 1, 2, 3


@compiled
@pytest.mark.parametrize("name", VALID)
def test_the_c_functions_take_what_is_right(name: str) -> None:
    assert status_of(name) == OK


@compiled
@pytest.mark.parametrize(("name", "argument"), [(f, a) for f in NEEDED for a in NEEDED[f]])
def test_the_c_functions_refuse_a_pointer_to_nothing(name: str, argument: str) -> None:
    assert status_of(name, **{argument: None}) == REFUSED


@compiled
@pytest.mark.parametrize(("name", "argument", "value"), OUT_OF_RANGE)
def test_the_c_functions_refuse_what_is_out_of_range(
    name: str, argument: str, value: float
) -> None:
    assert status_of(name, **{argument: value}) == REFUSED


@compiled
def test_the_limits_themselves_are_taken() -> None:
    for name in ("sr_quantize_i8", "sr_scan_i8", "sr_topk_i8", "sr_sketch_u1", "sr_topk_u1"):
        assert status_of(name, n_rows=0, dim=131_071) == OK
    assert status_of("sr_topk_i8", k=1024) == OK
    assert status_of("sr_topk_u1", k=65_536) == OK  # one row is found
    assert status_of("sr_push_f32", k=1024, restart=1, epsilon=1e-9) == OK


@compiled
def test_arrays_without_elements_may_be_nothing() -> None:
    nothing: Arguments = {"n_rows": 0, "codes": None, "scales": None}
    assert status_of("sr_quantize_i8", **nothing, vectors=None) == OK
    assert status_of("sr_scan_i8", **nothing, scores=None) == OK
    assert status_of("sr_scan_i8", n_queries=0, queries=None, query_scales=None) == OK
    assert status_of("sr_topk_i8", **nothing) == OK
    assert status_of("sr_topk_i8", k=0, rows=None, scores=None) == OK
    assert status_of("sr_sketch_u1", n_rows=0, codes=None, sketches=None) == OK
    assert status_of("sr_topk_u1", n_rows=0, sketches=None) == OK
    assert status_of("sr_topk_u1", k=0, rows=None, distances=None) == OK
    empty: Arguments = {"n_nodes": 0, "offsets": None, "targets": None, "weights": None}
    no_seeds: Arguments = {"n_seeds": 0, "seeds": None, "masses": None, "scratch": None}
    assert status_of("sr_push_f32", **empty, **no_seeds) == OK
    assert status_of("sr_push_f32", targets=None, weights=None) == OK
    assert status_of("sr_push_f32", k=0, rows=None, scores=None) == OK


@compiled
def test_a_component_that_is_none_is_an_error_of_value() -> None:
    bad = np.array([[0, 0, np.nan, 0]], np.float32)
    assert status_of("sr_quantize_i8", vectors=bad.ctypes.data) == VALUE


@compiled
@pytest.mark.parametrize("seed", [-1, 1, 2**31 - 1])
def test_a_walk_cannot_start_outside_the_graph(seed: int) -> None:
    seeds = np.array([seed], np.int32)
    assert status_of("sr_push_f32", seeds=seeds.ctypes.data) == REFUSED


@compiled
@pytest.mark.parametrize("mass", [0, -1, 1.001, np.nan])
def test_a_walk_needs_shares_of_mass(mass: float) -> None:
    masses = np.array([mass], np.float32)
    assert status_of("sr_push_f32", masses=masses.ctypes.data) == REFUSED


@compiled
@pytest.mark.parametrize("argument", ["targets", "weights"])
def test_a_graph_with_edges_needs_their_arrays(argument: str) -> None:
    offsets = np.array([0, 1], np.int64)
    changed: Arguments = {"offsets": offsets.ctypes.data, argument: None}
    assert status_of("sr_push_f32", **changed) == REFUSED


@compiled
def test_an_instruction_set_must_be_one_of_this_machine() -> None:
    assert library is not None
    before = library.isa()
    assert library._c.sr_use(None) == REFUSED
    for name in ("abacus", "", "reference", *set(_native.KNOWN_ISAS) - set(library.isas)):
        assert library._c.sr_use(name.encode()) == LACKING
    assert library.isa() == before


@compiled
def test_a_refusal_that_python_should_have_foreseen_is_a_bug() -> None:
    assert library is not None
    with pytest.raises(AssertionError, match="refused a call with status 3"):
        library.use("abacus")


# --- the C side of the contract -----------------------------------------------------------------
@compiled
def test_a_mask_of_c_has_a_bit_for_every_row() -> None:
    codes = np.arange(1, 11, dtype=np.int8)
    scales, query = np.ones(10, np.float32), np.ones(1, np.int8)
    mask = np.array([0b10000001, 0b00000001], np.uint8)  # rows 0, 7 and 8
    rows, scores, n_found = np.zeros(5, np.int64), np.zeros(5, np.float32), ctypes.c_size_t()
    status = status_of(
        "sr_topk_i8",
        codes=codes.ctypes.data,
        scales=scales.ctypes.data,
        n_rows=10,
        dim=1,
        queries=query.ctypes.data,
        query_scales=scales.ctypes.data,
        mask=mask.ctypes.data,
        k=5,
        rows=rows.ctypes.data,
        scores=scores.ctypes.data,
        n_found=ctypes.addressof(n_found),
    )
    assert status == OK
    assert n_found.value == 3
    assert rows[:3].tolist() == [8, 7, 0]
    assert scores[:3].tolist() == [9, 8, 1]


@compiled
def test_a_walk_returns_its_working_memory_as_zero_bytes() -> None:
    # Expected as the header has it: "must be all zero bytes, and is so again on return".
    use(COMPILED[0])
    graph = Transitions.of(np.array([0, 2, 3, 3]), np.array([1, 2, 2]), np.ones(3))
    pagerank(graph, np.array([0]), np.ones(1), 3)
    [scratch] = graph._scratch
    assert not scratch.view(np.uint8).any()


@compiled
def test_arrays_of_a_larger_one_are_read_where_they_lie() -> None:
    use(COMPILED[0])
    codes = random_codes(np.random.default_rng(1), 50, 33)
    part = Codes(codes.codes[11:31], codes.scales[11:31])
    whole = kernels.scan(codes, codes.rows(slice(3, 5)))
    assert kernels.scan(part, codes.rows(slice(3, 5))).tolist() == whole[:, 11:31].tolist()
    vectors = np.random.default_rng(1).standard_normal((9, 7)).astype(np.float32)
    assert quantize(vectors[2:5]).codes.tolist() == quantize(vectors).codes[2:5].tolist()
