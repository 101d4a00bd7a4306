"""KEDA, HPA, Strimzi, OpenShift Templates, kustomize and Helm."""

from __future__ import annotations

from reading import deployment, one, read

SCALED = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: lag}
spec:
  scaleTargetRef: {name: orders}
  minReplicaCount: 2
  cooldownPeriod: 60
  triggers:
  - type: kafka
    metadata: {consumerGroup: orders-group, topic: t, lagThreshold: "20", offsetRestPolicy: latest}
  - type: cpu
"""


def test_kedas_defaults_are_told_and_a_slip_is_found() -> None:
    scaling = read(s_yaml=SCALED).scalings[0]
    assert (scaling.poll and scaling.poll.value, scaling.max.value) == (30, 100)
    trigger = scaling.triggers[0]
    assert (trigger.lag_threshold.value, trigger.reset.value) == (20, "latest")
    assert trigger.reset.sure == "default" and scaling.others == ["cpu"]
    assert "offsetResetPolicy" in scaling.unknown_keys[0]
    assert scaling.effective_max == "min(100, partitions of t)"


def test_what_a_scaler_would_do_wrong_is_said() -> None:
    hurts = [h.what for h in read(s_yaml=SCALED).hurts]
    assert any("lagThreshold" in h for h in hurts) and any("cooldownPeriod" in h for h in hurts)


def test_a_scaler_owns_a_left_out_number_and_its_group_is_compared() -> None:
    made = read(s_yaml=SCALED.replace("orders-group", "another"), d_yaml=deployment())
    assert made.consumers[0].replicas is not None and made.consumers[0].replicas.value == 2
    assert "replicas" in made.asks
    assert any("looks at group another" in h.what for h in made.hurts)


def test_an_hpa_has_its_behaviour_and_its_defaults() -> None:
    scaling = read(
        h_yaml="""
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata: {name: h}
        spec:
          scaleTargetRef: {kind: Deployment, name: orders}
          maxReplicas: 6
          metrics: [{type: Resource, resource: {name: cpu}}]
          behavior: {scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}}
        """
    ).scalings[0]
    assert (scaling.min.value, scaling.min.sure, scaling.max.value) == (1, "default", 6)
    assert scaling.hpa["scale_up"] == "max(4 pods, 100 %) per 15 s"
    assert scaling.hpa["scale_down"] == "1 pods per 60 s" and scaling.others == ["cpu"]


def test_a_topics_replicas_are_copies_and_its_name_may_stand_apart() -> None:
    made = read(
        t_yaml="""
        apiVersion: kafka.strimzi.io/v1
        kind: KafkaTopic
        metadata: {name: orders-topic}
        spec: {topicName: orders, partitions: 24, replicas: 3}
        """
    )
    assert made.topics["orders"]["partitions"].value == 24
    assert made.topics["orders"]["replication"].value == 3


def test_more_members_than_partitions_hurt_also_where_a_scaler_makes_them() -> None:
    topic = """
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: t}
spec: {partitions: 1}
"""
    env = "- {name: KAFKA_TOPIC, value: t}"
    made = read(d_yaml=deployment(spec="replicas: 3", env=env) + topic)
    assert any("1 partition" in h.what for h in made.hurts) and "partitions" not in made.asks


def test_a_templates_parameters_are_filled_in_from_its_own_defaults() -> None:
    consumer = one(
        t_yaml="""
        apiVersion: template.openshift.io/v1
        kind: Template
        objects:
        - apiVersion: cloud.redhat.com/v1alpha1
          kind: ClowdApp
          metadata: {name: shop}
          spec:
            deployments:
            - name: worker
              minReplicas: ${{COUNT}}
              podSpec: {image: x, env: [{name: KAFKA_GROUP_ID, value: "${GROUP}"}]}
        parameters:
        - {name: COUNT, value: "4"}
        - {name: GROUP, value: shoppers}
        """
    )
    assert consumer.group.value == "shoppers" and consumer.update is not None
    assert consumer.replicas is not None and consumer.replicas.value == 4
    assert consumer.update.surge is not None and consumer.update.surge[2] == "inferred"
    assert consumer.workload == "ClowdApp/shop deployment worker (becomes Deployment/shop-worker)"


def test_an_overlays_patches_are_over_its_base() -> None:
    from rebalsim.worlds.understand import understand

    made = understand(
        [
            (
                "overlays/prod/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
                "namespace: prod\nresources: [../../base, gone.yaml]\npatches:\n"
                "- target: {kind: Deployment, name: orders}\n"
                "  patch: |-\n    - {op: replace, path: /spec/replicas, value: 5}\n",
            ),
            ("base/kustomization.yaml", "kind: Kustomization\nresources: [deploy.yaml]\n"),
            ("base/deploy.yaml", deployment(spec="replicas: 1")),
        ]
    )
    consumer = made.consumers[0]
    assert consumer.replicas is not None and consumer.replicas.value == 5
    assert consumer.namespace is not None and consumer.namespace.value == "prod"
    assert made.missing == ["overlays/prod/gone.yaml"]


def test_a_template_is_read_as_far_as_it_goes_and_values_fill_it() -> None:
    template = (
        deployment(
            spec="replicas: {{ .Values.count }}", env="{{- toYaml .Values.more | nindent 8 }}"
        )
        .replace("name: orders}", 'name: {{ include "shop.fullname" . }}}')
        .replace("value: orders-group", "value: {{ .Values.group | quote }}")
    )
    bare = read(d_yaml=template)
    assert bare.consumers[0].group.sure == "unknown" and bare.to_render == ["d.yaml"]
    assert bare.consumers[0].workload == "Deployment/shop"
    full = read(
        d_yaml=template,
        values_yaml="image: {}\nreplicaCount: 1\ncount: 3\ngroup: shoppers\n"
        "more: [{name: KAFKA_TOPIC, value: t}]\n",
    )
    consumer = full.consumers[0]
    assert consumer.group.value == "shoppers" and consumer.topics.value == ["t"]
    assert consumer.replicas is not None and consumer.replicas.value == 3


def test_what_consumes_by_its_name_alone_is_a_perhaps() -> None:
    text = deployment().replace("KAFKA_GROUP_ID", "COLOUR").replace("orders}", "order-consumer}")
    made = read(d_yaml=text)
    assert made.consumers == [] and made.asks == ["is_kafka"]
    assert made.maybe[0][0] == "Deployment/order-consumer"


def test_keda_1_names_its_target_by_another_key() -> None:
    scaled = read(
        s_yaml="""
        apiVersion: keda.k8s.io/v1alpha1
        kind: ScaledObject
        metadata: {name: lag}
        spec:
          scaleTargetRef: {deploymentName: shop}
          triggers: [{type: kafka, metadata: {consumerGroup: g, topic: carts}}]
        """
    )
    assert scaled.scalings[0].target == "Deployment/shop"
