"""What a rollout brings: the new version's settings, in the words of a script's deploy."""

from __future__ import annotations

from rebalsim.domain.client import ClientConfig
from rebalsim.preview import connect
from rebalsim.scenario.config_language import CLASSIC_ONLY
from rebalsim.scenario.streams_language import OF_ALL
from rebalsim.worlds.groups import Play, Pods, name_of
from rebalsim.worlds.rolls import Roll
from rebalsim.worlds.streams_block import is_streams, settings_of

Settings = dict[str, str]
_PULL = (1, 10)  # seconds, as the question says


def deployed(
    one: Roll,
    old: Play,
    new: Play,
    configs: dict[str, ClientConfig],
    pairs: list[tuple[Play, Play]],
) -> str:
    """What the rollout brings to the members that come, as its block says it."""
    config = configs.get(name_of(new.name))
    if connect.is_workers(new):
        return f"{connect.deployed(old, new)}, {_block('life', life_of(old, new))}"
    if is_streams(old, [o for o, _ in pairs]):
        return _of_streams(old, new, config)
    return _of_consumers(one, old, new, config)


def life_of(old: Play, new: Play) -> Settings:
    """How the new pods start and stop: a new image is pulled by each node first."""
    life = {key: text for key, text, _ in new.life()}
    if pulls(old, new):
        life["start"] = new.drawn_start(_PULL)
    return life


def pulls(old: Play, new: Play) -> bool:
    """Whether the new pods run another image."""
    before, after = old.consumer, new.consumer
    return before is not None and after is not None and before.image != after.image


def is_of(one: Roll, pods: Pods) -> bool:
    return one.id in ("rollout", f"rollout-{name_of(pods.name)}")


# ---- a Streams application ----
def _of_streams(old: Play, new: Play, config: ClientConfig | None) -> str:
    before, _ = settings_of(old)
    own, others = settings_of(new)
    brought = {key: text for key, text, _ in own if is_brought(key)}
    gone = {key: "null" for key, _, _ in before if key not in brought and is_brought(key)}
    parts = [_block("streams", {**gone, **brought})] if gone or brought else []
    theirs = _with_defaults({key: text for key, text, _ in others}, settings_of(old)[1], config)
    parts += [_block("config", theirs)] if theirs else []
    life = {k: t for k, t in life_of(old, new).items() if k in ("start", "stop", "grace")}
    return ", ".join([*parts, _block("life", life), f"handler: {{per_record: {new.handler}}}"])


def is_brought(key: str) -> bool:
    """Whether one instance may have another value of it than the next: a rollout brings it."""
    return key not in OF_ALL and not key.startswith(("rack.aware.", "streams."))


# ---- consumers ----
def _of_consumers(one: Roll, old: Play, new: Play, config: ClientConfig | None) -> str:
    """The new settings, and the defaults of those that are gone."""
    mine = next((p.consumer for p in new.pods if is_of(one, p)), None)
    settings = _with_defaults({k: t for k, t, _ in new.settings(mine)}, old.settings(), config)
    parts = [_block("config", settings)] if settings else []
    if old.client_name != new.client_name:
        parts.append(f"client: {new.client_name}")
    if new.instance and new.instance != old.instance:
        parts.append(f'group.instance.id: "{new.instance}"')
    if sorted(old.topics) != sorted(new.topics):
        parts.append(f"topics: [{', '.join(name_of(t) for t in new.topics)}]")
    parts.append(_block("life", life_of(old, new)))
    handler = {"per_record": new.handler}
    if new.commit:
        handler["commit"] = new.commit[0]
    return ", ".join([*parts, _block("handler", handler)])


def _block(name: str, settings: Settings) -> str:
    return f"{name}: {{{', '.join(f'{k}: {t}' for k, t in settings.items())}}}"


def _with_defaults(
    settings: Settings, before: list[tuple[str, str, str]], config: ClientConfig | None
) -> Settings:
    made = dict(settings)
    for key, _, _ in before:
        if key in made or config is None:
            continue
        if config.uses_consumer_protocol and key in CLASSIC_ONLY:
            continue  # the old protocol's own: they end with it
        if text := _resolved(config, key):
            made[key] = text
    return made


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
