"""A Kafka Streams application in the scenario: its members are the instances, its threads and standbys
are settings, and what its files never tell (topology and stores) is asked for.
"""

from __future__ import annotations

from rebalsim.scenario.streams_language import STREAMS_CONFIG
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.words import milliseconds

_PLAYED_OF_LIFE = ("start", "stop", "grace", "preStop", "startupProbe", "restartPolicy")
Lines = list[tuple[str, str]]
_ASKED = QUESTIONS["stores"]
_STORES = f"ASK: {_ASKED.what}: {_ASKED.how} · assumed: {_ASKED.assumed}"


def is_streams(play: Play, plays: list[Play]) -> bool:
    """Whether a group is played as a Streams application: it must be alone in its story."""
    return len(plays) == 1 and len(play.pods) == 1 and play.client.value == "streams"


def lines_of(play: Play) -> Lines:
    """The group's block, from its members to its life."""
    lines: Lines = [("members:", "")]
    for pods in play.pods:
        lines.append((f'  "{pods.name}-{{n}}": {{count: {pods.count}}}', f"instances: {pods.why}"))
    lines.append((f"topics: [{', '.join(name_of(t) for t in play.topics)}]", play.topics_why))
    if play.instance:
        lines.append((f'group.instance.id: "{play.instance}"', play.instance_why))
    own, others = settings_of(play)
    if others:
        lines.append(("config:", ""))
        lines += [(f"  {key}: {text}", why) for key, text, why in others]
    lines += [("streams:", play.client.source), ("  topology:", _STORES)]
    lines += [(f"    - {{source: {name_of(topic)}}}", "") for topic in play.topics]
    if own:
        lines.append(("  config:", ""))
        lines += [(f"    {key}: {text}", why) for key, text, why in own]
    kept, why = _volume(play)
    lines.append((f"  volume: {kept}", why))
    lines.append(("life:", ""))
    return lines + [(f"  {k}: {t}", why) for k, t, why in play.life() if k in _PLAYED_OF_LIFE]


def settings_of(play: Play) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Streams' own settings, and those of its consumers."""
    known = set(STREAMS_CONFIG.fields)
    told = play.consumer.settings if play.consumer else {}
    own = []
    for name, value in told.items():
        text = str(value.value).strip()
        if name not in known or not value.known or not text:
            continue
        if name.endswith(".ms") and milliseconds(text) is not None:
            text = str(milliseconds(text))
        own.append((name, text, value.source))
    threads = play.pods[0].each
    if threads > 1 and "num.stream.threads" not in told:
        own.insert(0, ("num.stream.threads", str(threads), play.pods[0].each_why))
    others = [line for line in play.settings() if line[0] not in known]
    left = ("partition.assignment.strategy", "enable.auto.commit")  # Streams sets these itself
    return own, [line for line in others if line[0] not in left]


def _volume(play: Play) -> tuple[str, str]:
    """Whether an instance that comes back finds its state."""
    consumer = play.pods[0].consumer
    template = consumer.template if consumer is not None else ""
    if "volumeClaimTemplates" in template or "persistentVolumeClaim" in template:
        return "kept", "a volume claim"
    if consumer is not None and (consumer.workload or "").startswith("StatefulSet/"):
        return (
            "kept",
            "ASK: whether state.dir is on a volume that stays · assumed for a StatefulSet",
        )
    return (
        "lost",
        "ASK: whether state.dir is on a volume that stays · assumed: it is the container's",
    )
