"""Workloads of ECS, Azure's Container Apps, Nomad and systemd, by their own rules."""

from __future__ import annotations

from reading import one, read

from rebalsim.worlds import hcl
from rebalsim.worlds.to_scenario import to_scenario
from rebalsim.worlds.understood import Consumer

TASK = """
{"family": "ledger", "containerDefinitions": [
 {"name": "envoy", "image": "envoyproxy/envoy:v1"},
 {"name": "app", "image": "shop/ledger:7", "stopTimeout": 60, "environment": [
  {"name": "KAFKA_BOOTSTRAP_SERVERS", "value": "b-1:9092"},
  {"name": "KAFKA_GROUP_ID", "value": "ledger"}, {"name": "KAFKA_TOPICS", "value": "entries"}]}]}
"""


def _service(deployment: str, task: str = "ledger:7") -> str:
    return (
        f'{{"serviceName": "ledger", "taskDefinition": "{task}", "desiredCount": 7, '
        f'"deploymentConfiguration": {deployment}}}'
    )


def _fences(made: Consumer) -> tuple[int, int]:
    assert made.update is not None
    assert made.update.surge is not None and made.update.unavailable is not None
    return made.update.surge[1], made.update.unavailable[1]


def test_a_task_of_ecs_is_rolled_as_its_service_says() -> None:
    made = one(a_json=TASK, b_json=_service('{"maximumPercent": 150, "minimumHealthyPercent": 50}'))
    assert made.workload == "ECS/ledger" and made.group.value == "ledger"
    assert made.replicas is not None and (made.replicas.value, made.replicas.sure) == (7, "stated")
    assert made.grace is not None and made.grace.value == 60
    assert _fences(made) == (3, 3)  # 10.5 rounds down to ten tasks, 3.5 up to four


def test_ecs_defaults_double_the_tasks_before_any_goes() -> None:
    assert _fences(
        one(a_json=TASK, b_json=_service("{}", "arn:aws:ecs:eu:1:task-definition/ledger:7"))
    ) == (7, 0)


def test_a_container_app_comes_up_beside_itself_and_is_scaled_by_lag() -> None:
    made = read(
        a_yaml="""
name: scoring
type: Microsoft.App/containerApps
properties:
  template:
    containers:
      - name: scoring
        image: shop/scoring:2
        env:
          - {name: KAFKA_BOOTSTRAP_SERVERS, value: "kafka:9092"}
          - {name: KAFKA_GROUP_ID, value: scoring}
          - {name: KAFKA_TOPIC, value: scores}
    scale:
      minReplicas: 2
      maxReplicas: 10
      rules:
        - name: lag
          custom: {type: kafka, metadata: {consumerGroup: scoring, topic: scores, lagThreshold: "50"}}
"""
    )
    [consumer] = made.consumers
    assert consumer.replicas is not None and consumer.replicas.value == 2
    assert _fences(consumer) == (2, 0)
    [scaling] = made.scalings
    assert (scaling.min.value, scaling.max.value) == (2, 10)
    assert "autoscale:" in to_scenario(made)


JOB = """
# the fraud job
job "fraud" {
  update {
    max_parallel     = 2
    min_healthy_time = "20s"
    /* one at first,
       max_parallel = 9 */
    canary           = 1
  }
  group "scorer" {
    count = 6
    task "scorer" {
      driver       = "docker"
      kill_timeout = "45s"
      template { data = <<EOF
KAFKA_GROUP_ID = "not-this"
EOF
      }
      config { image = "shop/fraud:3", args = ["--fast", "x"] }
      env = {
        KAFKA_BOOTSTRAP_SERVERS = "kafka.service.consul:9092"
        KAFKA_GROUP_ID          = "fraud-scorer"
        KAFKA_TOPIC             = "transactions" // all
      }
    }
  }
}
"""


def test_a_job_of_nomads_is_rolled_after_its_canary() -> None:
    made = read(a_hcl=JOB)
    [consumer] = made.consumers
    assert (consumer.workload, consumer.group.value) == ("Nomad/scorer", "fraud-scorer")
    assert consumer.replicas is not None and consumer.replicas.value == 6
    assert consumer.grace is not None and consumer.grace.value == 45
    assert _fences(consumer) == (0, 2)
    text = to_scenario(made)
    assert "join: {group: fraud-scorer, count: 1}" in text and "max_unavailable: 2" in text
    assert "settle: 20s" in text and "leave: {group: fraud-scorer, members: [scorer-5]}" in text


def test_a_job_without_update_replaces_one_after_another() -> None:
    short = JOB[: JOB.index("  update {")] + JOB[JOB.index('  group "scorer"') :]
    made = one(a_hcl=short.replace('kill_timeout = "45s"', ""))
    assert _fences(made) == (0, 1)
    assert made.grace is not None and (made.grace.value, made.grace.sure) == (5, "default")


def test_hcl_of_any_shape_is_read_in_time_and_without_harm() -> None:
    for text in (
        "{" * 5_000,
        "}" * 50,
        "a = [" + "1, " * 50_000,
        "w " * 100_000,
        '"' * 999,
        "x = <<E\n",
    ):
        hcl.read(f'job "a" {{\n{text}', "a.hcl")
    assert hcl.read('job "a" { x = ["p", 2] }\ny = "z"', "f") == {
        "job": {"a": {"x": ["p", "2"]}},
        "y": "z",
    }


UNIT = """
[Unit]
Description=Audit consumer %i

[Service]
Environment=KAFKA_BOOTSTRAP_SERVERS=kafka1:9092
Environment="KAFKA_GROUP_ID=audit" "KAFKA_TOPIC=audit-log"
Environment=KAFKA_GROUP_INSTANCE_ID=audit-%i
ExecStart=-/usr/bin/java -jar /opt/audit/audit.jar
TimeoutStopSec=1min 30s
"""


def test_a_unit_of_systemds_is_one_process_and_a_template_several() -> None:
    template = read(**{"audit@.service": UNIT})
    [consumer] = template.consumers
    assert (consumer.workload, consumer.group.value) == ("systemd/audit", "audit")
    assert consumer.replicas is not None and consumer.replicas.sure == "unknown"
    assert consumer.grace is not None and consumer.grace.value == 90
    assert consumer.client.value == "java"
    assert 'group.instance.id: "{name}"' in to_scenario(template)
    assert "replicas" in template.asks
    alone = one(**{"audit.service": UNIT})
    assert alone.replicas is not None and alone.replicas.value == 1
