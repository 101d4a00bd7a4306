"""From what was understood to what the scenario plays: brokers, rollouts, scalers, topics, starts."""

from __future__ import annotations

from reading import compose, deployment, read, service

from rebalsim.scenario.load import story_of
from rebalsim.worlds.to_scenario import nearest_version, to_scenario


def text_of(**texts: str) -> str:
    text = to_scenario(read(**texts))
    story_of(text.encode(), "imported").check()
    return text


def test_a_partition_keeps_the_ordinals_below_it() -> None:
    spec = "replicas: 4\nupdateStrategy: {rollingUpdate: {partition: 2}}"
    text = text_of(a_yaml=deployment(spec=spec, kind="StatefulSet"))
    assert "members: [orders-2, orders-3]" in text and "ordinals below 2 stay" in text
    everybody = text_of(
        a_yaml=deployment(spec=spec.replace("partition: 2", "partition: 9"), kind="StatefulSet")
    )
    assert "rolling_bounce" not in everybody


def test_a_brokers_settings_stand_in_the_cluster_and_tell_a_topics_likely_partitions() -> None:
    delay = {"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": 0, "KAFKA_NUM_PARTITIONS": 6}
    broker = service("broker", "apache/kafka:3.7.1", **delay)
    app = service("app", "acme/app", KAFKA_GROUP_ID="g", KAFKA_TOPIC="t")
    text = text_of(compose_yaml=compose(broker, app))
    assert "group.initial.rebalance.delay.ms: 0" in text and "partitions: 6" in text
    assert "grace: 10s                              # default: compose" in text
    assert 'kafka: "3.9"' in text


def test_a_version_is_played_as_the_known_one_of_its_major() -> None:
    played = {
        said: nearest_version(said) for said in ("2.4.1", "3.0", "3.7.1", "4.0.0", "9.9", "x")
    }
    assert list(played.values()) == ["2.8", "3.9", "3.9", "4.3", "4.3", "4.3"]


HPA = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: h}}
spec:
  scaleTargetRef: {{kind: Deployment, name: orders}}
  minReplicas: 2
  maxReplicas: 6
  metrics: [{{type: Resource, resource: {{name: cpu, target: {target}}}}}]
  behavior: {{scaleDown: {{policies: [{{type: Pods, value: 1, periodSeconds: 60}}]}}}}
"""


def scaler(target: str, resources: str) -> str:
    """The scaler's line of the scenario."""
    pod = deployment().replace("        env:", f"        resources: {resources}\n        env:")
    text = text_of(a_yaml=pod, h_yaml=HPA.format(target=target))
    return next(line for line in text.splitlines() if "autoscale:" in line)


def test_an_hpa_on_processors_is_a_target_of_how_busy_members_are() -> None:
    half = scaler("{averageUtilization: 70}", "{requests: {cpu: 500m}, limits: {cpu: 2}}")
    assert "averageUtilization: 35" in half  # of half a core; a member uses one at most
    assert "minReplicaCount: 2, maxReplicaCount: 6" in half
    assert "scaleDown: [{pods: 1, periodSeconds: 60s}]" in half
    tight = scaler("{averageUtilization: 70}", "{requests: {cpu: 250m}, limits: {cpu: 250m}}")
    assert "averageUtilization: 70" in tight
    assert "averageUtilization: 40" in scaler("{averageValue: 400m}", "{limits: {cpu: 1}}")


def test_topics_by_an_expression_are_the_declared_ones_that_fit() -> None:
    topic = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {name: pg.a}\nspec: {partitions: 4}\n"
    env = '- {name: KAFKA_TOPIC, value: "pg[.].*"}'
    text = text_of(a_yaml=deployment(env=env), t_yaml=topic)
    assert "topics: [pg.a]" in text and "partitions: 4" in text
    hostile = text_of(a_yaml=deployment(env='- {name: KAFKA_TOPIC, value: "(a+)+$"}'), t_yaml=topic)
    assert "orders-topic" in hostile or "pg.a" in hostile


def test_a_scalers_topic_is_taken_where_the_files_name_none() -> None:
    scaled = """
    apiVersion: keda.sh/v1alpha1
    kind: ScaledObject
    metadata: {name: s}
    spec:
      scaleTargetRef: {name: orders}
      triggers: [{type: kafka, metadata: {consumerGroup: orders-group, topic: clicks}}]
    """
    assert "topics: [clicks]" in text_of(a_yaml=deployment(), s_yaml=scaled)
    other = scaled.replace("orders-group", "another")
    assert "topics: [clicks]" not in text_of(a_yaml=deployment(), s_yaml=other)


def test_a_start_is_drawn_around_what_is_assumed_and_no_startup_probe_kills_it() -> None:
    assert "start: 15s ± 3s" in text_of(a_yaml=deployment())
    probe = "        startupProbe: {tcpSocket: {port: 1}, periodSeconds: 2, failureThreshold: 5}"
    short = deployment().replace("        env:", f"{probe}\n        env:")
    assert "start: 7s ± 1s" in text_of(a_yaml=short)
    late = "        readinessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: 40}"
    assert "start: 40s ± 10s" in text_of(
        a_yaml=deployment().replace("        env:", f"{late}\n        env:")
    )
