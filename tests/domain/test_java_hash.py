"""Java's hash order, held against what the real HashMap, HashSet and TimelineHashMap answered to
random operations.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rebalsim.domain.java_hash import (
    JavaHashMap,
    TimelineHashMap,
    capacity_for,
    copied_map_capacity,
    copied_set_capacity,
    hash_ordered,
    int_hash,
    partition_hash,
    string_hash,
    uuid_halves,
    uuid_hash,
)

RECORDED = Path(__file__).parents[1] / "reality" / "java" / "hash-order.jsonl.gz"


def recorded():  # type: ignore[no-untyped-def]
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_random_operations_leave_the_order_that_java_has() -> None:
    rows = recorded()
    for row in rows:
        table: JavaHashMap[str, int] | TimelineHashMap[str, int] = (
            TimelineHashMap()
            if row["map"] == "timeline"
            else JavaHashMap(capacity=capacity_for(row["capacity"]))
        )
        for what, key in row["ops"]:
            if what == "=":
                assert list(table) == key
            elif what == "-":
                table.remove(key)
            elif what == "c":
                assert isinstance(table, JavaHashMap)
                table.compute(key, 1)
            else:
                table.put(key, 1)
        assert list(table) == row["order"]
        assert [string_hash(key) for key in row["order"]] == row["hashes"]
        assert list(JavaHashMap.copy_of(table)) == row["copy"]
        assert hash_ordered(table, capacity=copied_set_capacity(len(table))) == row["set"]
    assert {row["map"] for row in rows} == {"hash", "timeline"}
    assert any(what == "c" for row in rows for what, _ in row["ops"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("range", 108280125),
        ("roundrobin", -128548644),
        ("sticky", -892259863),
        ("cooperative-sticky", 1843682987),
        ("m-a", 106241),
        ("C0", 2125),
        ("é", 233),
        ("𝒳", 1772318),
    ],
)
def test_a_string_has_the_hash_that_java_gives_it(text: str, expected: int) -> None:
    assert string_hash(text) == expected


def test_a_partition_has_the_hash_that_java_gives_it() -> None:
    assert partition_hash(("t0", 0)) == 4605
    assert partition_hash(("t0", 1)) == 4636


def test_a_topic_id_hashes_and_sorts_by_its_signed_halves() -> None:
    assert uuid_halves("AAAAAAAAAAEAAAAAAAAAAg") == (1, 2)
    assert uuid_hash("AAAAAAAAAAEAAAAAAAAAAg") == 3
    assert uuid_halves("_____________________w") == (-1, -1)
    assert uuid_hash("_____________________w") == 0
    assert uuid_halves("_____________________w") < uuid_halves("AAAAAAAAAAEAAAAAAAAAAg")


def test_consumers_named_by_number_come_in_the_order_that_surprises() -> None:
    assert hash_ordered(["m-a", "m-b", "m-c"]) == ["m-a", "m-c", "m-b"]
    assert hash_ordered([f"consumer-{i}" for i in (10, 11, 12)]) == [
        "consumer-11",
        "consumer-10",
        "consumer-12",
    ]
    ordered = hash_ordered([f"consumer-{i}" for i in range(1, 21)])
    assert [int(name[9:]) for name in ordered] == [
        20,
        11,
        10,
        6,
        17,
        5,
        16,
        4,
        19,
        3,
        18,
        2,
        13,
        1,
        12,
        15,
        14,
        9,
        8,
        7,
    ]


def test_small_integers_come_ascending_and_large_ones_by_bucket() -> None:
    assert hash_ordered([5, 3, 15, 0], int_hash) == [0, 3, 5, 15]
    assert hash_ordered([3, 17], int_hash) == [17, 3]


def test_a_new_key_of_compute_stands_before_its_bucket_and_of_put_behind() -> None:
    table: JavaHashMap[int, str] = JavaHashMap(int_hash)
    for key in (1, 17):
        table.put(key, "put")
    table.compute(33, "computed")
    table.compute(17, "changed")
    assert list(table.items()) == [(33, "computed"), (1, "put"), (17, "changed")]


def test_put_grows_the_table_at_once_and_compute_before_the_next_key() -> None:
    put: JavaHashMap[int, int] = JavaHashMap(int_hash, 2)
    computed: JavaHashMap[int, int] = JavaHashMap(int_hash, 2)
    for key in (2, 1):
        put.put(key, 0)
        computed.compute(key, 0)
    assert list(put) == [1, 2]  # four buckets by now
    assert list(computed) == [2, 1]  # still two
    computed.compute(1, 0)  # a known key, and yet it grows
    assert list(computed) == [1, 2]


def test_a_walk_sees_the_table_as_it_was_when_the_walk_began() -> None:
    for table in (JavaHashMap[str, int](), TimelineHashMap[str, int]()):
        for i in range(20):
            table.put(f"c{i}", i)
        before = list(table)
        seen = []
        for key in table:
            seen.append(key)
            table.remove(key)
            table.put(f"new-{key}", 0)
        assert seen == before
        assert len(table) == 20 and "c0" not in table


def test_tables_behave_as_mappings() -> None:
    table: JavaHashMap[str, int] = JavaHashMap()
    table["a"] = 1
    assert (
        table.get("a") == 1
        and table.get("b") is None
        and table.get("b", 7) == 7
        and table["a"] == 1
    )
    assert table.setdefault("b", 2) == 2 and sorted(table) == ["a", "b"] and table.pop("a") == 1
    assert table.remove("zzz") is None and table.first() == "b"
    with pytest.raises(KeyError):
        del table["a"]
    del table["b"]
    assert not table and table.first() is None and list(table) == []


@pytest.mark.parametrize(
    ("size", "fresh", "of_set", "of_map"),
    [(0, 1, 16, 1), (1, 1, 16, 2), (3, 4, 16, 8), (12, 16, 32, 32), (13, 16, 32, 32)],
)
def test_tables_begin_as_large_as_java_makes_them(
    size: int, fresh: int, of_set: int, of_map: int
) -> None:
    assert (capacity_for(size), copied_set_capacity(size), copied_map_capacity(size)) == (
        fresh,
        of_set,
        of_map,
    )
