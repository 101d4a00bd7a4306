"""A container's environment, and how Kafka's settings are spelt in it."""

from __future__ import annotations

import pytest
from reading import compose, deployment, one, read, service


@pytest.mark.parametrize(
    ("name", "value", "setting", "wanted"),
    [
        ("KAFKA_SESSION_TIMEOUT_MS", "30000", "session.timeout.ms", "30000"),
        ("CONNECT_CONSUMER_MAX_POLL_RECORDS", "50", "max.poll.records", "50"),
        (
            "SOURCE_KAFKA_CONSUMER_CONFIG_AUTO_OFFSET_RESET",
            "smallest",
            "auto.offset.reset",
            "earliest",
        ),
        ("Kafka__Consumer__AutoOffsetReset", "Latest", "auto.offset.reset", "latest"),
        ("MYAPP_KAFKA_CONSUMER_HEARTBEAT_INTERVAL_MS", "3s", "heartbeat.interval.ms", "3000"),
        (
            "KAFKA_PARTITION_ASSIGNMENT_STRATEGY",
            "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
            "partition.assignment.strategy",
            ["cooperative-sticky"],
        ),
    ],
)
def test_a_setting_is_known_by_its_words(
    name: str, value: str, setting: str, wanted: object
) -> None:
    consumer = one(d_yaml=deployment(env=f"- {{name: {name}, value: '{value}'}}"))
    found = consumer.settings[setting]
    assert (found.value, found.sure) == (wanted, "stated")


def test_a_producers_setting_is_none_of_the_consumers() -> None:
    consumer = one(d_yaml=deployment(env="- {name: KAFKA_PRODUCER_REQUEST_TIMEOUT_MS, value: '9'}"))
    assert "request.timeout.ms" not in consumer.settings


def test_env_is_over_env_from_and_a_later_map_over_an_earlier() -> None:
    text = deployment(env="- {name: KAFKA_MAX_POLL_RECORDS, value: '3'}").replace(
        "        env:",
        "        envFrom: [{configMapRef: {name: a}}, {configMapRef: {name: b}}]\n        env:",
    )
    maps = "\n".join(
        "---\napiVersion: v1\nkind: ConfigMap\n"
        f"metadata: {{name: {n}}}\ndata: {{KAFKA_MAX_POLL_RECORDS: '{v}', KAFKA_TOPIC: {n}}}"
        for n, v in (("a", 1), ("b", 2))
    )
    consumer = one(d_yaml=text + maps)
    assert consumer.settings["max.poll.records"].value == "3"
    assert consumer.topics.value == ["b"]


def test_an_earlier_variable_is_filled_in_and_a_later_is_not() -> None:
    consumer = one(
        d_yaml=deployment(
            env="- {name: BASE, value: orders}\n- {name: KAFKA_TOPIC, value: $(BASE)-v1}"
        )
    )
    assert consumer.topics.value == ["orders-v1"]


def test_a_missing_config_map_leaves_a_value_unknown_and_asks() -> None:
    env = "- name: KAFKA_TOPIC\n  valueFrom: {configMapKeyRef: {name: gone, key: topic}}"
    made = read(d_yaml=deployment(env=env))
    assert made.consumers[0].topics.sure == "unknown" and "topics" in made.asks


def test_the_pods_name_as_instance_id_is_static_in_name_only_under_a_deployment() -> None:
    env = "- name: KAFKA_GROUP_INSTANCE_ID\n  valueFrom: {fieldRef: {fieldPath: metadata.name}}"
    made = read(d_yaml=deployment(env=env))
    assert made.consumers[0].instance.value == "{pod}"
    assert any("static in name only" in h.why for h in made.hurts)


def test_a_variable_called_instance_id_makes_nobody_static() -> None:
    env = "- name: INSTANCE_ID\n  valueFrom: {fieldRef: {fieldPath: metadata.name}}"
    assert one(d_yaml=deployment(env=env)).instance.value is None


def test_topics_that_are_only_written_are_left_out() -> None:
    env = (
        "- {name: KAFKA_INPUT_TOPIC, value: orders}\n- {name: KAFKA_OUTPUT_TOPIC, value: bills}\n"
        "- {name: KAFKA_DLQ_TOPIC, value: dead}"
    )
    assert one(d_yaml=deployment(env=env)).topics.value == ["orders"]


def test_a_broker_is_no_consumer_and_tells_its_version() -> None:
    settings = {"KAFKA_PROCESS_ROLES": "broker", "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": 0}
    made = read(c_yaml=compose(service("kafka", "apache/kafka:3.9.1", **settings)))
    assert made.consumers == [] and made.kafka_version is not None
    assert made.kafka_version.value == "3.9.1"
    assert made.broker_settings["group.initial.rebalance.delay.ms"].value == "0"


def test_the_console_consumers_options_are_read_with_the_shells_variables() -> None:
    text = """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: tail}
    spec:
      template:
        spec:
          containers:
          - name: tail
            image: apache/kafka:4.1.0
            command: [sh, -c]
            args: ["bin/kafka-console-consumer.sh --bootstrap-server b:9092 --topic $TOPIC --group g1 --from-beginning"]
            env: [{name: TOPIC, value: orders}]
    """
    consumer = one(d_yaml=text)
    assert (consumer.group.value, consumer.topics.value) == ("g1", ["orders"])
    assert consumer.settings["auto.offset.reset"].value == "earliest"
    assert consumer.shell and consumer.client.value == "java"


def test_a_table_shared_with_a_broker_hides_no_consumer() -> None:
    shared = """
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
data:
  KAFKA_BROKERS: kafka:9092
  KAFKA_TOPIC: orders
  KAFKA_BROKER_ID: "1"
  KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1"
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: consumer}
spec:
  template:
    spec:
      containers:
      - {name: app, image: shop, envFrom: [{configMapRef: {name: shared}}]}
"""
    assert one(s_yaml=shared).topics.value == ["orders"]
    broker = shared.replace("KAFKA_BROKERS: kafka:9092", "OTHER: x").replace("consumer", "kafka")
    assert not read(s_yaml=broker).consumers


def test_worker_threads_may_stand_behind_one_consumer() -> None:
    members = one(c_env="KAFKA_GROUP_ID=g\nKAFKA_NUM_WORKER_THREADS=4\n").members
    assert (members.value, members.sure) == (4, "inferred")
