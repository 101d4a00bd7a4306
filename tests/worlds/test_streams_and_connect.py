"""Streams applications and Connect clusters in deployment files: written and played as what they are."""

from __future__ import annotations

from rebalsim.one_run import run_once
from rebalsim.preview.preview import preview, side_of
from rebalsim.scenario.load import story_of
from rebalsim.worlds.explained import nothing_consumes
from rebalsim.worlds.to_scenario import can_be_played, to_scenario
from rebalsim.worlds.understand import understand

STREAMS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: totals}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: app
        image: acme/totals:1
        env:
        - {name: SPRING_KAFKA_STREAMS_APPLICATION_ID, value: totals}
        - {name: SPRING_KAFKA_STREAMS_PROPERTIES_NUM_STREAM_THREADS, value: "2"}
        - {name: SPRING_KAFKA_STREAMS_PROPERTIES_NUM_STANDBY_REPLICAS, value: "1"}
"""
CONNECT = """
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata: {name: hub}
spec:
  replicas: 3
  config: {group.id: hub, scheduled.rebalance.max.delay.ms: 30000}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {name: bucket}
spec: {class: acme.BucketSinkConnector, tasksMax: 4, config: {topics: clicks}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {name: db}
spec: {class: acme.DbSourceConnector, tasksMax: 1}
"""
MIRROR = "clusters = us, eu\nus->eu.enabled = true\neu->us.enabled = false\ntasks.max = 8\n"
WORKER = "config.storage.topic=c\noffset.storage.topic=o\nscheduled.rebalance.max.delay.ms=60000\n"
SINK = '{"name": "jdbc", "config": {"connector.class": "acme.JdbcSink", "tasks.max": "3", "topics": "a,b"}}'


def text_of(*sources: tuple[str, str]) -> str:
    return to_scenario(understand(list(sources)))


def measured(text: str, metric: str) -> float:
    story = story_of(text.encode(), "imported").check()
    return float(run_once(story.scenario()).analysis.measure(metric) or 0)


def test_an_applications_threads_and_standbys_are_streams_settings() -> None:
    text = text_of(("app.yaml", STREAMS))
    assert '"totals-{n}": {count: 3}' in text and "num.stream.threads: 2" in text
    assert "num.standby.replicas: 1" in text and "start: cold" in text
    assert "ASK: which topics each sub-topology reads" in text
    # Streams does not leave on close: each restart is noticed when the session has run out.
    assert measured(text, "longest_pause") > 40e6


def test_a_preview_rolls_an_application() -> None:
    old = side_of("old", [("app.yaml", STREAMS)])
    new = side_of("new", [("app.yaml", STREAMS.replace("totals:1", "totals:2"))])
    told = preview(old, new, advise=False)
    assert told.longest.endswith("s") and any(
        "a Kafka Streams application" in n for n in told.notes
    )


def test_workers_and_their_connectors_are_a_cluster_and_its_sinks_no_groups_beside() -> None:
    text = text_of(("connect.yaml", CONNECT))
    assert '"hub-{n}": {count: 3}' in text and "groups:" not in text
    assert "bucket: {topics: [clicks], tasks.max: 4}" in text and "db: {tasks.max: 1}" in text
    assert "scheduled.rebalance.max.delay.ms: 30000" in text
    assert 20e6 < measured(text, "longest_task_pause") < 60e6


def test_a_workers_properties_and_a_connectors_json_belong_together() -> None:
    text = text_of(("worker.properties", WORKER), ("sink.json", SINK))
    assert "jdbc: {topics: [a, b], tasks.max: 3}" in text and "max.delay.ms: 60000" in text
    assert "ASK: how many pods run" in text and measured(text, "worker_rebalances") > 0


def test_mirror_maker_is_workers_and_a_source_for_each_flow() -> None:
    text = text_of(("mm2.properties", MIRROR))
    assert "us-to-eu: {tasks.max: 8}" in text and "eu-to-us" not in text


def test_workers_without_a_connector_are_told_and_not_played() -> None:
    made = understand([("worker.properties", WORKER)])
    assert not can_be_played(made) and "workers of Kafka Connect" in nothing_consumes(made)


def test_a_kind_that_nobody_here_knows_is_named() -> None:
    text = "apiVersion: acme.io/v1\nkind: Stream\nmetadata: {name: x}\n"
    said = nothing_consumes(understand([("x.yaml", text)]))
    assert "Stream/x (acme.io/v1), a kind that is not known here" in said


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: a
        image: x
        env:
        - {{name: KAFKA_GROUP_ID, value: g}}
        - {{name: {key}, value: "{value}"}}
"""


def test_two_deployments_of_one_group_keep_each_its_own_settings() -> None:
    blue = DEPLOYMENT.format(name="blue", key="KAFKA_SESSION_TIMEOUT_MS", value=10_000)
    green = DEPLOYMENT.format(name="green", key="KAFKA_MAX_POLL_RECORDS", value=9)
    text = text_of(("b.yaml", blue), ("g.yaml", green))
    assert (
        '"green-{n}": {count: 2, config: {max.poll.records: 9, session.timeout.ms: null}}' in text
    )
    scenario = story_of(text.encode(), "imported").check().scenario()
    configs = {c.name: c.config for c in scenario.groups[0].consumers}
    assert configs["blue-0"].session_timeout_us == 10_000_000
    assert configs["green-0"].session_timeout_us == 45_000_000
    assert (configs["blue-0"].max_poll_records, configs["green-0"].max_poll_records) == (500, 9)
