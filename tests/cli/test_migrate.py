"""`rebalsim migrate`: what becomes of a group's settings and pauses on the way to the consumer
protocol.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.domain.errors import InputError
from rebalsim.scenario.load import load_scenario, stock_stories, story_of
from rebalsim.scenario.migration_stories import migration_of

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


def test_settings_pauses_and_the_migration_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "to-consumer.yaml"
    assert code_of(["migrate", "scale-out", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for words in (
        "session.timeout.ms",
        "refused by clients, moved to the brokers: 45s → 45s",
        "silently ignored: 3s → none",
        "before",
        "during",
        "after",
    ):
        assert words in told
    assert all(len(line) <= 80 or str(out) in line for line in told.splitlines())
    assert load_scenario(str(out)).scenario().script[0].id == "to-consumer-1"


def test_brokers_and_clients_that_are_too_old_are_upgraded_first() -> None:
    migration = migration_of(OLD, "old.yaml")
    assert [step.split(" to ")[0] for step in migration.steps] == [
        "Upgrade the brokers from Kafka 3.9",
        "Upgrade Java 3.9",
    ]
    assert migration.before.cluster.kafka == "3.9"
    assert {c.config.group_protocol for g in migration.after.groups for c in g.consumers} == {
        "consumer"
    }


def test_the_session_that_a_client_asks_for_counts_no_more() -> None:
    migration = migration_of(OLD, "old.yaml")
    session = next(fate for fate in migration.fates if fate.key == "session.timeout.ms")
    assert (session.before, session.after.split()[0]) == ("20s", "45s")
    assert any("session.timeout.ms" in note and "dropped" in note for note in migration.after.notes)


OF_CONNECT = [name for name in stock_stories() if name.startswith("connect-")]
OF_STREAMS = [name for name in stock_stories() if name.startswith("streams-")]


@pytest.mark.parametrize("name", OF_CONNECT)
def test_workers_of_connect_have_no_road_and_that_is_said(name: str) -> None:
    with pytest.raises(InputError, match="does not speak the consumer protocol"):
        migration_of(stock_stories()[name].read_bytes(), name)


@pytest.mark.parametrize(
    "name", [name for name in stock_stories() if name not in (*OF_CONNECT, *OF_STREAMS)]
)
def test_every_stock_story_has_a_migration(name: str) -> None:
    path = stock_stories()[name]
    migration = migration_of(path.read_bytes(), name)
    assert migration.during.horizon_us > 0
    assert migration.text.startswith("title:")


FLEET = b"""
kafka: "3.9"
topics: {orders: {partitions: 12, rate: 600/s}}
groups:
  orders: {members: 3, group.instance.id: "{name}", config: {session.timeout.ms: 30s, partition.assignment.strategy: [cooperative-sticky]}}
  billing: {members: 2, client: librdkafka, client_version: "2.5", config: {session.timeout.ms: 10s}}
script:
  - {at: 1m, rolling_bounce: {group: orders, down: 10s, settle: 20s}}
  - {at: 4m, id: billing-deploy, rolling_bounce: {group: billing, down: 10s, settle: 20s}}
horizon: 7m
replay: as-written
"""


@pytest.mark.slow
def test_a_fleet_of_java_and_librdkafka_on_old_brokers_reads_what_it_comes_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_bytes(FLEET)
    assert code_of(["migrate", str(file), "--out", str(tmp_path / "migration.yaml")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for words in (
        "Upgrade the brokers from Kafka 3.9 to 4.0 or later",
        "Upgrade Java 3.9 to 4.0 or later",
        "Upgrade librdkafka 2.5 to 2.12 or later",
        "incremental_assign",
        "orders (orders-c0 … orders-c2, Java 3.9)",
        "billing (billing-c0, billing-c1, librdkafka 2.5)",
        "30s → 45s",
        "10s → 45s",
        "45s is the least",
        "cooperative-sticky → uniform",
        "range, roundrobin → uniform",
        "it is refused itself",
        "rolling-bounce-1, orders",
        "billing-deploy, billing",
        "What surprises people",
    ):
        assert words in told, words


def test_each_kind_of_member_has_its_own_settings_before_and_after() -> None:
    migration = migration_of(FLEET, "fleet.yaml")
    assert [(kind.group, kind.client, len(kind.members)) for kind in migration.kinds] == [
        ("orders", "Java 3.9", 3),
        ("billing", "librdkafka 2.5", 2),
    ]
    assert [
        next(f.before for f in kind.fates if f.key == "partition.assignment.strategy")
        for kind in migration.kinds
    ] == ["cooperative-sticky", "range, roundrobin"]
    assert {a.id for a in migration.during.script} == {"to-consumer-1", "to-consumer-2"}
    assert {c.config.group_protocol for g in migration.during.groups for c in g.consumers} == {
        "classic"
    }


def test_a_client_that_cannot_go_there_is_named() -> None:
    with pytest.raises(
        InputError, match=r"sarama 1\.60 \(in group\) does not speak the consumer protocol"
    ):
        migration_of(
            b"topics: {t: 3}\ngroup: {members: 2, client: sarama}\nreplay: [eager]", "s.yaml"
        )


def test_a_story_that_only_comes_to_the_consumer_protocol_is_a_sample_too() -> None:
    from rebalsim.one_run import is_sampled

    assert is_sampled(load_scenario("migration-to-consumer").scenario())
    assert not is_sampled(load_scenario("migration-two-bounces").scenario())


def test_the_road_is_written_as_one_would_write_it() -> None:
    """A title from the file's name where the story has none, a line for each topic, group and
    action, and quotes only where they are needed.
    """
    text = migration_of(FLEET, "deploys/fleet.yaml").text
    lines = text.splitlines()
    assert "  orders: {partitions: 12, rate: 600/s}" in lines
    assert [line.split(", ")[1] for line in lines if line.startswith("  - {at: ")] == [
        "id: to-consumer-1",
        "id: to-consumer-2",
    ]
    assert (
        lines[0] == 'title: "fleet: to the consumer protocol"'
        and story_of(text.encode(), "migration").check().title == "fleet: to the consumer protocol"
    )


@pytest.mark.slow
def test_what_each_action_costs_in_sum_is_told_before_and_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = tmp_path / "bounce.yaml"
    story.write_text(
        "topics: {orders: 4}\ngroup: {members: 2}\nscript: [{at: 1m, id: bounce, rolling_bounce: "
        "{down: 5s}}]\nhorizon: 3m\n",
        encoding="utf-8",
    )
    assert code_of(["migrate", str(story), "--to", "consumer"]) == 0
    told = capsys.readouterr().out
    assert "The longest pause of each action" in told
    row = (
        told.split("Partition-seconds of each action of the script")[1]
        .split("\n\n")[1]
        .splitlines()[1]
    )
    assert row.split()[0] == "bounce" and row.count(" s") >= 2


def table_of(told: str, title: str) -> dict[str, list[str]]:
    """The rows of the first table under a title, by name; columns are two blanks apart, and a
    spread stands below its median.
    """
    found: dict[str, list[str]] = {}
    ends: list[int] = []  # where each column's cells end: they are set to the right
    for row in told.split(title)[1].split("\n\n")[1].splitlines()[1:]:
        cells = [(cell.group(), cell.end()) for cell in re.finditer(r"\S+(?: \S+)*", row)]
        if row.startswith("   "):
            last = found[list(found)[-1]]
            for cell, end in cells:
                place = min(range(len(ends)), key=lambda n: abs(ends[n] - end))
                last[place] += f" {cell}"
        else:
            found[cells[0][0]] = [cell for cell, _ in cells[1:]]
            ends = [end for _, end in cells[1:]]
    return found


def migrated(tmp_path: Path, capsys: pytest.CaptureFixture[str], story: str) -> str:
    file = tmp_path / "story.yaml"
    file.write_text(story, encoding="utf-8")
    assert code_of(["migrate", str(file)]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_before_and_after_are_told_over_the_same_seeds_each_at_another_moment_between_two_heartbeats(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = migrated(
        tmp_path,
        capsys,
        "topics: {orders: 4}\ngroup: {members: 2}\nscript: [{at: 1m, crash: c1}]\nhorizon: "
        "3m\nreplay: [cooperative]\n",
    )
    rows = table_of(told, "median of 20 seeds (p95, worst)")
    before, _, after = rows["longest pause"]
    assert re.fullmatch(r"4[2-8]\.\d s \(4[2-8]\.\d s, 4[2-8]\.\d s\)", before)
    assert re.fullmatch(r"4\d\.\d s \(4\d\.\d s, (4\d|50)\.\d s\)", after)


@pytest.mark.slow
def test_what_the_start_costs_is_told_by_itself_and_is_in_no_sum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the consumer protocol the first member is given everything and hands on: nothing
    that a deploy costs, as little as the classic wait is.
    """
    told = migrated(
        tmp_path,
        capsys,
        "topics: {orders: 4}\ngroup: {members: 2}\nhorizon: 1m\nreplay: [cooperative]\n",
    )
    rows = table_of(told, "once the group has settled")
    assert rows["partition-seconds"][0] == rows["partition-seconds"][2] == "0 s"
    assert (
        rows["start: time to begin"][0] == "6.00 s"
        and float(rows["start: time to begin"][2].split()[0]) > 9
    )
    assert (
        rows["start: partition-seconds"][0] == "0 s"
        and float(rows["start: partition-seconds"][2].split()[0]) > 5
    )


@pytest.mark.slow
def test_who_does_not_come_back_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A static pod that returns before its killed life's session is over is refused for good
    there, and costs no pauses any more.
    """
    assert code_of(["migrate", "static-crash-loop"]) == 0
    told = capsys.readouterr().out
    rows = table_of(told, "once the group has settled")
    assert rows["did not come back"] == ["-", "-", "pod-1"]
    assert "its later restarts cost nothing" in " ".join(told.split())
    assert rows["start: time to begin"][:2] == ["6.00 s", "6.00 s"]


@pytest.mark.slow
def test_upgrades_are_said_not_to_be_in_the_deploy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "the upgrades that come first are not in it" in " ".join(
        migrated(tmp_path, capsys, OLD.decode().replace(", rate: 60/s", "")).split()
    )
