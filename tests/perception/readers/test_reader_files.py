from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smartrag.perception.readers as readers
from smartrag.errors import ReadError
from smartrag.perception.readers import SUFFIXES, find_files, read
from smartrag.settings import ReadSettings

DEFAULT = ReadSettings()


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_the_door() -> None:
    assert readers.__all__ == ["SUFFIXES", "decode", "find_files", "read"]
    assert sorted(SUFFIXES) == [
        ".csv", ".htm", ".html", ".json", ".jsonl", ".log", ".markdown", ".md", ".ndjson", ".pdf",
        ".text", ".tsv", ".txt", ".xhtml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "data", "media_type", "text"),
    [
        ("a.TXT", b"x", "text/plain", "x"),
        ("a.log", b"x", "text/plain", "x"),
        ("a.unknown", b"x", "text/plain", "x"),
        ("README", b"x", "text/plain", "x"),
        ("a.Md", b"# A\nx", "text/markdown", "# A\nx"),
        ("a.htm", b"<p>x", "text/html", "x"),
        ("a.csv", b"a,b\n1,2", "text/csv", "a: 1; b: 2"),
        ("a.tsv", b"a\tb\n1\t2", "text/tab-separated-values", "a: 1; b: 2"),
        ("a.ndjson", b'{"a": "x"}', "application/jsonl", "a: x"),
        ("a.json", b'[{"a": "x"}]', "application/json", "a: x"),
    ],
)
def test_the_suffix_chooses(
    tmp_path: Path, file: str, data: bytes, media_type: str, text: str
) -> None:
    document = read(write(tmp_path / file, data), f"given/{file}", DEFAULT)
    assert (document.media_type, document.text) == (media_type, text)
    assert (document.name, document.encoding) == (f"given/{file}", "utf-8")


@pytest.mark.parametrize(
    ("file", "data", "problem"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \r\n\t", "empty"),
        ("a.txt", b"\xff\xfe \x00", "empty"),
        ("a.md", b"# Only\n## headings\n", "empty"),
        ("a.html", b"<script>x</script>", "empty"),
        ("a.csv", b",,\n,,", "empty"),
        ("a.json", b"[]", "empty"),
        ("a.txt", b"text with a \x00", "binary"),
        ("a.bin", bytes(range(1, 256)), "binary"),
        ("a.md", b"\x01\x02text", "binary"),
        ("a.jsonl", b'{"a": 1}\n{', "line 2"),
        ("a.pdf", b"text", "damaged"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, file: str, data: bytes, problem: str) -> None:
    with pytest.raises(ReadError, match=problem) as caught:
        read(write(tmp_path / file, data), "the name", DEFAULT)
    assert caught.value.subject == "the name"
    assert caught.value.remedy


def test_a_large_file_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x" * 2001)
    with pytest.raises(ReadError, match=r"has 0\.002 MB and the limit is 0\.001 MB"):
        read(path, "a.txt", ReadSettings(largest_file_mb=0.001))
    assert read(path, "a.txt", ReadSettings(largest_file_mb=0.002001)).text == "x" * 2001


def test_paths_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    for path in (tmp_path, tmp_path / "gone.txt", tmp_path / "loop.txt", tmp_path / "a\0.txt"):
        with pytest.raises(ReadError) as caught:
            read(path, "the name", DEFAULT)
        assert caught.value.subject == "the name"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(ReadError, match="not a regular file"):
        read(tmp_path / "a.txt", "a.txt", DEFAULT)


def test_a_refused_permission_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # the superuser may read every file
    with pytest.raises(ReadError, match="Permission denied"):
        read(write_text(tmp_path), "a.txt", DEFAULT)


def write_text(folder: Path) -> Path:
    path = folder / "a.txt"
    path.write_text("x", encoding="utf-8")
    return path


def test_folders_are_walked_in_order_and_files_taken_as_given(tmp_path: Path) -> None:
    for file in (
        "b.md",
        "a/z.txt",
        "a/.hidden.txt",
        "a/x.exe",
        "c/d/e.PDF",
        ".git/f.txt",
        "d.d/g.csv",
    ):
        write(tmp_path / file, b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "linked.txt").symlink_to(tmp_path / "a" / "z.txt")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    given_file = tmp_path / "a" / "x.exe"
    missing = tmp_path / "missing.txt"
    found = list(find_files([given_file, tmp_path, missing]))
    inside = ["a/z.txt", "b.md", "c/d/e.PDF", "d.d/g.csv", "linked.txt", "loop.md"]
    assert found == [given_file, *(tmp_path / file for file in inside), missing]


def test_a_folder_that_cannot_be_listed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ReadError, match="Permission denied"):
        list(find_files([tmp_path]))


WORDS = r"""
# ## === --- ``` ~~~ title: <h1> </h1> <h2> <p> <table> <tr> <td> </td> </table> <li> <pre> </pre>
<script> </script> <head> <title> </title> <!-- --> <![ <![CDATA[ ]]> <!DOCTYPE </ <a &lt; &#xD800;
&#0; {"title": "text": "paragraphs": "context": [ ] { } "a" , ; | 1 null "\ud800" %PDF-1.4 %%EOF obj
endobj stream xref trailer <</Root /Kids [1 0 R]>> é 東京
"""
TOKENS = st.lists(
    st.sampled_from(
        [*WORDS.split(), *("\n", "\r", "\n\n", " ", "\t", '"', "'", "    ", "\ufeff", "\u2028")]
    ),
    max_size=25,
)
ROWS = st.dictionaries(
    st.sampled_from(["title", "text", "paragraphs", "context", "question", "a"]),
    st.recursive(
        st.none() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["title", "text"]), inner),
        max_leaves=5,
    ),
)
CONTENTS = st.one_of(
    st.binary(max_size=80),
    TOKENS.map(lambda tokens: "".join(tokens).encode()),
    TOKENS.map(lambda tokens: " ".join(tokens).encode("utf-16")),
    ROWS.map(lambda row: json.dumps(row).encode()),
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([*sorted(SUFFIXES), ".other"]), CONTENTS)
def test_any_bytes_give_valid_sections_or_a_read_error(suffix: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(data)
        try:
            document = read(path, "a", DEFAULT)
        except ReadError:
            return
    assert document.sections
    end = 0
    for section in document.sections:
        assert end <= section.start < section.end <= len(document.text)
        assert all(section.heading)
        end = section.end
    document.text.encode()
