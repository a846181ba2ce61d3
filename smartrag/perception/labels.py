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

Status = Literal["trial", "active", "retired"]
"""A type on trial is found and can be taken back; a retired one keeps its row and is not found."""


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

    def said_by(self, row: int) -> str:
        """The name that a mention found by `row` gets; empty for a retired type."""
        found = self.types[row - 1]
        while found.becomes:
            following = self.named(found.becomes)
            assert following is not None
            found = following
        return "" if found.status == "retired" else found.name

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

    def changed(self, name: str, **changes: str) -> Inventory:
        """The inventory with one type changed; raises ModelError when there is none."""
        if not self.named(name):
            raise ModelError(
                f"there is no type named {name!r}", remedy="See them all with: smartrag types"
            )
        types = tuple(replace(t, **changes) if t.name == name else t for t in self.types)  # type: ignore[arg-type]
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
        ):
            raise _damaged()
        return found


def _damaged() -> ModelError:
    return ModelError(
        "the list of entity types is damaged", remedy="Roll back with: smartrag types --rollback"
    )
