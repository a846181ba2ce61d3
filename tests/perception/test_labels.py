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


def test_a_merged_type_speaks_with_the_other_name() -> None:
    grown = BASE.with_types({"town": "location", "city": "location", "port": "location"})
    merged = grown.merged("town", "city")
    assert (grown.said_by(3), merged.said_by(3)) == ("town", "city")
    assert merged.merged("city", "port").said_by(3) == "port"
    for name, into in (("town", "town"), ("town", "city"), ("city", "town")):
        with pytest.raises(ModelError, match="one type already"):
            merged.merged(name, into)
    with pytest.raises(ModelError, match="no type named 'village'"):
        grown.merged("town", "village")
    with pytest.raises(ModelError, match="no type named 'city' to merge into"):
        grown.retired("city").merged("town", "city")


def test_a_retired_type_speaks_with_the_broader_one_or_not_at_all() -> None:
    grown = BASE.with_types({"town": "location", "metric": "", "port": "town"})
    retired = grown.retired("town").retired("metric")
    assert [retired.said_by(row) for row in (3, 4, 5)] == ["location", "", "port"]
    assert retired.retired("port").said_by(5) == "location"
    assert retired.retired("location").said_by(3) == ""
    with pytest.raises(ModelError, match="'town' is not in use"):
        retired.retired("town")


def test_a_type_on_trial_is_promoted_once() -> None:
    grown = BASE.with_types({"town": "location"})
    active = grown.promoted("town")
    assert active.named("town") == TypeRow(3, "town", "active", "location")
    for inventory, name in ((active, "town"), (grown, "person"), (grown, "village")):
        with pytest.raises(ModelError) as caught:
            inventory.promoted(name)
        assert "smartrag types" in caught.value.remedy


def test_an_inventory_survives_its_json() -> None:
    grown = BASE.with_types({"生物": ""}).promoted("生物")
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
        {"types": [{"row": 1, "name": "x", "becomes": "x"}]},
        {
            "types": [
                {"row": 1, "name": "x", "becomes": "y"},
                {"row": 2, "name": "y", "becomes": "x"},
            ]
        },
    ],
)
def test_a_damaged_inventory_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="damaged"):
        Inventory.from_json(json.dumps({**json.loads(BASE.to_json()), **change}))
