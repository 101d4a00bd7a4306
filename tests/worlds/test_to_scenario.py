"""What a scenario says of a scaler, and of settings that no Kafka would take."""

from __future__ import annotations

from reading import deployment, files, read

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.scenario.load import story_of
from rebalsim.worlds.to_scenario import playable, to_scenario
from rebalsim.worlds.understand import understand

SCALER = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  scaleTargetRef: {name: orders}
  minReplicaCount: 2
  maxReplicaCount: 6
  triggers:
  - {type: kafka, metadata: {consumerGroup: orders-group, topic: t, lagThreshold: "500"}}
"""
RATE = (
    "# HELP kafka_consumer_records_consumed_rate x\n"
    'kafka_consumer_fetch_manager_metrics_records_consumed_rate{client_id="a"} 70.0\n'
)


def test_a_scaler_is_a_comment_until_the_rate_is_known() -> None:
    text = to_scenario(read(d_yaml=deployment(), s_yaml=SCALER))
    assert "#   autoscale: {group: orders-group, lagThreshold: 500" in text
    assert story_of(text.encode(), "x").check().title


def test_with_a_measured_rate_it_is_played() -> None:
    text = to_scenario(understand(files(d_yaml=deployment(), s_yaml=SCALER, m_prom=RATE)))
    story = story_of(text.encode(), "x").check()
    deeds = [a.deed for a in story.scenario(story.variants[0]).script]
    scaler = next(d for d in deeds if isinstance(d, Autoscale))
    assert (scaler.least, scaler.most, scaler.lag_threshold) == (2, 6, 500)
    assert "rate: 70.0/s" in text


def test_a_setting_that_is_refused_stays_as_a_comment_with_its_reason() -> None:
    env = "- {name: KAFKA_SESSION_TIMEOUT_MS, value: '10'}"
    text = playable(to_scenario(read(d_yaml=deployment(env=env))))
    assert "# left out: session.timeout.ms: 10" in text and "refused:" in text
