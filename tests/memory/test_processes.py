"""Several processes at one store, and a process that is killed while it writes.

The other processes run this file: `python test_processes.py ROLE STORE`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from smartrag import Document, SmartRAG
from smartrag.ingest import write
from tests.fakes import open_memory

PARTS = 3
DOCUMENTS = tuple(
    Document(
        f"document {n}",
        "\n\n".join(
            f"Document {n} tells of Person{n} who met Person{n // 2} in Town{n % 5}, and part"
            f" {part} of it is about the {n * part} days after that." + " It was a long time." * 6
            for part in range(PARTS)
        ),
        f"Person{n}",
    )
    for n in range(60)
)


def version(number: int, document: int) -> Document:
    """A document of three paragraphs which all name its version."""
    text = "\n\n".join(
        f"Document {document} has in version{number} a part {part} about Town{part}."
        + " And so it goes on and on." * 6
        for part in range(PARTS)
    )
    return Document(f"document {document}", text, f"Document {document}")


def start(role: str, store: Path) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, __file__, role, str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def stop_file(store: Path) -> Path:
    return store.with_name("stop")


# --- roles ----------------------------------------------------------------------------------------
def ingest(store: Path) -> None:
    """Write the documents and say of each that it is written."""
    with open_memory(store) as memory:
        for outcome in write(DOCUMENTS, memory.perception, memory.store, "default"):
            print(outcome.name, flush=True)


def rewrite(store: Path) -> None:
    """Write ever newer versions of five documents, and forget one of them now and then."""
    with open_memory(store) as memory:
        for number in range(2, 8):
            for document in range(5):
                memory.add(version(number, document))
            memory.forget(f"document {number % 5}")


def watch(store: Path) -> None:
    """Read until told to stop, and end with an error where a document is not whole."""
    seen = set()
    with open_memory(store, write=False) as memory:
        while not stop_file(store).exists():
            found = defaultdict(list)
            for _, paragraph in memory.store.paragraphs():
                found[paragraph.document].append(paragraph.text.split()[4])
            for name, versions in found.items():
                assert len(versions) == PARTS, (name, versions)
                assert len(set(versions)) == 1, (name, versions)
                seen.add(versions[0])
            view = memory.store.view("default")
            assert len(view.paragraph_ids) % PARTS == 0
            assert view.graph.n_paragraphs == len(view.vectors.owners) == len(view.paragraph_ids)
            memory.search("Which part of document 3 is about Town1?")
            if len(seen) == 1:
                print("watching", flush=True)
    print(len(seen))


# --- tests ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The dump of a store into which all documents were written without a stop."""
    with open_memory(tmp_path_factory.mktemp("whole") / "memory.db") as memory:
        memory.add(DOCUMENTS)
        return memory.store.dump()


@pytest.mark.parametrize("moment", range(5))
def test_a_killed_ingest_leaves_whole_documents_and_is_taken_up_again(
    store_path: Path, uninterrupted: list[str], moment: int
) -> None:
    chance = random.Random(moment)
    killed_after = chance.randrange(len(DOCUMENTS))
    process = start("ingest", store_path)
    assert process.stdout is not None
    written = []
    for line in process.stdout:
        written.append(line.strip())
        if len(written) > killed_after:
            break
    time.sleep(chance.uniform(0, 0.003))
    process.kill()
    rest, _ = process.communicate(timeout=30)
    written += [line for line in rest.split("\n")[:-1] if line]
    with open_memory(store_path) as memory:
        assert_whole(memory)
        there = {d.name for d in memory.documents()}
        assert there >= set(written)
        outcomes = {o.name: o.outcome for o in memory.add(DOCUMENTS)}
        assert {name for name, outcome in outcomes.items() if outcome == "unchanged"} == there
        assert memory.store.dump() == uninterrupted


def assert_whole(memory: SmartRAG) -> None:
    sql = memory.store._connection
    assert sql.rows("PRAGMA integrity_check") == [("ok",)]
    assert sql.rows("PRAGMA foreign_key_check") == []
    for document in memory.documents():
        assert (document.status, document.paragraphs) == ("indexed", PARTS)
    paragraphs = len(list(memory.store.paragraphs()))
    assert len(memory.store.view("default").paragraph_ids) == paragraphs
    assert paragraphs == PARTS * len(memory.documents())


def test_readers_see_whole_documents_while_a_writer_works(store_path: Path) -> None:
    with open_memory(store_path) as memory:
        memory.add([version(1, document) for document in range(5)])
    readers = [start("watch", store_path) for _ in range(4)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "watching\n"
    _, errors = start("rewrite", store_path).communicate(timeout=60)
    assert errors == ""
    stop_file(store_path).touch()
    for reader in readers:
        out, errors = reader.communicate(timeout=60)
        assert errors == ""
        assert int(out.split()[-1]) > 1  # versions that this reader has seen
    with open_memory(store_path, write=False) as memory:
        assert {d.paragraphs for d in memory.documents()} == {PARTS}


if __name__ == "__main__":
    {"ingest": ingest, "rewrite": rewrite, "watch": watch}[sys.argv[1]](Path(sys.argv[2]))
