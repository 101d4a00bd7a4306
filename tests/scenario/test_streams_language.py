"""A Kafka Streams application in a scenario: under twenty lines, by Kafka's names, and what cannot be
is said on its line.
"""

from __future__ import annotations

import pytest

from rebalsim.domain.consumer import Listener
from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.script import RollingBounce
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.trace.events import RecordsDelivered
from rebalsim.trace.streams_events import StandbyBegan

GOOD = """
topics: {orders: {partitions: 6, rate: 600/s}, users: 6, rooms: 4}
group:
  members: {"app-{n}": {count: 3}}
  config: {session.timeout.ms: 30s, group.instance.id: "{name}"}
  streams:
    topology:
      - {source: orders, store: 6GB, writes_to: by-user}
      - {sources: [by-user, users], joins: true, stores: [{records: 1000, name: totals}]}
    config: {num.standby.replicas: 1, num.stream.threads: 2, processing.guarantee: exactly_once_v2}
    restore: 50MB/s
    volume: lost
replay:
  none: {streams: {config: {num.standby.replicas: 0}}}
  new: {config: {group.instance.id: null}, streams: {config: {upgrade.from: null, group.protocol: streams, streams.num.standby.replicas: 1}}}
horizon: 10m
"""


def problems_of(text: str) -> str:
    story = story_of(text.encode(), "story.yaml")
    return "\n".join(str(problem.message) for problem in story.problems())


def test_an_application_is_resolved_with_its_stores_and_topics() -> None:
    story = story_of(GOOD.encode(), "story.yaml").check()
    app = story.scenario("none").groups[0].streams
    assert app is not None
    assert app.parts[0].stores[0].records == 6_000_000_000 // 100
    assert app.parts[1].stores[0].name == "totals"
    assert app.repartition_topics == (("by-user", 6),)
    assert app.config.num_stream_threads == 2 and app.volume == "lost"
    assert app.restore_bytes_per_second == 50e6


def test_variants_change_single_settings() -> None:
    story = story_of(GOOD.encode(), "story.yaml").check()
    none, new = (story.scenario(name).groups[0].streams for name in ("none", "new"))
    assert none is not None and new is not None
    assert none.config.num_standby_replicas == 0 and new.config.num_standby_replicas == 1
    assert new.config.group_protocol == "streams" and none.config.group_protocol == "classic"
    assert "Streams, high availability" in story.scenario("none").heading
    assert any("no bearing" in note for note in story.scenario("new").notes)


def test_consumers_inside_have_what_streams_sets_for_them() -> None:
    story = story_of(GOOD.encode(), "story.yaml").check()
    config = story.scenario("none").groups[0].consumers[0].config
    assert config.max_poll_records == 1000 and config.auto_offset_reset == "earliest"
    assert config.session_timeout_us == 30_000_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("source: orders", "source: order"), "There is no topic 'order'"),
        (("[by-user, users]", "[by-user, users, rooms]"), "Topics not co-partitioned"),
        (("num.stream.threads: 2", "num.stream.threads: 0"), "from 1 to"),
        (("processing.guarantee: exactly_once_v2", "upgrade.from: 4.0"), "4.0 is not known"),
        (("num.stream.threads: 2", "group.protocol: streams"), "no static members"),
        (("num.stream.threads: 2", "session.timeout.ms: 1s"), "under the group's config"),
        (("num.stream.threads: 2", "num.stream.thread: 2"), "num.stream.threads"),
        (("name: totals", "name: store-0"), "two stores named store-0"),
        (("session.timeout.ms: 30s", "group.protocol: consumer"), "does not speak"),
        (
            ("horizon: 10m", "script: [{at: 1m, subscribe: {members: app-0, topics: [users]}}]"),
            "reads what its topology says",
        ),
        (("num.stream.threads: 2", "probing.rebalance.interval.ms: 5s"), "1m or more"),
        (("volume: lost", "volume: gone"), "kept or lost"),
        (("streams.num.standby.replicas: 1", "streams.num.standby.replicas: 3"), "at most that"),
        (
            ("streams.num.standby.replicas: 1", "streams.session.timeout.ms: 10s"),
            "group.streams.min.session.timeout.ms is 45s",
        ),
        (("num.stream.threads: 2", "rack.aware.assignment.tags: [zone]"), "has no client.tag.zone"),
        (("upgrade.from: null", 'upgrade.from: "2.3"'), "do not speak the streams protocol"),
        (("records: 1000", "records: 1000, size: 3GB"), "one follows from the other"),
    ],
)
def test_what_cannot_be_is_said(change: tuple[str, str], said: str) -> None:
    assert change[0] in GOOD
    assert said in problems_of(GOOD.replace(*change))


def test_a_broken_application_raises_before_it_is_played() -> None:
    with pytest.raises(ProblemsError):
        story_of(GOOD.replace("orders", "order", 1).encode(), "story.yaml").check()


DEPLOY = "script: [{at: 1m, deploy: {streams: {SAID}}}]\nhorizon: 10m"


def test_a_deploy_gives_its_instances_settings() -> None:
    old = GOOD.replace("processing.guarantee: exactly_once_v2", 'upgrade.from: "2.3"')
    text = old.replace("horizon: 10m", DEPLOY.replace("SAID", "upgrade.from: null, poll.ms: 1s"))
    scenario = story_of(text.encode(), "story.yaml").check().scenario()
    deed = scenario.script[0].deed
    before = scenario.groups[0].streams
    assert isinstance(deed, RollingBounce) and before is not None
    after = deed.deploy.streams
    assert after is not None and before.config.is_eager and not after.is_eager
    assert after.poll_us == 1_000_000
    assert after.num_stream_threads == before.config.num_stream_threads


def test_what_all_instances_share_is_no_deploys_matter() -> None:
    text = GOOD.replace("horizon: 10m", DEPLOY.replace("SAID", "num.standby.replicas: 2"))
    assert "one for all instances" in problems_of(text)
    alone = "topics: {orders: 6}\ngroup: {members: 3}\n" + DEPLOY.replace("SAID", "poll.ms: 1s")
    assert "no Streams application" in problems_of(alone)


def test_clients_of_2_3_are_followed_by_ones_that_are_told_so() -> None:
    old = GOOD.replace("volume: lost", "volume: lost\n    clients: eager")
    assert "clients: eager" in old
    told = old.replace("horizon: 10m", DEPLOY.replace("SAID", "poll.ms: 1s"))
    assert 'upgrade.from: "2.3"' in problems_of(told)
    road = old.replace("horizon: 10m", DEPLOY.replace("SAID", 'upgrade.from: "2.3"'))
    assert "in common" not in problems_of(road)


def test_what_is_written_for_consumers_is_said_to_have_no_bearing() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"app-{n}": {count: 3}}
  handler: {per_record: 20ms, per_batch: 5ms}
  listener: {on_revoked: 3s}
  state: {per_partition: 1GB, restore: 50MB/s}
  config: {partition.assignment.strategy: [range], enable.auto.commit: true, session.timeout.ms: 20s}
  streams: {topology: [{source: orders, store: 1GB}]}
horizon: 5m
"""
    story = story_of(text.encode(), "story.yaml").check()
    told = [(problem.line, problem.message) for problem in story.warnings]
    assert [line for line, _ in told] == [5, 6, 7, 8, 8]
    assert "per_batch has no bearing" in told[0][1] and "session.timeout.ms" not in str(told)
    instance = story.scenario().groups[0].consumers[0]
    assert instance.listener == Listener() and instance.config.session_timeout_us == 20_000_000


def test_a_topic_is_read_by_one_sub_topology() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: 3
  streams: {topology: [{source: orders, store: 1GB}, {source: orders, store: 2GB}]}
horizon: 5m
"""
    with pytest.raises(ProblemsError) as refused:
        story_of(text.encode(), "story.yaml").check()
    assert "already been registered by another source" in str(refused.value)
    assert refused.value.problems[0].line == 5


@pytest.mark.parametrize(
    "topology",
    [
        "[{sources: [orders, again], writes_to: [again]}]",
        "[{sources: [orders, b], writes_to: [a]}, {source: a, writes_to: [b]}]",
    ],
)
def test_a_topology_that_writes_to_itself_is_refused(topology: str) -> None:
    text = f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
group:
  members: 3
  streams: {{topology: {topology}}}
horizon: 5m
"""
    with pytest.raises(ProblemsError) as refused:
        story_of(text.encode(), "story.yaml").check()
    assert "written again for ever" in str(refused.value)
    assert refused.value.problems[0].line == 5


def cluster_story(brokers: str, own: str = "") -> str:
    return f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
cluster: {{config: {{{brokers}}}}}
group:
  members: 3
  streams: {{topology: [{{source: orders, store: 1GB}}], config: {{group.protocol: streams{own}}}}}
horizon: 5m
"""


def test_a_streams_group_has_what_its_brokers_have_unless_it_says_otherwise() -> None:
    brokers = "group.streams.session.timeout.ms: 50s, group.streams.num.standby.replicas: 1"
    text = cluster_story(brokers, ", streams.num.standby.replicas: 2")
    app = story_of(text.encode(), "story.yaml").check().scenario().groups[0].streams
    assert app is not None
    assert app.config.streams_session_timeout_us == 50_000_000
    assert app.config.streams_num_standby_replicas == 2


@pytest.mark.parametrize(
    "brokers",
    [
        "group.streams.heartbeat.interval.ms: 1s",
        "group.streams.num.standby.replicas: 3",
        "group.streams.session.timeout.ms: 2m",
    ],
)
def test_brokers_outside_their_own_bounds_do_not_start(brokers: str) -> None:
    told = problems_of(cluster_story(brokers))
    assert told.count("a broker would not start") == 1 and "refused" not in told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("commit.interval.ms: 30s", "Transaction timeout 10s was set lower than streams commit"),
        ("transaction.timeout.ms: 20m", "transaction.max.timeout.ms is 15m"),
    ],
)
def test_transactions_that_kafka_refuses(settings: str, said: str) -> None:
    text = f"""
topics: {{orders: {{partitions: 6, rate: 600/s}}}}
group:
  members: 3
  streams: {{config: {{processing.guarantee: exactly_once_v2, {settings}}}}}
horizon: 5m
"""
    assert said in problems_of(text)
    assert said not in problems_of(text.replace("exactly_once_v2", "at_least_once"))


def test_instances_have_tags_in_which_standbys_differ() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: {"a-{n}": {count: 2, client.tag: {zone: a}}, "b-{n}": {count: 2, client.tag: {zone: b}}}
  streams: {topology: [{source: orders, store: 1GB}], config: {num.standby.replicas: 1, rack.aware.assignment.tags: [zone]}}
horizon: 5m
"""
    done = run_once(story_of(text.encode(), "story.yaml").check().scenario())
    active: dict[str, str] = {}
    for event in done.trace.events:
        if isinstance(event, RecordsDelivered):
            active.update({str(p).replace("orders-", "0_"): event.consumer for p in event.batch})
    copies = [e for e in done.trace.events if isinstance(e, StandbyBegan)]
    assert len(copies) == 6
    assert all(active[copy.task][0] != copy.consumer[0] for copy in copies)
    lacking = text.replace(", client.tag: {zone: b}", "")
    assert "b-0 has no client.tag.zone" in problems_of(lacking)


def test_tags_of_consumers_have_no_bearing() -> None:
    text = "topics: {orders: 6}\ngroup: {members: 3, client.tag: {zone: a}}\nhorizon: 5m\n"
    warnings = story_of(text.encode(), "story.yaml").check().warnings
    assert len(warnings) == 1 and "Kafka Streams" in warnings[0].message


JOINED = """
topics: {{orders: {{partitions: 6, rate: 600/s}}, users: {{partitions: 4, rate: 40/s}}}}
group:
  members: 3
  streams:
    topology: [{{source: orders, writes_to: by-user}}, {{sources: [by-user{more}], joins: true, store: 1MB}}]
    config: {{group.protocol: {protocol}}}
script: [{{at: 2m, join: late}}]
horizon: 5m
"""


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_a_repartition_topic_has_as_many_partitions_as_what_it_is_joined_with(
    protocol: str,
) -> None:
    """CopartitionedTopicsEnforcer: automatic repartition topics follow, others must agree."""
    joined = story_of(JOINED.format(more=", users", protocol=protocol).encode(), "j.yaml").check()
    scenario = joined.scenario()
    app = scenario.groups[0].streams
    assert app is not None and app.repartition_topics == (("by-user", 4),)
    tasks = {lane.partition for lane in run_once(scenario).analysis.lanes}
    assert sum(p.topic == "by-user" for p in tasks) == 4
    alone = story_of(JOINED.format(more="", protocol=protocol).encode(), "j.yaml").check()
    app = alone.scenario().groups[0].streams
    assert app is not None and app.repartition_topics == (("by-user", 6),)


def test_clients_of_2_3_know_no_exactly_once_v2() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 600/s}}
group:
  members: 3
  streams:
    topology: [orders]
    clients: eager
    config: {processing.guarantee: exactly_once_v2}
horizon: 5m
"""
    with pytest.raises(ProblemsError) as refused:
        story_of(text.encode(), "story.yaml").check()
    assert refused.value.problems[0].line == 8
