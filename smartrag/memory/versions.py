"""The versions of the entity model that were learned here, and the round that is under way.

The shipped model is no row: without a deployed version it is the one in use. A version is never
changed. Learning adds one with a graph of its own; promoting, merging and retiring types add one
that shares the graph of its parent; rolling back moves a pointer. All of it is one transaction
each, so a reader sees the old version or the new one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from smartrag.errors import LearningRefused, ModelError
from smartrag.memory import entities
from smartrag.memory.connection import Connection
from smartrag.types import Document, Observation, Paragraph

_DEPLOYED = "model_version"


@dataclass(frozen=True, slots=True)
class Version:
    """One version: what made it, its types as JSON, and the graph that it runs (None: the shipped
    one)."""

    id: int
    parent: int | None
    time: str
    change: str
    inventory: str
    graph: int | None


@dataclass(frozen=True, slots=True)
class LearnedGraph:
    """What one round of learning made of the weights that came with the package.

    `base` is the SHA-256 of these weights, `graph` what runs, `update` what the round changed, and
    `description` whatever else the model needs to know, as JSON.
    """

    base: str
    graph: bytes
    update: bytes
    description: str


@dataclass(frozen=True, slots=True)
class UnfinishedRound:
    """A round after `stages` stages; `plan` is the sum over all that decides how it goes on."""

    plan: str
    stages: int
    update: bytes


@dataclass(frozen=True, slots=True)
class LessonLines:
    """The sentences that a round learned from, as JSON, by the version that it ended with.

    `paragraphs` are the stored paragraphs that they stand in, None for a sentence from a file: such
    a sentence stays when documents go.
    """

    new: Mapping[str, str]
    sentences: Sequence[str]
    paragraphs: Sequence[int | None]


@dataclass(frozen=True, slots=True, eq=False)
class PendingPlace:
    """`text[first:last]`, in a paragraph with that text, names something of no known type."""

    paragraph: int
    first: int
    last: int
    text: str
    vector: NDArray[np.float16]  # (z,)


class Versions:
    """The versions of the entity model in one store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._reader: int | None = None
        self._reads = False

    # --- reading ----------------------------------------------------------------------------------
    def deployed(self) -> Version | None:
        """The version in use; None while it is the shipped one."""
        found = self._connection.rows(
            f"""SELECT {_COLUMNS} FROM model_versions
                 WHERE id = (SELECT CAST(value AS INTEGER) FROM meta WHERE key = '{_DEPLOYED}')"""
        )
        return Version(*found[0]) if found else None

    def listed(self) -> list[Version]:
        """All versions, the oldest first."""
        return [
            Version(*row)
            for row in self._connection.rows(f"SELECT {_COLUMNS} FROM model_versions ORDER BY id")
        ]

    def graphs(self, of: Version) -> list[LearnedGraph]:
        """The graph that a version runs and those before it, the oldest first."""
        found = []
        graph = of.graph
        while graph is not None:
            [(graph, *values)] = self._connection.rows(
                """SELECT parent_id, base_sha256, graph, changes, description
                     FROM model_graphs WHERE id = ?""",
                (graph,),
            )
            found.append(LearnedGraph(*values))
        return found[::-1]

    def lessons(self, of: Version) -> list[LessonLines]:
        """What a version and those before it learned from, the oldest first."""
        by_id = {version.id: version for version in self.listed()}
        found: list[LessonLines] = []
        version: Version | None = of
        while version is not None:
            rows = self._connection.rows(
                """SELECT sentence, paragraph_id FROM lessons
                    WHERE version_id = ? ORDER BY position""",
                (version.id,),
            )
            [[new]] = self._connection.rows(
                "SELECT new_types FROM model_versions WHERE id = ?", (version.id,)
            )
            if rows:
                lines, paragraphs = zip(*rows, strict=True)
                found.append(LessonLines(json.loads(new), lines, paragraphs))
            version = None if version.parent is None else by_id[version.parent]
        return found[::-1]

    def pending(self) -> list[PendingPlace]:
        """The mentions that no type fits, by paragraph and place."""
        return [
            PendingPlace(paragraph, first, last, text, np.frombuffer(vector, np.float16))
            for paragraph, first, last, text, vector in self._connection.rows(
                """SELECT m.paragraph_id, m.first, m.last, p.text, m.vector
                     FROM pending_mentions m JOIN paragraphs p ON p.id = m.paragraph_id
                    ORDER BY m.paragraph_id, m.first"""
            )
        ]

    # --- a round ----------------------------------------------------------------------------------
    def unfinished(self) -> UnfinishedRound | None:
        """The round that was begun and not ended."""
        rows = self._connection.rows("SELECT plan, stages, changes FROM learning_round")
        return UnfinishedRound(*rows[0]) if rows else None

    def save(self, round_: UnfinishedRound) -> None:
        """Keep where a round stands."""
        with self._connection.atomic():
            self._connection.execute(
                "INSERT OR REPLACE INTO learning_round VALUES (1, ?, ?, ?)",
                (round_.plan, round_.stages, round_.update),
            )

    def abandon(self) -> None:
        """Drop the round that is under way, if there is one."""
        with self._connection.atomic():
            self._connection.execute("DELETE FROM learning_round")

    # --- deploying --------------------------------------------------------------------------------
    def deploy(
        self,
        parent: Version | None,
        learned: LearnedGraph,
        inventory: str,
        change: str,
        lesson: LessonLines,
    ) -> int:
        """Put a learned version in use, queue all paragraphs for it, and end the round; its id.

        Raises LearningRefused when `parent` is not the version in use any more.
        """
        with self._connection.atomic():
            self._require(parent)
            graph = self._connection.execute(
                """INSERT INTO model_graphs (parent_id, base_sha256, graph, changes, description)
                   VALUES (?, ?, ?, ?, ?)""",
                (
                    parent.graph if parent else None,
                    learned.base,
                    learned.graph,
                    learned.update,
                    learned.description,
                ),
            ).lastrowid
            version = self._insert(parent, inventory, change, graph, lesson.new)
            self._connection.execute_many(
                """INSERT INTO lessons (version_id, position, paragraph_id, sentence)
                   VALUES (?, ?, ?, ?)""",
                [
                    (version, position, paragraph, sentence)
                    for position, (paragraph, sentence) in enumerate(
                        zip(lesson.paragraphs, lesson.sentences, strict=True)
                    )
                ],
            )
            self._connection.execute("DELETE FROM learning_round")
            self._queue_all()
        return version

    def change(
        self, parent: Version | None, inventory: str, change: str, renamed: Mapping[str, str]
    ) -> int:
        """Put a version in use that differs in its list of types only; its id.

        Mentions of a type in `renamed` get the new name at once; with an empty one they go.
        """
        with self._connection.atomic():
            self._require(parent)
            graph = parent.graph if parent else None
            version = self._insert(parent, inventory, change, graph, {})
            for old, new in renamed.items():
                self._rename(old, new)
            entities.count_up(self._connection)
        return version

    def roll_back(self, to: int | None) -> None:
        """Put another version in use, None for the shipped one, and queue all paragraphs for it.

        Nothing is lost: the newer versions stay, and one can go forward to them again. Raises
        ModelError when there is no such version.
        """
        with self._connection.atomic():
            if to is not None and to not in {version.id for version in self.listed()}:
                raise ModelError(
                    f"there is no version {to}", remedy="See them with: smartrag types versions"
                )
            self._point(to)
            self._connection.execute("DELETE FROM learning_round")
            self._queue_all()

    # --- the queue --------------------------------------------------------------------------------
    def reads_with(self, version: Version | None) -> None:
        """Say with which version this process reads what it writes."""
        self._reads, self._reader = True, version.id if version else None

    def queue_if_outdated(self, lens: str, document: str) -> None:
        """Queue a document that this process has read with a version no longer in use."""
        deployed = self.deployed()
        if self._reads and (deployed.id if deployed else None) != self._reader:
            self._connection.execute(
                """INSERT OR IGNORE INTO retype_queue
                   SELECT p.id FROM paragraphs p JOIN documents d ON d.id = p.document_id
                     JOIN lenses l ON l.id = d.lens_id WHERE l.name = ? AND d.name = ?""",
                (lens, document),
            )

    def queued(self, at_most: int) -> list[tuple[int, Document, Paragraph]]:
        """Paragraphs that were not read by the version in use yet, with their documents' titles."""
        rows = self._connection.rows(
            """SELECT p.id, d.name, d.title, p.position, p.first, p.last, p.text, p.label,
                      p.heading, p.page
                 FROM retype_queue q JOIN paragraphs p ON p.id = q.paragraph_id
                 JOIN documents d ON d.id = p.document_id ORDER BY p.id LIMIT ?""",
            (at_most,),
        )
        return [
            (
                row,
                Document(name, "", title),
                Paragraph(place, first, last, text, label, tuple(json.loads(heading)), page),
            )
            for row, name, title, place, first, last, text, label, heading, page in rows
        ]

    def mention_counts(self) -> dict[str, int]:
        """How often each type is mentioned, over all lenses."""
        return dict(self._connection.rows("SELECT type, count(*) FROM mentions GROUP BY type"))

    def n_queued(self) -> int:
        """How many paragraphs wait."""
        [[waiting]] = self._connection.rows("SELECT count(*) FROM retype_queue")
        return int(waiting)

    def retype(
        self, version: Version | None, paragraph_ids: Sequence[int], seen: Sequence[Observation]
    ) -> None:
        """Replace what was observed in these paragraphs, as `version` reads them.

        Those that left the queue meanwhile are passed over, and all of them when another version is
        in use by now.
        """
        with self._connection.atomic():
            if self.deployed() != version:
                return
            waiting = {
                row[0] for row in self._connection.rows("SELECT paragraph_id FROM retype_queue")
            }
            pairs = [(i, o) for i, o in zip(paragraph_ids, seen, strict=True) if i in waiting]
            entities.rewrite(self._connection, [i for i, _ in pairs], [o for _, o in pairs])
            self._connection.execute_many(
                "DELETE FROM retype_queue WHERE paragraph_id = ?", [(i,) for i, _ in pairs]
            )
            entities.count_up(self._connection)

    # --- inside -----------------------------------------------------------------------------------
    def _require(self, parent: Version | None) -> None:
        if self.deployed() != parent:
            raise LearningRefused(
                "another process has changed the entity model meanwhile",
                remedy="Run the command again",
            )

    def _insert(
        self,
        parent: Version | None,
        inventory: str,
        change: str,
        graph: int | None,
        new: Mapping[str, str],
    ) -> int:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        version = self._connection.execute(
            """INSERT INTO model_versions (parent_id, time, change, inventory, graph_id, new_types)
               VALUES (?, ?, ?, ?, ?, ?)""",
            (parent.id if parent else None, now, change, inventory, graph, json.dumps(dict(new))),
        ).lastrowid
        assert version is not None
        self._point(version)
        return version

    def _point(self, version: int | None) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            (_DEPLOYED, "" if version is None else str(version)),
        )

    def _queue_all(self) -> None:
        self._connection.execute("INSERT OR IGNORE INTO retype_queue SELECT id FROM paragraphs")

    def _rename(self, old: str, new: str) -> None:
        if new:
            self._connection.execute("UPDATE mentions SET type = ? WHERE type = ?", (new, old))
            return
        candidates = {
            row[0]
            for row in self._connection.rows(
                "SELECT DISTINCT entity_id FROM mentions WHERE type = ?", (old,)
            )
        }
        self._connection.execute(
            """DELETE FROM relation_evidence WHERE EXISTS
                 (SELECT 1 FROM relations r JOIN mentions m ON m.entity_id IN (r.head_id, r.tail_id)
                   WHERE r.id = relation_id AND m.type = ?
                     AND m.paragraph_id = relation_evidence.paragraph_id)""",
            (old,),
        )
        self._connection.execute("DELETE FROM mentions WHERE type = ?", (old,))
        entities.remove_unsupported(self._connection, candidates)


_COLUMNS = "id, parent_id, time, change, inventory, graph_id"
