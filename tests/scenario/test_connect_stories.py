"""Kafka Connect in a scenario: what variants make of it, and what --set reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rebalsim.cli.main import door
from rebalsim.domain.connect import SESSIONED
from rebalsim.domain.errors import ProblemsError
from rebalsim.scenario.load import load_scenario

STORY = Path(__file__).parent / "files" / "connect.good.yaml"
SIMPLE = """
topics: {orders: {partitions: 6, rate: 60/s}}
connect:
  workers: 3
  connectors: {jdbc: 4, lake: {topics: [orders], tasks.max: 2}}
"""


def test_a_cluster_is_played_with_its_own_protocol_unless_more_are_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(SIMPLE, encoding="utf-8")
    alone = load_scenario(path)
    assert alone.variants == ("as-written",)
    path.write_text(SIMPLE + "replay: [eager, cooperative]\n", encoding="utf-8")
    asked = load_scenario(path)
    for story, variant, protocol in (
        (alone, "as-written", SESSIONED),
        (asked, "eager", "eager"),
        (asked, "cooperative", SESSIONED),
    ):
        group = story.scenario(variant).groups[0]
        assert [w.name for w in group.consumers] == ["w0", "w1", "w2"]
        assert all(w.worker and w.worker.connect_protocol == protocol for w in group.consumers)
    assert load_scenario(STORY).variants == ("as-written",)  # it deploys protocols itself
    path.write_text(SIMPLE + "group: {members: 2, topics: [orders]}\n", encoding="utf-8")
    assert load_scenario(path).variants == ("eager", "cooperative")  # what the consumers are about


def test_layers_of_settings_reach_workers_and_sinks() -> None:
    scenario = load_scenario(STORY).scenario()
    workers = {w.name: w for g in scenario.groups if g.name == "cdc" for w in g.consumers}
    assert list(workers) == ["w0", "w1", "w2", "odd"] and workers["odd"].starts_at is None
    settings = {name: w.worker for name, w in workers.items()}
    assert all(s and s.scheduled_rebalance_max_delay_us == 60_000_000 for s in settings.values())
    odd, first = settings["odd"], settings["w0"]
    assert odd is not None and first is not None
    assert (odd.session_timeout_us, first.session_timeout_us) == (20_000_000, 10_000_000)
    assert first.consumer.session_timeout_us == 30_000_000
    connectors = {c.name: c for c in scenario.connect[0].connectors}
    lake = connectors["to-lake"].consumer
    assert lake is not None and lake.session_timeout_us == 30_000_000
    assert lake.partition_assignment_strategy == ("cooperative-sticky",)
    assert [c.name for c in scenario.connect[0].later] == ["later"]


def test_set_reaches_the_delay_and_a_connectors_tasks(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(SIMPLE, encoding="utf-8")
    story = load_scenario(
        path,
        overrides=(
            "connect.config.scheduled.rebalance.max.delay.ms=30s",
            "connect.connectors.jdbc.tasks.max=9",
            "connect.workers=5",
        ),
    )
    scenario = story.scenario()
    worker = scenario.groups[0].consumers[0].worker
    assert worker is not None and worker.scheduled_rebalance_max_delay_us == 30_000_000
    assert scenario.connect[0].connectors[0].tasks_max == 9
    assert len(scenario.groups[0].consumers) == 5


def test_a_connectors_setting_among_the_workers_is_told_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(SIMPLE + "  config: {tasks.max: 4}\n", encoding="utf-8")
    with pytest.raises(ProblemsError, match="setting of connectors; put it below connectors: NAME"):
        load_scenario(path)


def test_exactly_once_support_is_one_of_three_words(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    said = "  config: {{exactly.once.source.support: {}}}\n"
    for word in ("disabled", "preparing", "enabled"):
        path.write_text(SIMPLE + said.format(word), encoding="utf-8")
        worker = load_scenario(path).scenario().groups[0].consumers[0].worker
        assert worker is not None and worker.is_exactly_once is (word == "enabled")
    path.write_text(SIMPLE + said.format("sometimes"), encoding="utf-8")
    with pytest.raises(ProblemsError, match="disabled, preparing or enabled"):
        load_scenario(path)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("session.timeout.ms: 1s, heartbeat.interval.ms: 300ms", "so the member cannot join"),
        ("heartbeat.interval.ms: 50s", "is not below session.timeout.ms 45s"),
        (
            "group.protocol: consumer, session.timeout.ms: 20s",
            "does not exist under group.protocol",
        ),
    ],
)
def test_what_a_sinks_consumers_would_be_refused_for_is_told_on_its_line(
    tmp_path: Path, settings: str, why: str
) -> None:
    path = tmp_path / "story.yaml"
    of_one = SIMPLE.replace("tasks.max: 2", "tasks.max: 2, consumer: {%s}")
    of_all = SIMPLE + "  consumer: {%s}\n"
    for text, line in ((of_one, 5), (of_all, 6)):
        path.write_text(text % settings, encoding="utf-8")
        with pytest.raises(ProblemsError, match=why) as told:
            load_scenario(path)
        assert {problem.line for problem in told.value.problems} == {line}


def test_a_third_of_a_short_session_is_said_in_milliseconds(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(SIMPLE + "  config: {session.timeout.ms: 900ms}\n", encoding="utf-8")
    with pytest.raises(ProblemsError, match="write a third of the session, 300ms"):
        load_scenario(path)


def test_workers_that_are_all_alike_are_shown_once(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(SIMPLE.replace("workers: 3", "workers: [alpha, beta]"), encoding="utf-8")
    told = CliRunner().invoke(door, ["show", str(path)], standalone_mode=False).stdout
    assert "Group connect: alpha and beta" in told and "otherwise for" not in told
    own = "workers: {alpha: {}, beta: {config: {session.timeout.ms: 20s}}}"
    path.write_text(SIMPLE.replace("workers: 3", own), encoding="utf-8")
    told = CliRunner().invoke(door, ["show", str(path)], standalone_mode=False).stdout
    assert "otherwise for beta:" in told and "20s" in told


def test_a_sink_without_topics_is_offered_one_that_there_is(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(
        "topics: {clicks: 3}\nconnect: {workers: 2, connectors: {lake: {kind: sink}}}\n", "utf-8"
    )
    with pytest.raises(ProblemsError, match=r"add topics: \[clicks\]"):
        load_scenario(path).scenario()
