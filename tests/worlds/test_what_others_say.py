"""What stands outside of a workload and tells what it consumes: scalers, sidecars, operators'
objects, commands that create topics.
"""

from __future__ import annotations

import pytest
from reading import compose, deployment, one, read, service

SCALED = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: lag}
spec:
  scaleTargetRef: {name: shop}
  triggers:
  - {type: kafka, metadata: {consumerGroup: shop-group, topic: carts}}
  - {type: kafka, metadata: {consumerGroup: shop-group, topic: orders}}
"""
SILENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    metadata: {annotations: {dapr.io/enabled: "true", dapr.io/app-id: shop-app}}
    spec: {containers: [{name: app, image: shop/api:1}]}
"""


def test_whom_a_groups_lag_scales_consumes_though_nothing_else_says_so() -> None:
    consumer = one(s_yaml=SCALED, d_yaml=SILENT)
    assert (consumer.group.value, consumer.group.sure) == ("shop-group", "inferred")
    assert (consumer.topics.value, consumer.topics.sure) == (["carts", "orders"], "inferred")
    assert not read(d_yaml=SILENT).consumers


def test_a_scaler_of_another_group_tells_no_topics() -> None:
    scaled = SCALED.replace("shop}", "orders}")
    consumer = one(s_yaml=scaled, d_yaml=deployment())
    assert consumer.group.value == "orders-group" and not consumer.topics.known
    same = one(s_yaml=scaled.replace("shop-group", "orders-group"), d_yaml=deployment())
    assert same.topics.value == ["carts", "orders"]


COMPONENT = """
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: {name: bus}
spec: {type: pubsub.kafka, metadata: [{name: brokers, value: "kafka:9092"}]}
"""


def test_a_sidecar_consumes_in_its_applications_name() -> None:
    made = read(c_yaml=COMPONENT, d_yaml=SILENT)
    consumer = made.consumers[0]
    assert consumer.workload == "Deployment/shop" and consumer.group.value == "shop-app"
    assert consumer.group.sure == "inferred" and not made.ignored


def test_of_two_applications_beside_dapr_none_is_guessed() -> None:
    second = SILENT.replace("shop", "stock")
    made = read(c_yaml=COMPONENT, d_yaml=SILENT, e_yaml=second)
    assert [c.workload for c in made.consumers] == [None]
    scoped = read(c_yaml=COMPONENT + "scopes: [stock-app]\n", d_yaml=SILENT, e_yaml=second)
    assert [c.workload for c in scoped.consumers] == ["Deployment/stock"]


def test_arguments_take_the_containers_variables() -> None:
    env = """
    - {name: WHO, valueFrom: {configMapKeyRef: {name: settings, key: group}}}
    - {name: HIDDEN, valueFrom: {secretKeyRef: {name: s, key: k}}}
    """
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {group: told}\n"
    args = '\n        args: [run-consumer, --group-id, $(WHO), --topic, $(HIDDEN), --brokers, "k:9092"]'
    consumer = one(m_yaml=settings, d_yaml=deployment(env=env).rstrip() + args)
    assert (consumer.group.value, consumer.group.sure) == ("told", "stated")
    assert consumer.topics.sure == "unknown"


@pytest.mark.parametrize(
    ("version", "kind", "spec", "name"),
    [
        ("platform.confluent.io/v1beta1", "KafkaTopic", "{partitionCount: 6, replicas: 3}", "t"),
        ("kafka.nais.io/v1", "Topic", "{config: {partitions: 6, replication: 3}}", "team.t"),
        ("cluster.redpanda.com/v1", "Topic", "{partitions: 6, replicationFactor: 3}", "t"),
        ("aiven.io/v1", "KafkaTopic", "{topicName: u, partitions: 6, replication: 3}", "u"),
    ],
)
def test_every_operator_writes_its_topics_otherwise(
    version: str, kind: str, spec: str, name: str
) -> None:
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: t, namespace: team}}\n"
    told = read(t_yaml=f"{text}spec: {spec}\n").topics[name]
    assert {k: v.value for k, v in told.items()} == {"partitions": 6, "replication": 3}


def test_a_broker_and_a_job_tell_the_topics_that_they_create() -> None:
    broker = service("kafka", "wurstmeister/kafka:2.13-2.8.1", KAFKA_CREATE_TOPICS='"a:5:1,b:2:1"')
    job = (
        "init:\n  image: confluentinc/cp-kafka:7.5.0\n  command: >-\n"
        "    bash -c 'kafka-topics --create --topic c --partitions 4 --replication-factor 1 &&\n"
        "    kafka-topics --list && rpk topic create d e -p 3 --replicas=2'\n"
    )
    made = read(docker_yaml=compose(broker, job))
    counted = {n: (t["partitions"].value, t["replication"].value) for n, t in made.topics.items()}
    assert counted == {"a": (5, 1), "b": (2, 1), "c": (4, 1), "d": (3, 2), "e": (3, 2)}
    assert read(d_yaml=compose(broker)).kafka_version is not None


ARGO = """
apiVersion: argoproj.io/v1alpha1
kind: EventSource
metadata: {name: bus}
spec:
  replicas: 2
  kafka: {orders: {url: "kafka:9092", topic: orders, partition: "1"}}
"""


def test_an_event_source_without_a_group_is_no_member_of_one() -> None:
    made = read(e_yaml=ARGO)
    assert not made.consumers and "in no group" in made.ignored[0]
    group = "consumerGroup: {groupName: argo, oldest: true}"
    consumer = one(e_yaml=ARGO.replace('partition: "1"', group))
    assert consumer.group.value == "argo" and consumer.replicas and consumer.replicas.value == 2
    assert consumer.settings["auto.offset.reset"].value == "earliest"


def test_a_binding_of_camel_and_a_collector_of_an_operator_are_consumers() -> None:
    pipe = one(
        p_yaml="""
        apiVersion: camel.apache.org/v1
        kind: Pipe
        metadata: {name: p}
        spec:
          source:
            ref: {kind: Kamelet, name: kafka-source}
            properties: {bootstrapServers: "k:9092", topic: t, consumerGroup: g, password: hush}
        """
    )
    assert pipe.group.value == "g" and pipe.topics.value == ["t"]
    collector = one(
        o_yaml="""
        apiVersion: opentelemetry.io/v1beta1
        kind: OpenTelemetryCollector
        metadata: {name: gate}
        spec:
          replicas: 3
          config: |
            receivers: {kafka: {brokers: ["k:9092"], group_id: gate}}
            service: {pipelines: {traces: {receivers: [kafka], exporters: [debug]}}}
        """
    )
    assert collector.group.value == "gate" and collector.topics.value == ["otlp_spans"]


def test_a_charts_values_hold_the_file_of_the_program_that_it_deploys() -> None:
    consumer = one(
        values_yaml="""
        replicas: 2
        image: {repository: timberio/vector}
        customConfig:
          sources:
            bus: {type: kafka, bootstrap_servers: "k:9092", group_id: v, topics: [logs, audit]}
        """
    )
    assert consumer.topics.value == ["logs", "audit"] and consumer.client.value == "librdkafka"


def test_an_apps_topics_are_a_sign_for_its_consumer() -> None:
    consumer = one(
        a_yaml="""
        apiVersion: cloud.redhat.com/v1alpha1
        kind: ClowdApp
        metadata: {name: tracker}
        spec:
          kafkaTopics: [{topicName: status, partitions: 20, replicas: 3}]
          deployments:
          - {name: api, podSpec: {image: "tracker:1"}}
          - {name: consumer, podSpec: {image: "tracker:1"}}
        """
    )
    assert "consumer" in (consumer.workload or "")
    assert (consumer.topics.value, consumer.topics.sure) == (["status"], "inferred")


def test_an_application_that_may_use_kafka_is_asked_for() -> None:
    made = read(
        n_yaml="""
        apiVersion: nais.io/v1alpha1
        kind: Application
        metadata: {name: shop}
        spec:
          image: "{{image}}"
          replicas: {min: {{least}}, max: 4}
          kafka: {pool: prod}
          {{#if ingresses}}
          ingresses:
          {{#each ingresses as |url|}}
            - {{url}}
          {{/each}}
          {{/if}}
        """
    )
    assert not made.unread and made.maybe[0][0] == "Application/shop"


def test_beside_daprs_components_of_other_brokers_a_name_makes_no_consumer() -> None:
    """Only its name calls it a consumer; it reads from RabbitMQ, by the sidecar."""
    workload = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders-consumer}
spec:
  template:
    metadata: {annotations: {dapr.io/enabled: "true", dapr.io/app-id: orders}}
    spec: {containers: [{name: app, image: shop/orders}]}
---
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: {name: bus}
spec: {type: KIND, version: v1}
"""
    other = read(a_yaml=workload.replace("KIND", "pubsub.rabbitmq"))
    assert not other.maybe and not other.consumers
    assert any("Dapr over pubsub.rabbitmq" in why for why in other.ignored)
    state = read(a_yaml=workload.replace("KIND", "state.redis"))
    assert [label for label, _ in state.maybe] == ["Deployment/orders-consumer"]
