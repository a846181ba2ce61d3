from __future__ import annotations

import json

import pytest

from smartrag.errors import ModelError
from smartrag.perception.labels import Inventory, TypeRow

BASE = Inventory(6, (TypeRow(1, "person"), TypeRow(2, "location")))


def test_new_types_take_the_next_free_rows_on_trial() -> None:
    grown = BASE.with_types({"researcher": "person", "metric": ""})
    assert grown.types[2:] == (
        TypeRow(3, "researcher", "trial", "person"),
        TypeRow(4, "metric", "trial"),
    )
    assert (BASE.used, grown.used, grown.rows) == (3, 5, 6)


def test_more_types_than_free_rows_are_refused() -> None:
    with pytest.raises(ModelError, match="4 new types do not fit: 3 of 5 rows are free"):
        BASE.with_types(dict.fromkeys("abcd", ""))


def test_a_name_is_given_once() -> None:
    with pytest.raises(ModelError, match="'person'"):
        BASE.with_types({"person": ""})


def test_a_type_counts_as_the_broader_ones_above_it() -> None:
    grown = BASE.with_types({"researcher": "person"}).with_types({"chemist": "researcher"})
    assert grown.lineage("chemist") == ("chemist", "researcher", "person")
    assert grown.lineage("person") == ("person",)


def test_a_merged_type_speaks_with_the_other_name_and_a_retired_one_not_at_all() -> None:
    grown = BASE.with_types({"town": "location", "city": "location"})
    merged = grown.changed("town", becomes="city")
    assert merged.said_by(3) == "city"
    assert merged.changed("city", status="retired").said_by(3) == ""
    assert grown.said_by(3) == "town"
    with pytest.raises(ModelError, match="no type named 'village'"):
        grown.changed("village", status="retired")


def test_an_inventory_survives_its_json() -> None:
    grown = BASE.with_types({"生物": ""}).changed("生物", status="active")
    assert Inventory.from_json(grown.to_json()) == grown


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 2},
        {"types": [{"row": 2, "name": "x"}]},
        {"types": [{"row": 1, "name": "x"}, {"row": 2, "name": "x"}]},
        {"types": [{"row": 1, "name": "x", "status": "lost"}]},
        {"types": [{"row": 1, "name": "x", "becomes": "y"}]},
        {"types": [{"row": 1}]},
    ],
)
def test_a_damaged_inventory_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="damaged"):
        Inventory.from_json(json.dumps({**json.loads(BASE.to_json()), **change}))
