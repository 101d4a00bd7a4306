"""`rebalsim migrate`: what becomes of a group's settings and pauses on the way to the consumer protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.scenario.load import load_scenario, stock_stories
from rebalsim.scenario.road import road_of

OLD = b"""
kafka: "3.9"
topics: {orders: {partitions: 6, rate: 60/s}}
group:
  members:
    a: {client_version: "3.9"}
    b: {client_version: "3.9"}
  config: {session.timeout.ms: 20s}
script: [{at: 1m, crash: a}]
horizon: 3m
"""


def test_settings_pauses_and_the_migration_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "to-consumer.yaml"
    assert code_of(["migrate", "scale-out", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for words in ("session.timeout.ms", "refused by clients, moved to the brokers: 45s → 45s", "silently ignored: 3s → none", "before", "during", "after"):
        assert words in told
    assert all(len(line) <= 80 or str(out) in line for line in told.splitlines())
    assert load_scenario(str(out)).scenario().script[0].id == "to-consumer-1"


def test_brokers_and_clients_that_are_too_old_are_upgraded_first() -> None:
    road = road_of(OLD, "old.yaml")
    assert [step.split(" to ")[0] for step in road.steps] == ["Upgrade the brokers from Kafka 3.9", "Upgrade the clients (Java 3.9)"]
    assert road.before.cluster.kafka == "3.9"
    assert {c.config.group_protocol for g in road.after.groups for c in g.consumers} == {"consumer"}


def test_the_session_that_a_client_asks_for_counts_no_more() -> None:
    road = road_of(OLD, "old.yaml")
    session = next(fate for fate in road.fates if fate.key == "session.timeout.ms")
    assert (session.before, session.after.split()[0]) == ("20s", "45s")
    assert any("session.timeout.ms" in note and "dropped" in note for note in road.after.notes)


@pytest.mark.parametrize("name", stock_stories())
def test_every_stock_story_has_a_road(name: str) -> None:
    path = stock_stories()[name]
    road = road_of(path.read_bytes(), name)
    assert road.during.horizon_us > 0
    assert road.text.startswith("title:")
