"""Streams applications and Connect clusters in deployment files: written and played as what they are."""

from __future__ import annotations

import pytest
from reading import read

from rebalsim.one_run import run_once
from rebalsim.preview.differences import restarts
from rebalsim.preview.preview import preview, side_of
from rebalsim.reports.previewed import Figure, Previewed
from rebalsim.scenario.load import story_of
from rebalsim.worlds.connect_block import left_out
from rebalsim.worlds.explained import nothing_consumes
from rebalsim.worlds.to_scenario import to_scenario
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


def previewed(old: str, new: str, *more: tuple[str, str]) -> Previewed:
    sides = [side_of(n, [("app.yaml", text), *more]) for n, text in (("old", old), ("new", new))]
    return preview(sides[0], sides[1], advise=0)


def row_of(told: Previewed, metric: str) -> Figure:
    return next(f for f in told.figures if f.metric == metric)


def test_a_preview_rolls_an_application_to_its_changed_settings() -> None:
    session = '        - {name: SPRING_KAFKA_STREAMS_PROPERTIES_SESSION_TIMEOUT_MS, value: "%d"}\n'
    told = previewed(STREAMS + session % 12_000, STREAMS + session % 60_000)
    # Silently gone instances are noticed by the session that they were started with …
    assert 12 < float(row_of(told, "longest pause").deploy.split()[0]) < 40
    # … and on the day after by the new one.
    assert row_of(told, "longest pause").crash_after > row_of(told, "longest pause").crash_before
    assert not any("Kafka Streams application" in note for note in told.notes)


def test_a_rollout_may_bring_an_application_other_threads() -> None:
    told = previewed(STREAMS, STREAMS.replace('THREADS, value: "2"', 'THREADS, value: "4"'))
    assert "longest pause" in told.verdict or "The longest pause" in told.verdict
    assert float(row_of(told, "longest pause").deploy.removesuffix(" s")) < 60, told.longest


def test_settings_that_all_instances_share_are_told_and_not_rolled() -> None:
    told = previewed(STREAMS, STREAMS.replace('REPLICAS, value: "1"', 'REPLICAS, value: "0"'))
    assert any("num.standby.replicas: instances that have the old" in n for n in told.notes)


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


def test_workers_whose_connectors_nobody_tells_run_one_that_is_assumed_and_asked_for() -> None:
    text = text_of(("worker.properties", WORKER))
    assert "connector: {tasks.max: 6}" in text and "ASK: which connectors run" in text
    assert measured(text, "tasks_touched") > 0


def test_beside_groups_workers_without_connectors_are_left_out() -> None:
    group = DEPLOYMENT.format(name="blue", key="KAFKA_TOPIC", value="a")
    assert "connect:" not in text_of(("b.yaml", group), ("worker.properties", WORKER))


WORKERS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: hub}
spec:
  replicas: 3
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  template:
    spec:
      terminationGracePeriodSeconds: 40
      containers:
      - name: worker
        image: confluentinc/cp-kafka-connect:7.6.0
        readinessProbe: {tcpSocket: {port: 8083}, initialDelaySeconds: 20}
        env:
        - {name: CONNECT_CONFIG_STORAGE_TOPIC, value: c}
        - {name: CONNECT_SCHEDULED_REBALANCE_MAX_DELAY_MS, value: "30000"}
        - {name: CONNECT_CONSUMER_MAX_POLL_RECORDS, value: "50"}
"""


def test_a_deployment_of_workers_is_rolled_by_its_own_rules() -> None:
    text = text_of(("hub.yaml", WORKERS), ("sink.json", SINK))
    assert "as: deployment, surge: 0, max_unavailable: 1, ready_after: 30s" in text
    assert "max.poll.records: 50" in text and "grace: 40s" in text
    assert "jdbc: {topics: [a, b], tasks.max: 3}" in text and "groups:" not in text
    assert "# kafka: the newest" in text  # a worker's image tells nothing of the brokers


def test_a_workers_file_that_is_mounted_makes_a_worker_of_its_pod() -> None:
    mounted = """
apiVersion: v1
kind: ConfigMap
metadata: {name: hub}
data: {worker.properties: "config.storage.topic=c\\nscheduled.rebalance.max.delay.ms=20000\\n"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: hub}
spec:
  replicas: 4
  template:
    spec:
      volumes: [{name: v, configMap: {name: hub}}]
      containers:
      - {name: w, image: acme/hub, volumeMounts: [{name: v, mountPath: /etc/hub}]}
"""
    text = text_of(("hub.yaml", mounted))
    assert '"hub-{n}": {count: 4}' in text and "max.delay.ms: 20000" in text
    assert "as: statefulset" in text


@pytest.mark.slow
def test_a_preview_tells_tasks_first_where_only_connect_is_rolled() -> None:
    source = '{"name": "db", "config": {"connector.class": "acme.DbSource", "tasks.max": "6"}}'
    new = WORKERS.replace("30000", "60000")
    told = previewed(WORKERS, new, ("db.json", source))
    assert "The longest pause of a task is" in told.verdict and "of the workers" in told.verdict
    assert any(d.what == "scheduled.rebalance.max.delay.ms" for d in told.differences)
    assert next(f.metric for f in told.figures) == "longest task pause"
    before, after = row_of(told, "longest task pause").restart_before, told.figures[0].restart_after
    assert before.startswith("3") and after.startswith("1 m")


@pytest.mark.slow
def test_a_preview_knows_that_no_live_road_leads_to_the_streams_protocol() -> None:
    variable = "        - {name: SPRING_KAFKA_STREAMS_PROPERTIES_GROUP_PROTOCOL, value: streams}\n"
    told = previewed(STREAMS, STREAMS + variable)
    assert "no live road leads from group.protocol=classic to streams" in told.verdict
    deployment = STREAMS.replace("StatefulSet", "Deployment")
    emptied = deployment.replace("spec:\n", "spec:\n  strategy: {type: Recreate}\n", 1) + variable
    told = previewed(deployment, emptied)
    assert not told.refused and any("through an empty group" in note for note in told.notes)
    assert any("how large its stores are" in line for line in told.assumed)


def test_a_sink_connector_has_no_pods_that_an_apply_would_restart_or_not() -> None:
    one, other = (understand([("connect.yaml", text)]) for text in (CONNECT, CONNECT + "\n"))
    assert set(restarts(one, other)) == {"KafkaConnect/hub"}


@pytest.mark.slow
def test_connectors_that_come_grow_and_go_are_each_told_and_played() -> None:
    def connectors(*rows: tuple[str, int]) -> tuple[str, str]:
        made = ",".join(
            f'{{"name": "{n}", "config": {{"connector.class": "acme.Source", "tasks.max": "{t}"}}}}'
            for n, t in rows
        )
        return ("connectors.json", f"[{made}]")

    old = side_of("old", [("hub.yaml", WORKERS), connectors(("grows", 2), ("goes", 1))])
    new = side_of("new", [("hub.yaml", WORKERS), connectors(("grows", 5), ("comes", 4))])
    told = preview(old, new, advise=0)
    said = [(d.of, d.what, d.before, d.after) for d in told.differences]
    assert ("grows", "tasks.max", "2", "5") in said
    assert ("comes", "connector", "–", "new, with 4 tasks") in said
    assert ("goes", "connector", "there", "gone") in said
    assert row_of(told, "worker rebalances").deploy not in ("0", "-")


def test_a_sinks_tasks_are_its_members_over_all_workers() -> None:
    assert '"jdbc-{n}": {count: 3}' in text_of(("sink.json", SINK))


def test_of_two_clusters_none_is_played_and_that_is_said() -> None:
    second = WORKERS.replace("name: hub", "name: two")
    made = understand([("a.yaml", WORKERS), ("b.yaml", second), ("sink.json", SINK)])
    assert "connect:" not in to_scenario(made)
    assert "hub and two: a scenario holds one" in left_out(made)[0]


@pytest.mark.slow
def test_several_groups_and_a_cluster_are_rolled_one_after_another() -> None:
    blue = DEPLOYMENT.format(name="blue", key="KAFKA_TOPIC", value="a")
    green = DEPLOYMENT.format(name="green", key="KAFKA_TOPIC", value="b").replace(
        "KAFKA_GROUP_ID, value: g", "KAFKA_GROUP_ID, value: h"
    )
    files = [("b.yaml", blue), ("g.yaml", green), ("w.yaml", WORKERS), ("sink.json", SINK)]
    told = preview(None, side_of("new", files), advise=0)
    assert told.title == "A restart of blue, green, hub" and len(told.rollouts) == 3
    assert row_of(told, "longest task pause").deploy not in ("0 s", "-")


def test_a_preview_of_groups_that_have_nothing_in_common_is_called_after_the_new_one() -> None:
    blue = DEPLOYMENT.format(name="blue", key="KAFKA_TOPIC", value="a")
    told = preview(
        side_of("old", [("w.yaml", WORKERS)]), side_of("new", [("b.yaml", blue)]), advise=0
    )
    assert told.title == "The deploy of blue"


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


def test_confluents_operator_writes_connectors_in_other_words() -> None:
    made = read(
        c_yaml="""
        apiVersion: platform.confluent.io/v1beta1
        kind: Connector
        metadata: {name: to-store}
        spec:
          class: io.confluent.connect.jdbc.JdbcSinkConnector
          taskMax: 4
          configs: {topics: "orders,stock"}
        ---
        apiVersion: platform.confluent.io/v1beta1
        kind: Connect
        metadata: {name: workers}
        spec: {replicas: 2, configOverrides: {server: [session.timeout.ms=20000]}}
        ---
        apiVersion: example.com/v1
        kind: Connector
        metadata: {name: somebody-elses}
        """
    )
    assert [c.workload for c in made.consumers] == ["Connector/to-store"]
    assert made.consumers[0].topics.value == ["orders", "stock"]
    assert made.consumers[0].members.value == 4 and made.workers[0].name == "workers"
    assert made.strange == ["Connector/somebody-elses (example.com/v1)"]
