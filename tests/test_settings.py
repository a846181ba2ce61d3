"""Settings are built from mappings, and what is wrong in them is named with its place."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartrag import Settings
from smartrag.errors import SettingsError


def test_an_empty_mapping_gives_the_defaults() -> None:
    assert Settings.from_mapping({}) == Settings()


def test_given_values_replace_defaults_and_leave_the_others() -> None:
    built = Settings.from_mapping({"focus": {"top_k": 3}, "thinking": {"planner": "model"}})
    assert built.focus == dataclasses.replace(Settings().focus, top_k=3)
    assert built.thinking == dataclasses.replace(Settings().thinking, planner="model")
    assert built.memory == Settings().memory


def test_an_integer_serves_as_a_float() -> None:
    found = Settings.from_mapping({"focus": {"link_weight": 2}}).focus.link_weight
    assert found == 2.0
    assert type(found) is float


def test_a_list_becomes_a_tuple() -> None:
    built = Settings.from_mapping({"focus": {"sentences_per_passage": [2, 1]}})
    assert built.focus.sentences_per_passage == (2, 1)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"fokus": {}}, "there is no setting 'fokus'"),
        ({"focus": {"topk": 3}}, "there is no setting 'focus.topk'"),
        ({"focus": 3}, "the setting 'focus' must be a group of settings, not 3"),
        ({"focus": {"top_k": "3"}}, "the setting 'focus.top_k' must be int, not '3'"),
        ({"focus": {"top_k": 3.0}}, "the setting 'focus.top_k' must be int, not 3.0"),
        ({"focus": {"top_k": True}}, "the setting 'focus.top_k' must be int, not True"),
        ({"focus": {"top_k": None}}, "the setting 'focus.top_k' must be int, not None"),
        ({"focus": {"off_topic": False}}, "'focus.off_topic' must be float, not False"),
        ({"focus": {"top_k": -1}}, "the setting 'focus.top_k' must be zero or more, not -1"),
        ({"focus": {"off_topic": -0.5}}, "'focus.off_topic' must be zero or more, not -0.5"),
        ({"focus": {"off_topic": -1}}, "'focus.off_topic' must be zero or more, not -1.0"),
        ({"focus": {"off_topic": float("nan")}}, "'focus.off_topic' must be zero or more, not nan"),
        ({"perception": {"encoder": 7}}, "the setting 'perception.encoder' must be str, not 7"),
        ({"thinking": {"planner": "luck"}}, "must be one of 'rules', 'model', not 'luck'"),
        ({"thinking": {"planner": ["rules"]}}, "must be one of 'rules', 'model', not ['rules']"),
        ({"focus": {"sentences_per_passage": 3}}, "must be a list, not 3"),
        ({"focus": {"sentences_per_passage": "33"}}, "must be a list, not '33'"),
        ({"focus": {"sentences_per_passage": [3, "2"]}}, "must be int, not '2'"),
        ({"focus": {"sentences_per_passage": [3, -2]}}, "must be zero or more, not -2"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_mapping(values)
    assert complaint in str(caught.value)


def test_an_unknown_key_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"Known here are: busy_timeout_s$"):
        Settings.from_mapping({"memory": {"timeout": 1}})


def test_every_default_is_accepted_as_a_given_value() -> None:
    assert Settings.from_mapping(dataclasses.asdict(Settings())) == Settings()


def test_settings_come_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(
        "[focus]\nsentences_per_passage = [1, 1]\nlink_weight = 2\n[thinking]\nmodel = 'é.gguf'\n",
        encoding="utf-8",
    )
    built = Settings.from_toml(file)
    assert built.focus.sentences_per_passage == (1, 1)
    assert built.focus.link_weight == 2.0
    assert built.thinking.model == "é.gguf"


@pytest.mark.parametrize("content", [b"[focus", b"top_k = ", b"a = '\xff'", None])
def test_a_settings_file_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "settings.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        Settings.from_toml(file)
    assert caught.value.subject == str(file)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
GROUPS = {
    group.name: [f.name for f in dataclasses.fields(getattr(Settings(), group.name))]
    for group in dataclasses.fields(Settings)
}


@given(st.data())
def test_any_value_anywhere_is_taken_or_refused_with_its_place(data: st.DataObject) -> None:
    group = data.draw(st.sampled_from(sorted(GROUPS)))
    name = data.draw(st.sampled_from(GROUPS[group]))
    try:
        Settings.from_mapping({group: {name: data.draw(VALUES)}})
    except SettingsError as error:
        assert f"'{group}.{name}'" in error.problem


@pytest.mark.parametrize("candidates", [0, 15, 65_537])
def test_too_few_and_too_many_candidates_are_refused(candidates: int) -> None:
    with pytest.raises(SettingsError, match=f"focus.sketch_candidates is {candidates}"):
        Settings.from_mapping({"focus": {"sketch_candidates": candidates}})
