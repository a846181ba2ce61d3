"""The types that EvoNER can say, and which row of its label layer says each of them.

Row 0 is "no entity". Base types come next, and every later type takes a free row, so the layer
never changes its shape (paper §3.2, the reserved-label mechanism).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from smartrag.errors import ModelError

_LIST = "See all types with: smartrag types"

BASE_TYPES = (
    *("person", "organization", "location", "building", "art", "product", "event", "other"),
    *("time", "number"),
)
"""What the shipped model says from the start, in the order of its rows."""

Status = Literal["trial", "active", "retired"]
"""A type on trial is found and can be taken back; a retired one keeps its row, and what it finds
counts as the broader type above it, or not at all where there is none."""


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A type, its row, and the broader type that it is a kind of ("" for none).

    `becomes` is the type that speaks for it after a merge ("" for none).
    """

    row: int
    name: str
    status: Status = "active"
    parent: str = ""
    becomes: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The types of one version of a model with `rows` label rows, in the order of their rows."""

    rows: int
    types: tuple[TypeRow, ...]

    @property
    def used(self) -> int:
        """How many rows are in use, that of "no entity" included; the others are reserved."""
        return 1 + len(self.types)

    def named(self, name: str) -> TypeRow | None:
        """The type of that name."""
        return next((t for t in self.types if t.name == name), None)

    def speaker(self, name: str) -> TypeRow | None:
        """The type that speaks for the one of that name: another one after a merge."""
        found = self.named(name)
        while found and found.becomes:
            found = self.named(found.becomes)
        return found

    def said_by(self, row: int) -> str:
        """The name that a mention found by `row` gets.

        For a retired type that is the broader one above it; it is empty where there is none.
        """
        name = self.types[row - 1].name
        for _ in self.types:
            found = self.speaker(name)
            if found is None or found.status != "retired":
                return found.name if found else ""
            name = found.parent
        return ""

    def lineage(self, name: str) -> tuple[str, ...]:
        """The type and the broader ones above it, the narrowest first."""
        line: list[str] = []
        while name and name not in line:
            line.append(name)
            found = self.named(name)
            name = found.parent if found else ""
        return tuple(line)

    def with_types(self, added: Mapping[str, str]) -> Inventory:
        """The inventory with new types (name → parent) on trial, each in the next free row.

        Raises ModelError when a name is taken or the rows do not suffice.
        """
        for name in added:
            if self.named(name):
                raise ModelError(
                    f"there is a type named {name!r} already", remedy="Choose another name"
                )
        free = self.rows - self.used
        if len(added) > free:
            raise ModelError(
                f"{len(added)} new types do not fit: {free} of {self.rows - 1} rows are free",
                remedy="Learn fewer types at once, or merge types that mean the same",
            )
        rows = enumerate(added.items(), self.used)
        new = tuple(TypeRow(row, name, "trial", parent) for row, (name, parent) in rows)
        return replace(self, types=(*self.types, *new))

    def promoted(self, name: str) -> Inventory:
        """A type on trial becomes an active one; raises ModelError for any other."""
        if self._there(name).status != "trial":
            raise ModelError(f"the type {name!r} is not on trial", remedy=_LIST)
        return self._changed(name, status="active")

    def merged(self, name: str, into: str) -> Inventory:
        """What was called `name` is called `into` from now on; raises ModelError."""
        target = self.speaker(into)
        if target is None or target.status == "retired":
            raise ModelError(f"there is no type named {into!r} to merge into", remedy=_LIST)
        if self.speaker(self._there(name).name) == target:
            raise ModelError(f"{name!r} and {into!r} are one type already", remedy=_LIST)
        return self._changed(name, becomes=target.name)

    def retired(self, name: str) -> Inventory:
        """A type that is not said any more; raises ModelError when it already is not."""
        found = self._there(name)
        if found.status == "retired" or found.becomes:
            raise ModelError(f"the type {name!r} is not in use", remedy=_LIST)
        return self._changed(name, status="retired")

    def _there(self, name: str) -> TypeRow:
        found = self.named(name)
        if found is None:
            raise ModelError(f"there is no type named {name!r}", remedy=_LIST)
        return found

    def _changed(self, name: str, **changes: Any) -> Inventory:
        types = tuple(replace(t, **changes) if t.name == name else t for t in self.types)
        return replace(self, types=types)

    def to_json(self) -> str:
        """The inventory as JSON."""
        return json.dumps(
            {
                "rows": self.rows,
                "types": [
                    {
                        "row": t.row,
                        "name": t.name,
                        "status": t.status,
                        "parent": t.parent,
                        "becomes": t.becomes,
                    }
                    for t in self.types
                ],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Inventory:
        """The inventory that `to_json` wrote; raises ModelError when it is damaged."""
        try:
            read: dict[str, Any] = json.loads(text)
            found = cls(int(read["rows"]), tuple(TypeRow(**t) for t in read["types"]))
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged() from error
        rows = [t.row for t in found.types]
        names = {t.name for t in found.types}
        if (
            rows != list(range(1, len(rows) + 1))
            or len(names) != len(rows)
            or found.rows < found.used
            or any(t.status not in get_args(Status) for t in found.types)
            or not {t.becomes for t in found.types} <= names | {""}
            or any(_runs_in_a_circle(found, t) for t in found.types)
        ):
            raise _damaged()
        return found


def _runs_in_a_circle(inventory: Inventory, of: TypeRow) -> bool:
    found: TypeRow | None = of
    for _ in inventory.types:
        if found is None or not found.becomes:
            return False
        found = inventory.named(found.becomes)
    return True


def _damaged() -> ModelError:
    return ModelError(
        "the list of entity types is damaged", remedy="Roll back with: smartrag types --rollback"
    )
