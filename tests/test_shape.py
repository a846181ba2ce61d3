"""The shape of the project: what is exported, what imports what, how long a file may be."""

from __future__ import annotations

import importlib.machinery
import subprocess
import sys
import sysconfig
from pathlib import Path

import smartrag

ROOT = Path(__file__).parent.parent

WITHOUT_EXTRAS = """
import sys

OPTIONAL = {
    "torch", "transformers", "onnxruntime", "tokenizers", "llama_cpp", "typer", "rich", "pypdf",
    "jinja2",
}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ImportError(f"{name} was imported")

sys.meta_path.insert(0, Blocker())
import smartrag, smartrag.system, smartrag.perception.readers, smartrag.thinking, smartrag.models
assert not OPTIONAL & set(sys.modules)
assert "numpy" in sys.modules
"""


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_exports_are_exactly_these() -> None:
    assert smartrag.__all__ == [
        "Answer",
        "Document",
        "Evidence",
        "Settings",
        "SmartRAG",
        "SmartRAGError",
    ]
    assert all(hasattr(smartrag, name) for name in smartrag.__all__)


def test_the_package_imports_with_numpy_alone(tmp_path: Path) -> None:
    done = python(WITHOUT_EXTRAS, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_root_of_the_repository_shadows_no_package_named_kernels() -> None:
    # transformers asks for a package of that name, and Python looks in the working directory first.
    found = importlib.machinery.PathFinder.find_spec("kernels", [str(ROOT)])
    assert found is None or found.origin is None
    assert not (ROOT / "kernels" / "__init__.py").exists()


def test_no_file_has_more_than_400_lines() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "smartrag").rglob("*.py")
    }
    assert len(lengths) > 40
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_the_rooms_import_only_what_they_may() -> None:
    command = Path(sysconfig.get_path("scripts")) / "lint-imports"
    done = subprocess.run(
        [str(command), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
