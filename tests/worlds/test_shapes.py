"""Shapes of files that teams have beside the plain ones: what each says is joined as its tool joins it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.worlds.files import read_files
from rebalsim.worlds.groups import cores
from rebalsim.worlds.groups_found import groups_of
from rebalsim.worlds.to_scenario import to_scenario
from rebalsim.worlds.understand import understand
from rebalsim.worlds.understood import Consumer, Understood

SPRING = """spring:
  application: {name: billing}
  kafka:
    consumer: {group-id: billing, max-poll-records: 50}
    listener: {concurrency: 3}
app:
  topics:
    invoices: billing.invoices.v1
---
spring:
  config: {activate: {on-profile: "prod & !eu"}}
  kafka: {listener: {concurrency: 6}}
---
spring.config.activate.on-profile: test
spring.kafka.listener.concurrency: 1
"""


def workload(env: str = "", more: str = "", kind: str = "Deployment") -> str:
    return f"""
apiVersion: apps/v1
kind: {kind}
metadata: {{name: app}}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: app
        image: acme/app:1
        {more}
        env: [{env}]
"""


def one(*sources: tuple[str, str]) -> Consumer:
    made = understand(list(sources))
    assert len(made.consumers) == 1, [c.group for c in made.consumers]
    return made.consumers[0]


def ignored(made: Understood) -> str:
    return "\n".join(made.ignored)


# ---- Spring's profiles ----
def test_documents_of_profiles_belong_to_the_one_without() -> None:
    made = understand([("application.yml", SPRING)])
    (consumer,) = made.consumers
    assert consumer.members.value == 3 and consumer.group.value == "billing"
    assert "profile prod & !eu: not active as far as the files tell" in ignored(made)


@pytest.mark.parametrize(
    ("active", "members"), [("prod", 6), ("test", 1), ("prod,eu", 3), ("eu", 3), ("dev", 3)]
)
def test_the_workload_says_which_profile_is_active(active: str, members: int) -> None:
    env = f"{{name: SPRING_PROFILES_ACTIVE, value: '{active}'}}"
    consumer = one(("app.yaml", workload(env)), ("application.yml", SPRING))
    assert consumer.members.value == members


def test_a_file_for_a_profile_and_documents_in_properties_are_laid_over_the_same() -> None:
    plain = "spring.kafka.consumer.group-id=a\nspring.kafka.listener.concurrency=2\n"
    env = "{name: JAVA_OPTS, value: '-Dspring.profiles.active=prod'}"
    for sources in (
        [("application.properties", plain + "#---\nspring.config.activate.on-profile=prod\n"
          "spring.kafka.listener.concurrency=5\n")],
        [("application.properties", plain),
         ("application-prod.yml", "spring: {kafka: {listener: {concurrency: 5}}}\n")],
    ):  # fmt: skip
        consumer = one(("app.yaml", workload(env)), *sources)
        assert consumer.members.value == 5


def test_options_of_the_command_go_over_the_environment() -> None:
    more = (
        'args: ["--spring.kafka.consumer.group-id=given", "--spring.kafka.listener.concurrency=4"]'
    )
    consumer = one(
        ("a.yaml", workload("{name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: other}", more))
    )
    assert (consumer.group.value, consumer.members.value) == ("given", 4)


# ---- topics by the names of keys ----
@pytest.mark.parametrize("key", ["KAFKA_TOPIC", "KAFKA_TOPIC_NAME", "TOPIC", "KAFKA_INPUT_TOPIC"])
def test_a_springs_topic_in_a_variable_of_its_own_is_inferred(key: str) -> None:
    env = f"{{name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: g}}, {{name: {key}, value: payments}}"
    made = understand([("app.yaml", workload(env))])
    (consumer,) = made.consumers
    assert consumer.topics.value == ["payments"] and consumer.topics.sure == "inferred"
    assert "topics" not in made.asks
    assert "app.yaml:13: by the key's name" in to_scenario(made)


def test_where_several_could_be_meant_none_is_taken() -> None:
    env = "{name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: g}, "
    env += "{name: A_TOPIC, value: a}, {name: B_TOPIC, value: b}"
    made = understand([("app.yaml", workload(env))])
    assert not made.consumers[0].topics.known and "topics" in made.asks
    text = "spring.kafka.consumer.group-id: g\napp.retry-consumer.topic: x\n"
    assert not one(("application.yml", text)).topics.known


# ---- compose ----
COMPOSE = """
x-common: &common {restart: unless-stopped, stop_grace_period: 45s}
services:
  tracker:
    <<: *common
    image: acme/tracker
    env_file: [./env/common.env, {path: env/tracker.env}]
    environment: {KAFKA_TOPICS: "clicks,views"}
"""


def test_a_service_takes_the_files_that_it_names_and_nobody_else_does() -> None:
    consumer = one(
        ("docker-compose.yml", COMPOSE),
        ("env/common.env", "KAFKA_GROUP_ID=shared\nKAFKA_MAX_POLL_RECORDS=9\n"),
        ("env/tracker.env", "KAFKA_GROUP_ID=tracker\nKAFKA_TOPICS=none\n"),
    )
    assert consumer.group.value == "tracker" and consumer.topics.value == ["clicks", "views"]
    assert consumer.settings["max.poll.records"].value == "9"


# ---- kustomize ----
def test_references_follow_a_prefix_and_targets_are_expressions(tmp_path: Path) -> None:
    base, prod = tmp_path / "base", tmp_path / "prod"
    base.mkdir(), prod.mkdir(), (tmp_path / ".git").mkdir()
    (base / "deploy.yaml").write_text(
        workload(more="envFrom: [{configMapRef: {name: config}}]"), encoding="utf-8"
    )
    (base / "kustomization.yaml").write_text(
        "resources: [deploy.yaml]\n"
        "configMapGenerator:\n- {name: config, literals: [KAFKA_GROUP_ID=ledger]}\n",
        encoding="utf-8",
    )
    (prod / "kustomization.yaml").write_text(
        "resources: [../base]\nnamePrefix: prod-\n"
        "patches:\n- target: {kind: Deployment, name: 'a.*'}\n"
        "  patch: '[{op: replace, path: /spec/replicas, value: 7}]'\n"
        "configMapGenerator:\n- {name: config, behavior: merge, literals: [KAFKA_TOPIC=x]}\n",
        encoding="utf-8",
    )
    consumer = one(*read_files([str(prod)]))
    assert consumer.workload == "Deployment/prod-app" and consumer.group.value == "ledger"
    assert consumer.replicas is not None and consumer.replicas.value == 7
    assert consumer.topics.value == ["x"]


def test_an_expression_that_would_take_for_ever_is_nobodys_name() -> None:
    from rebalsim.worlds.kubernetes.kustomize import _is_like

    assert _is_like("web-.*|api", "web-front") and not _is_like("(a+)+$", "a" * 40 + "!")


# ---- others ----
DAPR = """
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: {name: pubsub}
spec:
  type: pubsub.kafka
  metadata: [{name: brokers, value: "k:9092"}, {name: consumerGroup, value: "{appID}"}]
---
apiVersion: dapr.io/v2alpha1
kind: Subscription
metadata: {name: s}
spec: {topic: orders, pubsubname: pubsub}
scopes: [checkout]
"""


def test_daprs_subscriptions_tell_topics_and_the_applications_group() -> None:
    consumer = one(("dapr.yaml", DAPR))
    assert consumer.topics.value == ["orders"] and consumer.group.value == "checkout"
    assert consumer.group.sure == "inferred"


def test_variables_that_begin_with_rdkafka_are_librdkafkas() -> None:
    text = "RDKAFKA_GROUP_ID=geo\nRDKAFKA_SESSION_TIMEOUT_MS=6000\nTOPICS=a,b\n"
    consumer = one(("service.env", text))
    assert consumer.client.value == "librdkafka" and consumer.topics.value == ["a", "b"]


# ---- what the kubelet does with it ----
def test_a_pods_hook_probe_and_limit_stand_in_its_life() -> None:
    more = (
        "lifecycle: {preStop: {sleep: {seconds: 12}}}\n"
        "        startupProbe: {tcpSocket: {port: 1}, periodSeconds: 5, failureThreshold: 24}\n"
        "        resources: {limits: {cpu: 250m}}"
    )
    made = understand([("a.yaml", workload("{name: KAFKA_GROUP_ID, value: g}", more))])
    text = to_scenario(made)
    assert "preStop: 12s" in text and "grace: 30s" in text and "restartPolicy: Always" in text
    assert (
        "startupProbe: {initialDelaySeconds: 0s, periodSeconds: 5s, failureThreshold: 24}" in text
    )
    assert groups_of(made)[0].start_seconds()[0] == 60  # 15 s with a core of its own
    assert (cores("500m"), cores("2"), cores("{{ .Values.cpu }}")) == (0.5, 2.0, None)
