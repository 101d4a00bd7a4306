"""Layers of settings upon each other: what a variant, a client or a deploy changes of what stands
below, and what it leaves behind.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.client import ClientConfig
from rebalsim.scenario.config_language import CLASSIC_ONLY, CONFIG, CONSUMER_ONLY
from rebalsim.scenario.kinds import Written, merge
from rebalsim.scenario.member_checks import (
    INSTEAD,
    POLL_LIMIT,
    REBALANCE_TIMEOUT,
    STRATEGY,
    place_in,
)
from rebalsim.scenario.own_code import common_protocol
from rebalsim.scenario.profiles import (
    CLIENTS,
    DEFAULT_CLIENT,
    DEFAULT_KAFKA,
    ClientProfile,
    client_profile,
)
from rebalsim.scenario.resolve_topics import TopicResolver

_INSTEAD_SAID = {
    "session.timeout.ms": "the brokers' group.consumer.session.timeout.ms decides",
    "heartbeat.interval.ms": "the brokers' group.consumer.heartbeat.interval.ms decides",
    STRATEGY: "the broker assigns, by group.remote.assignor",
}


class LayerResolver(TopicResolver):
    """The part of resolving that lays layers."""

    def _as_variant(self, written: Written) -> Written:
        variant = self.variant
        if variant.base in ("eager", "cooperative"):
            written = self._for_classic_protocol(written, variant.base)
        elif variant.base == "consumer":
            settings = written.get("config")
            values = dict(settings.values) if settings is not None else {}
            values["group.protocol"] = "consumer"
            written = _with_config(self._for_consumer_protocol(written), values)
        if variant.layer is not None:
            written = self._lay(written, variant.layer)
        return written

    def _for_classic_protocol(self, written: Written, base: str) -> Written:
        """With assignors of this kind: its own, where they are, unless somebody set them by hand."""
        profile = self._profile(written)
        config = ClientConfig() if isinstance(profile, str) else profile.config
        usual = config.partition_assignment_strategy
        settings = written.get("config")
        if settings is None:
            current, is_set, values = usual, False, {}
        else:
            current = settings.get(STRATEGY) or usual
            is_set = STRATEGY in settings.at and settings.at[STRATEGY].source.is_override
            values = {k: v for k, v in settings.values.items() if k not in CONSUMER_ONLY}
            if settings.get("group.protocol") == "consumer":
                values["group.protocol"] = "classic"
        keeps = common_protocol(current, self.code_from) == base
        wanted = current if keeps else ("range" if base == "eager" else "cooperative-sticky",)
        if not is_set and wanted != current:
            values[STRATEGY] = wanted
        return _with_config(written, values)

    def _lay(self, base: Written, over: Written) -> Written:
        """A layer upon the ones below. One that turns to the other protocol leaves behind what
        that refuses, if it is inherited.
        """
        if protocol_of(over) == "consumer" and protocol_of(base) != "consumer":
            base = self._for_consumer_protocol(base)
        elif protocol_of(over) == "classic" and (settings := base.get("config")) is not None:
            base = _with_config(
                base, {k: v for k, v in settings.values.items() if k not in CONSUMER_ONLY}
            )
        return _lay(base, over)

    def _for_consumer_protocol(self, written: Written) -> Written:
        """The overlay drops what the consumer protocol refuses, and says so."""
        settings = written.get("config")
        dropped = [k for k in CLASSIC_ONLY if settings is not None and k in settings.values]
        if settings is None or not dropped:
            return written
        over = self.variant.layer.get("config") if self.variant.layer is not None else None
        for key in dropped:
            if over is not None and key in over.at and settings.at.get(key) is over.at[key]:
                self.out.add(
                    over.at[key],
                    f"{key} does not exist under the consumer protocol, on which this variant is "
                    f"based — {INSTEAD[key]}",
                )
            elif over is None or key not in over.unset:
                kind = settings.section.fields[key].kind
                self.notes[
                    f"{key}: {kind.say(settings.values[key])} is dropped: the consumer protocol "
                    f"refuses it ({_INSTEAD_SAID[key]})."
                ] = None
        return _with_config(written, {k: v for k, v in settings.values.items() if k not in dropped})

    def _for_client(self, written: Written, profile: ClientProfile) -> Written:
        """The overlay that puts another client in the members' place drops what that one has
        not, and says so.
        """
        layer, settings = self.variant.layer, written.get("config")
        if (
            layer is None
            or settings is None
            or "client" not in layer.at
            or written.at.get("client") is not layer.at["client"]
        ):
            return written
        own = layer.get("config")
        habits = profile.habits
        dropped = [
            key
            for key, has, why in (
                (POLL_LIMIT, habits.has_poll_limit, ", and a stuck handler never leaves the group"),
                (REBALANCE_TIMEOUT, habits.has_rebalance_timeout, " of its own"),
            )
            if not has
            and key in settings.values
            and (own is None or key not in own.at)
            and self._note_dropped(settings, key, f"{profile.client} has none{why}.")
        ]
        if not dropped:
            return written
        kept = {k: v for k, v in settings.values.items() if k not in dropped}
        return _with_config(written, kept)

    def _note_dropped(self, settings: Written, key: str, why: str) -> bool:
        said = settings.section.fields[key].kind.say(settings.values[key])
        self.notes[f"{key}: {said} is dropped: {why}"] = None
        return True

    def _profile(self, written: Written) -> ClientProfile | str:
        return client_profile(
            written.get("client", DEFAULT_CLIENT),
            written.get("client_version", ""),
            self.broker_profile.version,
        )

    def _client(self, written: Written) -> ClientProfile:
        found = self._profile(written)
        if isinstance(found, str):
            self.out.add(
                place_in(
                    written,
                    "client_version"
                    if "version" in found.split("—")[0].lower() and "client_version" in written.at
                    else "client",
                ),
                found,
            )
            return CLIENTS[DEFAULT_CLIENT, DEFAULT_KAFKA]
        return found


def _lay(base: Written, over: Written) -> Written:
    """A layer upon the ones below; subscribing by pattern replaces subscribing by name, and the
    other way round.
    """
    made = merge(base, over)
    for one, other in (("pattern", "topics"), ("topics", "pattern")):
        if one in over.values and other in base.values and other not in over.values:
            made = Written(
                made.node,
                made.section,
                {k: v for k, v in made.values.items() if k != other},
                made.at,
                made.is_bad,
                made.unset,
            )
    return made


def protocol_of(written: Written) -> str:
    settings = written.get("config")
    return str(settings.get("group.protocol", "")) if settings is not None else ""


def _with_config(written: Written, values: dict[str, Any]) -> Written:
    settings = written.get("config")
    node = settings.node if settings is not None else written.node
    at = (
        {
            k: v
            for k, v in settings.at.items()
            if k not in values or values[k] == settings.values.get(k, values[k])
        }
        if settings is not None
        else {}
    )
    is_bad, unset = (settings.is_bad, settings.unset) if settings is not None else (False, {})
    return Written(
        written.node,
        written.section,
        {**written.values, "config": Written(node, CONFIG, values, at, is_bad, unset)},
        written.at,
        written.is_bad,
        written.unset,
    )
