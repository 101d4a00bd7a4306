"""The stories that a preview plays, as scenarios' text: the roll from the old to the new, and the
group's usual day (a crash, a restart) before it and after it.
"""

from __future__ import annotations

from rebalsim.domain.client import ClientConfig
from rebalsim.scenario.config_language import CLASSIC_ONLY
from rebalsim.worlds.groups import Play, Pods, name_of
from rebalsim.worlds.rolls import AFTER, Roll, rolls_of
from rebalsim.worlds.streams_block import is_streams
from rebalsim.worlds.to_scenario import Happening

CRASH = "crash"
Lines = list[tuple[str, str]]


def day(title: str, plays: list[Play]) -> Happening:
    """One pod of each group dies and comes back; later everything is restarted as it stands."""
    lines: Lines = []
    for play in plays:
        victim = _first_member(play, plays)
        start, _ = play.start_seconds()
        if victim:
            lines.append((f"- at: {AFTER}s", "one pod dies, and is started again"))
            lines.append((f"  id: {CRASH}-{name_of(play.name)}", ""))
            back = max(1, start // 3)
            lines.append((f"  crash: {{member: {victim}, restart_after: {back}s}}", ""))
    begin = restart_begins(plays)
    last = begin
    for roll in rolls_of(plays, begin):
        lines += _rolled(roll, "rolling_bounce", roll.written())
        last = roll.begin + roll.longest_seconds
    return Happening(title, tuple(lines), last + 300)


def restart_begins(plays: list[Play]) -> int:
    """The second at which the crash is over for sure: a session, a start, and a while."""
    session = 45
    for play in plays:
        value = (play.consumer.settings if play.consumer else {}).get("session.timeout.ms")
        if value is not None and value.known:
            session = max(session, int(value.value) // 1000)
    return AFTER + 2 * session + 90


def _first_member(play: Play, plays: list[Play]) -> str:
    for pods in play.pods:
        if pods.count:
            is_one = pods.each == 1 or is_streams(play, plays)
            return f"{pods.name}-0" if is_one else f"{pods.name}-0-0"
    return ""


def roll(
    title: str,
    pairs: list[tuple[Play, Play]],
    restarts: dict[str, bool],
    configs: dict[str, ClientConfig],
) -> Happening:
    """From the old to the new, workload by workload: by the new files' rules of update, the new
    settings on the pods that come. `configs`: group → what its new members resolve to.
    """
    lines: Lines = []
    last = AFTER
    for old, new in pairs:
        for one in rolls_of([new], last):
            workload = workload_of(new, one)
            if restarts.get(workload, True):
                if is_streams(old, [o for o, _ in pairs]):
                    lines += _rolled(one, "rolling_bounce", one.written())
                else:
                    deployed = _deployed(one, old, new, configs.get(name_of(new.name)))
                    lines += _rolled(one, "deploy", deployed)
                last = one.begin + one.longest_seconds + 60
        before = sum(p.members for p in old.pods)
        after = sum(p.members for p in new.pods)
        if before != after:
            lines.append((f"- at: {last}s", f"members: {before} before, {after} after"))
            lines.append((f"  id: scale-{name_of(new.name)}", ""))
            lines.append((f"  scale: {{group: {name_of(old.name)}, to: {after}}}", ""))
            last += 120
    return Happening(title, tuple(lines), last + 300)


def workload_of(play: Play, one: Roll) -> str:
    """The workload that a roll replaces."""
    for pods in play.pods:
        if _is_of(one, pods) and pods.consumer is not None:
            return str(pods.consumer.workload or "")
    return ""


def _is_of(one: Roll, pods: Pods) -> bool:
    return one.id in ("rollout", f"rollout-{name_of(pods.name)}")


def _rolled(one: Roll, deed: str, written: str) -> Lines:
    return [
        (f"- at: {one.at}", one.why),
        (f"  id: {one.id}", ""),
        (f"  {deed}: {written}", ""),
    ]


def _deployed(one: Roll, old: Play, new: Play, config: ClientConfig | None) -> str:
    """The rollout's block with the new settings, and with the defaults of those that are gone."""
    parts = [one.written()[1:-1]]
    mine = next((p.consumer for p in new.pods if _is_of(one, p)), None)
    settings = {k: t for k, t, _ in new.settings(mine)}
    for key, _, _ in old.settings():
        if key in settings or config is None:
            continue
        if config.group_protocol == "consumer" and key in CLASSIC_ONLY:
            continue  # the old protocol's own: they end with it
        if text := _resolved(config, key):
            settings[key] = text
    if settings:
        inner = ", ".join(f"{k}: {t}" for k, t in settings.items())
        parts.append(f"config: {{{inner}}}")
    if old.client_name != new.client_name:
        parts.append(f"client: {new.client_name}")
    if new.instance and new.instance != old.instance:
        parts.append(f'group.instance.id: "{new.instance}"')
    if sorted(old.topics) != sorted(new.topics):
        parts.append(f"topics: [{', '.join(name_of(t) for t in new.topics)}]")
    life = ", ".join(f"{k}: {t}" for k, t, _ in new.life())
    parts.append(f"life: {{{life}}}")
    handler = [f"per_record: {new.handler}"]
    if new.commit:
        handler.append(f"commit: {new.commit[0]}")
    parts.append(f"handler: {{{', '.join(handler)}}}")
    return (
        "{"
        + ", ".join(parts).replace(f"group: {name_of(new.name)}", f"group: {name_of(old.name)}", 1)
        + "}"
    )


def _resolved(config: ClientConfig, key: str) -> str | None:
    """What a key resolves to where a file does not say it, as the language writes it."""
    name = key.replace(".", "_")
    if name.endswith("_ms"):
        value = getattr(config, f"{name[:-3]}_us", None)
        return None if value is None else str(value // 1000)
    value = getattr(config, name, None)
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value not in (None, "") else None
