"""Versions of the entity model: each deployed as a whole, none lost, the queue worked off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smartrag.errors import LearningRefused, ModelError
from smartrag.memory import Store
from smartrag.memory.versions import LearnedGraph, LessonLines, UnfinishedRound, Version
from smartrag.types import Document, Mention, Observation
from tests.fakes import observation

GRAPH = LearnedGraph("base", b"graph", b"update", "{}")
LESSON = LessonLines({"band": "organization"}, ['{"one": 1}', '{"two": 2}'], [None, None])


def seen(text: str, *mentions: Mention) -> Observation:
    return replace(observation(text), mentions=mentions)


def put(store: Store, name: str, text: str, type_: str = "name") -> None:
    mention = Mention(0, 3, text[:3], type_, 0.9)
    store.put("default", Document(name, text), [[seen(text, mention)]])


def learned(store: Store, parent: Version | None = None, change: str = "learned band") -> Version:
    store.versions.deploy(parent, GRAPH, '{"types": []}', change, LESSON)
    deployed = store.versions.deployed()
    assert deployed is not None
    return deployed


def test_a_store_begins_with_the_shipped_model(store: Store) -> None:
    assert store.versions.deployed() is None
    assert store.versions.listed() == []
    assert store.versions.unfinished() is None


def test_a_deployed_version_keeps_its_graph_its_lesson_and_its_line(store: Store) -> None:
    first = learned(store)
    second = learned(store, first, "learned album")
    assert (first.parent, second.parent) == (None, first.id)
    assert store.versions.listed() == [first, second]
    assert store.versions.graphs(second) == [GRAPH, GRAPH]
    [one, two] = store.versions.lessons(second)
    assert (one.new, tuple(one.sentences)) == (LESSON.new, tuple(LESSON.sentences))
    assert two.paragraphs == (None, None)


def test_deploying_queues_all_paragraphs_and_ends_the_round(store: Store) -> None:
    put(store, "a", "Ada sang.")
    put(store, "b", "Bob sang.")
    store.versions.save(UnfinishedRound("plan", 1, b"half"))
    assert store.versions.unfinished() == UnfinishedRound("plan", 1, b"half")
    learned(store)
    assert store.versions.unfinished() is None
    assert store.versions.n_queued() == 2
    [(paragraph, document, read)] = store.versions.queued(1)
    assert (paragraph, document.name, read.text) == (1, "a", "Ada sang.")


def test_reading_again_replaces_what_was_seen_and_nothing_else(store: Store) -> None:
    put(store, "a", "Ada sang.")
    put(store, "b", "Bob sang.")
    version = learned(store)
    before = store.stats()
    sang = seen("Ada sang.", Mention(4, 8, "sang", "verb", 0.5))
    store.versions.retype(version, [1], [sang])
    assert store.versions.n_queued() == 1
    assert store.versions.mention_counts() == {"name": 1, "verb": 1}
    assert store.stats().mentions == before.mentions
    assert "ada" not in "".join(line for line in store.dump() if line.startswith("entity"))


def test_reading_again_is_dropped_when_another_version_came_in_between(store: Store) -> None:
    put(store, "a", "Ada sang.")
    old = learned(store)
    learned(store, old)
    store.versions.retype(old, [1], [seen("Ada sang.")])
    assert store.versions.n_queued() == 1
    assert store.versions.mention_counts() == {"name": 1}


def test_a_forgotten_document_leaves_queue_and_lessons(store: Store) -> None:
    put(store, "a", "Ada sang.")
    lesson = replace(LESSON, paragraphs=[1, None])
    store.versions.deploy(None, GRAPH, "{}", "learned band", lesson)
    store.forget("default", "a")
    assert store.versions.n_queued() == 0
    version = store.versions.deployed()
    assert version is not None
    assert store.versions.lessons(version)[0].sentences == ('{"two": 2}',)


def test_only_one_of_two_processes_deploys(store: Store) -> None:
    first = learned(store)
    before = store.versions.listed()
    with pytest.raises(LearningRefused, match="another process"):
        store.versions.deploy(None, GRAPH, "{}", "late", LESSON)
    with pytest.raises(LearningRefused, match="another process"):
        store.versions.change(None, "{}", "late", {"name": "person"})
    assert (store.versions.listed(), store.versions.deployed()) == (before, first)


def test_a_change_of_the_list_shares_the_graph_and_renames_at_once(store: Store) -> None:
    put(store, "a", "Ada sang.")
    put(store, "b", "Bob sang.", type_="noise")
    parent = learned(store)
    graph_version = store.view("default").version
    store.versions.change(parent, "{}", "merged", {"name": "person", "noise": ""})
    changed = store.versions.deployed()
    assert changed is not None
    assert (changed.graph, changed.parent) == (parent.graph, parent.id)
    assert store.versions.mention_counts() == {"person": 1}
    assert store.view("default").version > graph_version
    assert "bob" not in "".join(line for line in store.dump() if line.startswith("entity"))


def test_rolling_back_goes_anywhere_and_loses_nothing(store: Store) -> None:
    put(store, "a", "Ada sang.")
    first = learned(store)
    second = learned(store, first)
    store.versions.roll_back(first.id)
    assert store.versions.deployed() == first
    store.versions.roll_back(None)
    assert store.versions.deployed() is None
    store.versions.roll_back(second.id)
    assert store.versions.deployed() == second
    assert store.versions.n_queued() == 1
    with pytest.raises(ModelError, match="no version 99"):
        store.versions.roll_back(99)


def test_a_round_can_be_abandoned(store: Store) -> None:
    store.versions.abandon()
    store.versions.save(UnfinishedRound("plan", 1, b"half"))
    store.versions.abandon()
    assert store.versions.unfinished() is None


def test_what_an_older_version_reads_after_another_was_deployed_is_queued(store: Store) -> None:
    put(store, "a", "Ada sang.")
    store.versions.reads_with(None)
    put(store, "b", "Bob sang.")
    assert store.versions.n_queued() == 0
    learned(store)
    put(store, "c", "Cyd sang.")
    assert store.versions.n_queued() == 3
    store.versions.reads_with(store.versions.deployed())
    put(store, "d", "Dan sang.")
    assert store.versions.n_queued() == 3
