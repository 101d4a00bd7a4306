"""What was understood as one JSON object: every value with how sure it is and where it comes from."""

from __future__ import annotations

import json
from typing import Any

from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.worlds.kubernetes.autoscalers import Scaling, Trigger
from rebalsim.worlds.live.listings import UNNAMED, Group, Member, protocol_of
from rebalsim.worlds.secrets import without, worth_hiding
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Value


def to_json(made: Understood, sources: list[tuple[str, str]]) -> str:
    """The object as text; what looks like a credential in the sources is nowhere in it."""
    told = told_of(made)
    hidden = {h for _, text in sources for h in worth_hiding(text)}
    return json.dumps(without(told, hidden), indent=1, ensure_ascii=False) + "\n"


def told_of(made: Understood) -> dict[str, Any]:
    always = {
        "kind": made.kind,
        "files": made.files,
        "consumers": [_consumer(c) for c in made.consumers],
        "ask": made.asks,
        "hurts": [{"what": h.what, "why": h.why, "where": h.where} for h in made.hurts],
        "ignored": made.ignored,
    }
    where_any = {
        "topics": {t: {k: _value(v) for k, v in own.items()} for t, own in made.topics.items()},
        "scaling": [_scaling(s) for s in made.scalings],
        "live": [_group(g) for g in made.listed.groups.values()],
        "maybe": [{"workload": w, "why": why} for w, why in made.maybe],
        "parse_error": dict(zip(("file", "line", "why"), made.unread[0])) if made.unread else {},
        "unknown_keys": made.unknown_keys,
        "to_render": made.to_render,
        "kafka_version": _value(made.kafka_version) if made.kafka_version else {},
        "share_groups": made.share_groups,
    }
    return {**always, **{key: told for key, told in where_any.items() if told}}


def _value(value: Value) -> dict[str, Any]:
    return {"value": value.value, "sure": value.sure, "from": value.source}


def _consumer(consumer: Consumer) -> dict[str, Any]:
    told: dict[str, Any] = {"workload": consumer.workload}
    for key, text in (("container", consumer.container), ("name", consumer.name)):
        if text is not None:
            told[key] = text
    for key, value in (
        ("namespace", consumer.namespace),
        ("replicas", consumer.replicas),
        ("grace_seconds", consumer.grace),
        ("pre_stop_seconds", consumer.pre_stop),
        ("client", consumer.client),
        ("members_per_pod", consumer.members),
        ("group_id", consumer.group),
        ("instance_id", consumer.instance),
        ("topics", consumer.topics),
    ):
        if value is not None:
            told[key] = _value(value)
    if consumer.update is not None:
        told["update"] = _update(consumer)
    if consumer.ready is not None:
        ready = consumer.ready
        told["ready"] = {"at_least": ready.at_least, "period": ready.period, "from": ready.why}
    told["settings"] = {k: _value(v) for k, v in consumer.settings.items()}
    if consumer.reading.unknown_keys:
        told["unknown_keys"] = consumer.reading.unknown_keys
    return told


def _update(consumer: Consumer) -> dict[str, Any]:
    update = consumer.update
    assert update is not None
    told: dict[str, Any] = {"type": update.type}
    for key, fence in (("max_surge", update.surge), ("max_unavailable", update.unavailable)):
        if fence is not None:
            given, pods, sure, source = fence
            told[key] = {"given": given, "pods": pods, "sure": sure, "from": source}
    for key, value in (
        ("most_pods", update.most_pods),
        ("fewest_available", update.fewest_available),
        ("order", update.order),
        ("pod_management", update.pod_management),
        ("partition", update.partition),
    ):
        if value is not None:
            told[key] = value
    return told


def _scaling(scaling: Scaling) -> dict[str, Any]:
    told: dict[str, Any] = {
        "kind": scaling.kind,
        "target": scaling.target,
        "min": _value(scaling.min),
        "max": _value(scaling.max),
    }
    for key, value in (
        ("poll", scaling.poll),
        ("cooldown", scaling.cooldown),
        ("idle", scaling.idle),
    ):
        if value is not None:
            told[key] = _value(value)
    told["triggers"] = [_trigger(t) for t in scaling.triggers]
    if scaling.others:
        told["other_metrics"] = scaling.others
    if scaling.effective_max is not None:
        told["effective_max"] = scaling.effective_max
    if scaling.hpa:
        told["hpa"] = scaling.hpa
    if scaling.unknown_keys:
        told["unknown_keys"] = scaling.unknown_keys
    return told


def _trigger(trigger: Trigger) -> dict[str, Any]:
    return {
        "type": trigger.type,
        "group": trigger.group,
        "topic": trigger.topic,
        "lag_threshold": _value(trigger.lag_threshold),
        "activation": _value(trigger.activation),
        "metric_type": trigger.metric_type,
        "reset": _value(trigger.reset),
        "allow_idle": _value(trigger.allow_idle),
        "limit_to_lagging": _value(trigger.limit_to_lagging),
    }


def _group(group: Group) -> dict[str, Any]:
    state = group.state or (KafkaGroupState.EMPTY if group.is_empty else None)
    is_rebalancing = state in (
        KafkaGroupState.PREPARING_REBALANCE,
        KafkaGroupState.COMPLETING_REBALANCE,
    )
    told: dict[str, Any] = {
        "group": None if group.name == UNNAMED else group.name,
        "state": state,
        "rebalancing": group.rebalancing or is_rebalancing,
        "protocol": protocol_of(group),
    }
    if group.epoch is not None:
        told["epoch"] = group.epoch
    if group.assignor:
        told["assignor"] = group.assignor
    members = list(group.members.values())
    told["members"] = [_member(m) for m in members]
    told |= _count(group)
    told["static"] = any(m.instance_id for m in members)
    if group.lag:
        told["lag"] = group.lag
        if all(v is not None for v in group.lag.values()):
            told["lag_total"] = sum(v or 0 for v in group.lag.values())
    told["at_least_partitions"] = group.partitions
    return told


def _count(group: Group) -> dict[str, Any]:
    if group.lists_members or group.count is not None or group.is_empty:
        return {"member_count": group.count if group.count is not None else len(group.members)}
    return {"member_count_seen": len(group.members)} if group.has_offsets else {}


def _member(member: Member) -> dict[str, Any]:
    told: dict[str, Any] = {"member_id": member.member_id, "client_id": member.client_id}
    if member.instance_id:
        told["instance_id"] = member.instance_id
    told["host"] = member.host
    if member.loose:
        told["partitions_without_topic"] = member.loose
    else:
        told["partitions"] = member.partitions
    return told
