"""The groups to play, out of the consumers that were understood and of live listings: consumers of one
group id are one group, each workload its pods and members.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rebalsim.domain.pattern import BadPattern, matcher_of
from rebalsim.worlds.asks import QUESTIONS, is_refused
from rebalsim.worlds.groups import Play, Pods, sure_of
from rebalsim.worlds.live.listings import Group as LiveGroup
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Value, inferred, stated, unknown


def groups_of(made: Understood) -> list[Play]:
    """One play a group; consumers whose group nobody knows are never taken for one."""
    plays: dict[str, Play] = {}
    names: set[str] = set()
    for number, consumer in enumerate(made.consumers):
        if is_refused(consumer):
            continue
        for name, count in _group_names(consumer, number):
            pods = _pods(consumer, names, count)
            topics, why = _topics(consumer, pods.name, made)
            if name in plays:
                play = plays[name]
                play.pods.append(pods)
                play.topics += [t for t in topics if t not in play.topics]
                continue
            plays[name] = Play(name, consumer.group, [pods], topics, why, consumer)
            plays[name].client = consumer.client
    for play in plays.values():
        _with_live(play, made)
    if not plays:
        plays = {g.name: _live_play(g) for g in made.listed.groups.values() if _is_playable(g)}
    return list(plays.values())


def _group_names(consumer: Consumer, number: int) -> list[tuple[str, int | None]]:
    """The group's id; a pod's name makes one group a pod."""
    if consumer.group.known and "{pod}" not in str(consumer.group.value):
        return [(str(consumer.group.value), None)]
    base = _base_name(consumer, number)
    if consumer.group.known:
        count = consumer.replicas.value if consumer.replicas and consumer.replicas.known else 1
        return [(f"{base}-{n}", 1) for n in range(min(int(count or 1), 50))]
    return [(f"{base}-group" if base else f"group-{number}", None)]


def _base_name(consumer: Consumer, number: int) -> str:
    label = (consumer.workload or "").split(" ")[0].rpartition("/")[2] or consumer.name or ""
    if not label and consumer.group.known and "{" not in str(consumer.group.value):
        label = str(consumer.group.value)
    clean = re.sub(r"[^a-zA-Z0-9._\-]", "-", label).strip("-.")
    return clean or (f"client-{number}" if number else "client")


def _unlike(base: str, names: set[str]) -> str:
    """A name whose numbered pods are called like nobody else's."""
    for number in range(1, 1000):
        name = base if number == 1 else f"{base}.{number}"
        if not any(
            name == n
            or re.fullmatch(rf"{re.escape(n)}-\d+", name)
            or re.fullmatch(rf"{re.escape(name)}-\d+", n)
            for n in names
        ):
            return name
    return f"{base}.{len(names) + 1000}"


def _pods(consumer: Consumer, names: set[str], count: int | None) -> Pods:
    base = _base_name(consumer, len(names))
    base = _unlike(base, names)
    names.add(base)
    replicas = consumer.replicas
    question = QUESTIONS["replicas"]
    if consumer.is_sink:
        tasks = int(consumer.members.value) if consumer.members.known else 1
        why = f"{sure_of(consumer.members)}: tasks, over all workers"
        return Pods(base, max(1, min(tasks, 500)), 1, consumer, why, "")
    if count is not None:
        pods, why = count, "a group a pod: the group's id is the pod's name"
    elif replicas is not None and replicas.known:
        pods, why = int(replicas.value), sure_of(replicas)
    else:
        pods = 3
        why = f"ASK: {question.what}: {question.how} · assumed: {question.why}"
    each = int(consumer.members.value) if consumer.members.known else 1
    each_why = sure_of(consumer.members)
    if not consumer.members.known:
        asked = QUESTIONS["members_per_pod"]
        why += f"; ASK: {asked.what}: {asked.how}"
    return Pods(base, max(0, min(pods, 500)), max(1, min(each, 100)), consumer, why, each_why)


def _topics(consumer: Consumer, base: str, made: Understood) -> tuple[list[str], str]:
    """The topics that a consumer is told to read; else the declared ones that nobody else is told
    to.
    """
    if consumer.topics.known and consumer.topics.value and not consumer.reading.is_pattern:
        return list(dict.fromkeys(consumer.topics.value)), sure_of(consumer.topics)
    question = QUESTIONS["topics"]
    if consumer.reading.is_pattern and (fitting := matching(consumer.topics.value or [], made)):
        return fitting, f"{sure_of(consumer.topics)}: of the declared ones those that fit"
    if scaled := _scaled_by(consumer, made):
        return [scaled], "inferred: its scaler looks at this topic"
    taken = {t for c in made.consumers if c.topics.known for t in c.topics.value or ()}
    free = [t for t in made.topics if t not in taken]
    if free and not made.listed.topics:
        why = f"inferred: declared among the files; ASK: {question.what}: {question.how}"
        return free, why
    return [f"{base}-topic"], f"ASK: {question.what}: {question.how}"


def matching(patterns: Iterable[str], made: Understood) -> list[str]:
    """The declared topics that an expression fits."""
    found = []
    for pattern in patterns:
        try:
            fits = matcher_of(str(pattern))
        except BadPattern:
            continue
        found += [t for t in made.topics if fits.matches(str(t))]
    return list(dict.fromkeys(found))


def _scaled_by(consumer: Consumer, made: Understood) -> str | None:
    """The topic on whose lag the consumer's workload is scaled, where its own group's is meant."""
    for scaling in made.scalings:
        if not (scaling.target and scaling.target in str(consumer.workload or "")):
            continue
        for trigger in scaling.triggers:
            if trigger.topic and (
                not consumer.group.known or trigger.group in (None, consumer.group.value)
            ):
                return trigger.topic
    return None


def _with_live(play: Play, made: Understood) -> None:
    """What a listing of the same group adds: its topics, the assignor in use."""
    live = made.listed.groups.get(play.name)
    if live is None:
        return
    play.live = live
    if play.topics_why.startswith("ASK") and live.partitions:
        play.topics, play.topics_why = list(live.partitions), "a listing of the group"


def _is_playable(group: LiveGroup) -> bool:
    return bool(group.members or group.count or group.partitions)


def _live_play(group: LiveGroup) -> Play:
    """A group of which only a listing is known: its members as they stand."""
    count = group.count if group.count is not None else len(group.members)
    why = "a listing"
    if not group.lists_members and group.count is None and not group.is_empty:
        why = f"a listing; ASK: {QUESTIONS['member_count'].why}: {QUESTIONS['member_count'].how}"
    if not count:
        count, why = 3, f"ASK: the group is empty: {QUESTIONS['replicas'].how}"
    clients = " ".join(m.client_id for m in group.members.values())
    topics = list(group.partitions) or [f"{group.name}-topic"]
    play = Play(
        group.name,
        stated(group.name, "a listing"),
        [Pods(re.sub(r"[^a-zA-Z0-9._\-]", "-", group.name), count, 1, None, why, "")],
        topics,
        "a listing" if group.partitions else f"ASK: {QUESTIONS['topics'].how}",
        None,
        group,
    )
    play.client = client_by_ids(clients)
    return play


def client_by_ids(text: str) -> Value:
    """The client by the CLIENT-IDs that a listing shows."""
    for sign, client in (
        (r"StreamThread-\d+-consumer", "streams"),
        (r"\brdkafka\b", "librdkafka"),
        (r"\bsarama\b", "sarama"),
        (r"\baiokafka-", "aiokafka"),
        (r"\bkafka-python-", "kafka-python"),
        (r"\bconsumer-\S+-\d+", "java"),
    ):
        if re.search(sign, text):
            return inferred(client, "the listing's CLIENT-IDs")
    return unknown("no sign in the listing")
