"""The tree of errors is the one that is drawn, and every message says what to do."""

from __future__ import annotations

import re

import pytest

from smartrag import errors
from smartrag.errors import MissingExtra, ReadError, SmartRAGError, StoreBusy, StoreError

_NODE = re.compile(r"^    ([ │├└─]*)([A-Z]\w+)(?: {2,}(.+))?$", re.MULTILINE)


def drawn() -> dict[str, str]:
    """Name → name of the parent, as the docstring of the module draws them."""
    path: list[str] = []
    parents = {}
    for bars, name, _ in _NODE.findall(errors.__doc__ or ""):
        depth = len(bars) // 4
        path[depth:] = [name]
        parents[name] = path[depth - 1] if depth else "Exception"
    return parents


def defined() -> dict[str, str]:
    return {
        name: kind.__base__.__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__base__ is not None
    }


def test_the_drawn_tree_is_the_defined_one() -> None:
    assert drawn() == defined()
    assert len(drawn()) == 18


def test_every_error_has_a_stage_of_its_own_room() -> None:
    assert StoreBusy.stage == StoreError.stage == "store"
    assert ReadError.stage == "read"


def test_a_message_says_where_to_what_what_is_wrong_and_what_to_do() -> None:
    error = StoreBusy("another process is writing", subject="a.db", remedy="Wait for it")
    assert str(error) == "store: a.db: another process is writing. Wait for it"


def test_a_message_without_a_subject_leaves_it_out() -> None:
    assert str(ReadError("it is empty", remedy="Skip it")) == "read: it is empty. Skip it"


def test_a_stage_can_be_given_and_does_not_change_the_class() -> None:
    assert str(ReadError("no", remedy="Go", stage="sync")) == "sync: no. Go"
    assert ReadError.stage == "read"


def test_a_missing_library_is_named_with_the_command_that_installs_it() -> None:
    error = MissingExtra("onnxruntime", extra="encoder", stage="perception")
    assert str(error) == (
        "perception: the library 'onnxruntime' is not installed. "
        "Install it with: pip install 'smartrag[encoder]'"
    )


def test_the_base_catches_every_error() -> None:
    for name in set(defined()) - {"MissingExtra"}:
        with pytest.raises(SmartRAGError):
            raise getattr(errors, name)("it is so", remedy="Change it")
