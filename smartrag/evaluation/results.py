"""Result files: what was measured, with all that is needed to measure it again.

A result is one JSON file and a Markdown twin of the same stem. Rows are flat: fractions are 0 to
1, and seconds, milliseconds and bytes say so at the end of the key. The interval of a value stands
beside it under the keys `<key>_low` and `<key>_high`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from smartrag.errors import DataError
from smartrag.evaluation.datasets import DataFile

Row = Mapping[str, str | int | float | bool | None]

_LIBRARIES = (
    *("smartrag", "numpy", "onnxruntime", "tokenizers", "llama-cpp-python"),
    # Peers of the benchmarks.
    *("faiss-cpu", "igraph", "networkx", "numkong", "scikit-network", "scipy", "simsimd"),
    *("sqlite-vec", "usearch"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it ran: `cores` are those the process may use, `memory_bytes` is 0 where unknown."""

    processor: str
    cores: int
    memory_bytes: int
    os: str
    python: str
    libraries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that took part, by base name and the SHA-256 of its file."""

    name: str
    sha256: str

    @classmethod
    def of(cls, name: str, path: Path) -> ModelFile:
        """The file at `path`; `name` may itself be a path, of which the base name is kept."""
        with path.open("rb") as file:
            return cls(Path(name).name, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True, slots=True)
class Result:
    """One committed result. `name` is the stem of its files and `date` an ISO date.

    `command` must run as written from the root of the repository and is stored as given. Names of
    results, data and models are base names: one with a folder in it raises ValueError.
    """

    name: str
    command: str
    commit: str
    date: str
    seed: int
    machine: Machine
    data: tuple[DataFile, ...]
    models: tuple[ModelFile, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for name in (self.name, *(d.name for d in self.data), *(m.name for m in self.models)):
            if name in ("", ".", "..") or "/" in name or "\\" in name:
                raise ValueError(f"'{name}' is not a bare file name")

    @classmethod
    def of_this_run(
        cls,
        name: str,
        command: str,
        seed: int,
        rows: Iterable[Row],
        data: Iterable[DataFile] = (),
        models: Iterable[ModelFile] = (),
    ) -> Result:
        """A result with the commit, the date (UTC) and the machine of this moment."""
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        lists = (tuple(data), tuple(models), tuple(rows))
        return cls(name, command, commit(), today, seed, machine(), *lists)


# --- where and from what --------------------------------------------------------------------------
def machine() -> Machine:
    """What is known about this machine; libraries that are not installed are not listed."""
    libraries: dict[str, str] = {}
    for library in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            libraries[library] = importlib.metadata.version(library)
    return Machine(
        processor=_processor(),
        cores=_cores(),
        memory_bytes=_memory_bytes(),
        os=f"{platform.system()} {platform.release()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        libraries=libraries,
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # macOS and Windows lack it
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts = ""
    named = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or platform.machine()


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 0


def commit(source: Path = Path(__file__)) -> str:
    """The commit that `source` was checked out from, or "unknown".

    "-dirty" is appended when tracked files differ from it, the results themselves aside. A file
    that is not tracked has no commit: an installed package may lie inside another repository.
    """
    tracked = _git(source, "ls-files", "--error-unmatch", "--", source.name)
    head = _git(source, "rev-parse", "HEAD")
    if not tracked or not head:
        return "unknown"
    where = ("--", ":(top)", ":(top,exclude)experiments/results")
    changes = _git(source, "status", "--porcelain", "--untracked-files=no", *where)
    return f"{head}-dirty" if changes else head


def _git(source: Path, *arguments: str) -> str | None:
    """What git says in the folder of `source`; None where it is missing or refuses."""
    command = ["git", "-C", str(source.parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


# --- files ----------------------------------------------------------------------------------------
def to_json(result: Result) -> str:
    """The result as indented JSON with its fields in order; a NaN raises ValueError."""
    fields = dataclasses.asdict(result)
    return json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def require_writable(folder: Path) -> None:
    """Make `folder` and try to write in it, before hours of work; raises DataError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(
            f"results cannot be written here ({error.strerror})",
            subject=str(folder),
            remedy="Choose another folder with --results",
        ) from error


def write(result: Result, folder: Path) -> Path:
    """Write `<name>.json` and `<name>.md` into `folder` and return the path of the first.

    Each file is written beside its place and then moved there, so that none is ever half written.
    """
    texts = {".json": to_json(result), ".md": to_markdown(result)}
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in texts.items():
        _replace(folder / f"{result.name}{suffix}", text)
    return folder / f"{result.name}.json"


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read(path: Path) -> Result:
    """The result in a JSON file that `write` made; raises DataError."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        typed = {
            "machine": Machine(**values["machine"]),
            "data": tuple(DataFile(**file) for file in values["data"]),
            "models": tuple(ModelFile(**file) for file in values["models"]),
            "rows": tuple(values["rows"]),
        }
        return Result(**{**values, **typed})
    except (OSError, ValueError, TypeError, KeyError) as error:
        problem = f"this is not a result file ({error})"
        remedy = "Run the command that made it again"
        raise DataError(problem, subject=path.name, remedy=remedy) from error


# --- the Markdown twin ----------------------------------------------------------------------------
# A measure, at a cut-off or not, and what may follow: f1_new, recall@5_over_dense.
_FRACTION = re.compile(
    r"(recall|all|precision|mrr|em|(\w+_)?f1|contains|abstained|false_answer"
    r"|citation_precision|citation_recall|coverage|risk|accuracy)(@\d+)?(_\w+)?"
)


def to_markdown(result: Result) -> str:
    """The result for reading: fractions × 100 with one decimal, an interval beside its value."""
    at = result.machine
    libraries = ", ".join(f"{name} {version}" for name, version in at.libraries.items())
    facts = [
        f"- commit `{result.commit}`, {result.date}, seed {result.seed}",
        f"- {at.processor}, {at.cores} cores, {at.memory_bytes / 2**30:.1f} GiB; {at.os}; "
        + ", ".join(filter(None, [at.python, libraries])),
        *(f"- data `{d.name}`: {d.rows} rows, SHA-256 `{d.sha256}`" for d in result.data),
        *(f"- model `{m.name}`: SHA-256 `{m.sha256}`" for m in result.models),
    ]
    keys = list(dict.fromkeys(key for row in result.rows for key in row))
    if any(key.endswith(("_ms", "_s")) for key in keys):
        facts.append("- timings belong to this one machine")
    table = _table(result.rows, keys) if keys else ""
    head = f"# {result.name}\n\n```sh\n{result.command}\n```\n\n"
    return head + "\n".join([*facts, "", table]).rstrip() + "\n"


def _table(rows: tuple[Row, ...], keys: list[str]) -> str:
    bounds = {f"{key}{end}" for key in keys for end in ("_low", "_high")}
    columns = [key for key in keys if key not in bounds]
    titles = [f"{key} %" if _FRACTION.fullmatch(key) else key for key in columns]
    lines = [
        titles,
        ["---"] * len(columns),
        *([_cell(row, key) for key in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: Row, key: str) -> str:
    value, low, high = (_show(row.get(key + end), key) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]" if low and high else value


def _show(value: str | int | float | bool | None, key: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str | bool):
        return str(value).replace("|", "\\|").replace("\n", " ")
    if _FRACTION.fullmatch(key):
        return f"{100 * value:.1f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
