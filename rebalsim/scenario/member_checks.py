"""What is wrong with a member's settings, beyond each value by itself: with its client, with the
brokers, with those beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Cluster
from rebalsim.scenario.config_language import CLASSIC_ONLY, OWN_CODE
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.own_code import common_protocol, protocols_of
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.profiles import ClientProfile
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.roster import PLACEHOLDERS, Roster, Seat
from rebalsim.scenario.source import shorten
from rebalsim.scenario.variants import Variant, variant_named
from rebalsim.words.lists import one_of

STRATEGY = "partition.assignment.strategy"
POLL_LIMIT = "max.poll.interval.ms"
REBALANCE_TIMEOUT = "rebalance.timeout.ms"
INSTEAD = {
    "session.timeout.ms": "set group.consumer.session.timeout.ms under cluster: config:, or leave it out",
    "heartbeat.interval.ms": "set group.consumer.heartbeat.interval.ms under cluster: config:, or leave "
    "it out",
    STRATEGY: "write group.remote.assignor, or leave it out",
}


class MemberChecks:
    """What is held against the settings of one member, or of all of a group."""

    def __init__(
        self, out: Problems, story: Written, variant: Variant, cluster: Cluster, code_from: str
    ) -> None:
        self.out = out
        self.story = story
        self.variant = variant
        self.cluster = cluster
        self.code_from = code_from

    def config(self, config: dict[str, Any], settings: Written | None, written: Written) -> None:
        if settings is None:
            return
        self._check_placeholders(settings)
        if config["group_protocol"] == "consumer":
            self._check_brokers_assignor(config, settings)
            return
        if "group.remote.assignor" in settings.values and self.variant.base in (
            "eager",
            "cooperative",
        ):
            self.out.add(
                place_in(settings, "group.remote.assignor"),
                "group.remote.assignor needs group.protocol: consumer — leave it out, or base the"
                " variant on consumer",
            )
        if any(
            key in settings.at and key not in settings.values
            for key in ("session.timeout.ms", "heartbeat.interval.ms", STRATEGY)
        ):
            return  # a value that cannot be read has been told already
        self._check_session(config["session_timeout_us"], config["heartbeat_interval_us"], settings)
        self._check_assignors(settings)

    def _check_placeholders(self, settings: Written) -> None:
        for key in ("group.instance.id", "client.id", "client.rack"):
            pattern = settings.get(key) or ""
            left = re.sub("|".join(map(re.escape, PLACEHOLDERS)), "", pattern)
            if "{" in pattern and ("{" in left or "}" in left):
                self.out.add(
                    place_in(settings, key),
                    f"'{shorten(pattern)}' holds braces that stand for nothing — only "
                    f"{', '.join(PLACEHOLDERS)} do",
                )

    def _check_brokers_assignor(self, config: dict[str, Any], settings: Written) -> None:
        """The assignor that members ask the brokers for, under the consumer protocol."""
        self._refuse_classic_keys(settings)
        assignor = config["group_remote_assignor"]
        known = self.cluster.config.group_consumer_assignors
        if assignor is not None and assignor not in known:
            self.out.add(
                place_in(settings, "group.remote.assignor"),
                f"The brokers have no assignor {assignor} — write one of group.consumer.assignors",
            )

    def _check_session(self, session: int, heartbeat: int, settings: Written) -> None:
        if heartbeat >= session:
            self.out.add(
                place_in(settings, "heartbeat.interval.ms", "session.timeout.ms"),
                f"heartbeat.interval.ms {say_us(heartbeat)} is not below session.timeout.ms "
                f"{say_us(session)}, so the client refuses to start — write a third of the "
                f"session, {say_us(session // 3_000 * 1_000)}",
            )
        brokers = self.cluster.config
        least, most = brokers.group_min_session_timeout_us, brokers.group_max_session_timeout_us
        if not least <= session <= most:
            side, bound = ("below", least) if session < least else ("above", most)
            key = f"group.{'min' if session < least else 'max'}.session.timeout.ms"
            self.out.add(
                place_in(settings, "session.timeout.ms"),
                f"session.timeout.ms {say_us(session)} is {side} the brokers' {key}, "
                f"{say_us(bound)}, so the member cannot join — write {say_us(bound)}, or change "
                "the bound under cluster: config:",
            )

    def client(
        self, profile: ClientProfile, protocol: str, assignors: tuple[str, ...], written: Written
    ) -> None:
        """Notes settings that this client does not have, or would refuse."""
        settings: Written = written.get("config") or written
        who = profile.says
        if not profile.habits.has_poll_limit and POLL_LIMIT in settings.values:
            self.out.add(
                place_in(settings, POLL_LIMIT),
                f"{who} has no max.poll.interval.ms: a stuck handler never leaves the group — "
                "leave it out",
            )
        if not profile.habits.has_rebalance_timeout and REBALANCE_TIMEOUT in settings.values:
            waits = "its session" if profile.habits.rebalance_timeout == "session" else POLL_LIMIT
            self.out.add(
                place_in(settings, REBALANCE_TIMEOUT),
                f"{who} has no rebalance.timeout.ms: a rebalance waits for {waits} — leave it out",
            )
        if protocol == "consumer":
            return
        is_ours = STRATEGY in settings.at  # else the variant asks for it
        place = (
            settings.at[STRATEGY]
            if is_ours
            else self.variant.node or place_in(written, "client_version", "client")
        )
        unknown = [a for a in assignors if profile.allows and a not in profile.allows]
        if unknown:
            way_out = (
                f"write {one_of(profile.allows)}"
                if is_ours
                else f"leave {self.variant.name} out of replay"
            )
            self.out.add(place, f"{who} {profile.version} has no assignor {unknown[0]} — {way_out}")
        elif (
            not profile.mixes_protocols and "cooperative-sticky" in assignors and len(assignors) > 1
        ):
            others = ", ".join(a for a in assignors if a != "cooperative-sticky")
            self.out.add(
                place,
                f"{who} refuses a list with cooperative-sticky beside {others}: all of it must "
                "be eager or cooperative — list the one or the"
                " other; a group changes between them only when it is stopped",
            )

    def own(self, written: Written) -> None:
        """Notes what is wrong in the file itself, whatever a variant makes of it."""
        settings: Written | None = written.get("config")
        if settings is None:
            return
        if settings.get("group.protocol") == "consumer":
            self._refuse_classic_keys(settings)
            return
        self._check_assignors(settings)
        bases = [variant_named(name, block).base for name, block, _ in self.story.get("replay", ())]
        if "group.remote.assignor" in settings.values and "consumer" not in bases:
            self.out.add(
                place_in(settings, "group.remote.assignor"),
                "group.remote.assignor needs group.protocol: consumer — leave it out, or put "
                "consumer into replay",
            )

    def _check_assignors(self, settings: Written) -> None:
        assignors = settings.get(STRATEGY)
        if assignors is None:
            return
        node = place_in(settings, STRATEGY)
        for assignor in assignors:
            if OWN_CODE.fullmatch(assignor) and isinstance(
                why := protocols_of(assignor, self.code_from), str
            ):
                self.out.add(node, why)
                return
        if not common_protocol(assignors, self.code_from):
            self.out.add(
                node,
                f"The assignors {', '.join(assignors)} have no protocol in common (eager or "
                "cooperative), so the client refuses"
                " to start — list assignors that share one",
            )
        if len(dict.fromkeys(assignors)) != len(assignors):
            self.out.add(
                node,
                "An assignor is listed twice, so the client refuses to start — keep one of the two",
            )

    def _refuse_classic_keys(self, settings: Written) -> None:
        for key in CLASSIC_ONLY:
            if key in settings.values:
                self.out.add(
                    place_in(settings, key),
                    f"{key} does not exist under group.protocol: consumer — {INSTEAD[key]}",
                )

    def state(self, state: Written | None) -> None:
        if state is None:
            return
        for key in ("changes", "checkpoint"):
            if key in state.at and state.get("survives", "nothing") == "nothing":
                self.out.add(
                    state.at[key],
                    f"{key} counts only where the state survives — add survives: restart",
                )
        if (
            state.get("per_partition")
            and "restore" not in state
            and "flush" not in state
            and not state.is_bad
        ):
            self.out.add(
                state.at["per_partition"],
                "How fast the state is restored is not said — add restore: 50MB/s",
            )

    def members(
        self,
        roster: Roster,
        consumers: list[Consumer],
        parts_of: Callable[[Roster, Seat], Any],
    ) -> None:
        """Notes what members of one group cannot have side by side."""

        def settings_of(consumer: Consumer) -> Written | None:
            found: Written | None = parts_of(roster, roster.seats[consumer.name]).written.get(
                "config"
            )
            return found

        starting = [c for c in consumers if c.starts_at is not None]
        self._check_instances(starting, settings_of)
        classic = [c for c in starting if c.config.uses_classic_protocol]
        if classic:
            self._check_common(classic, settings_of, roster)

    def _check_instances(
        self, starting: list[Consumer], settings_of: Callable[[Consumer], Written | None]
    ) -> None:
        """Each instance id is a valid one, and no two members share it."""
        holders: dict[str, Consumer] = {}
        for consumer in starting:
            static = consumer.config.group_instance_id
            if static is None:
                continue
            is_id = re.fullmatch(r"[a-zA-Z0-9._\-]{1,249}", static) or "{" in static
            if static not in holders and is_id:
                holders[static] = consumer
                continue
            why = (
                f"{holders[static].name} and {consumer.name} would both be '{shorten(static)}', and "
                'the later one fences the earlier — make it differ, as in "orders-{n}"'
                if static in holders
                else f"'{shorten(static)}' is no instance id — use letters, digits, '.', '_' and '-'"
            )
            self.out.add(place_in(settings_of(consumer), "group.instance.id"), why)
            return

    def _check_common(
        self,
        classic: list[Consumer],
        settings_of: Callable[[Consumer], Written | None],
        roster: Roster,
    ) -> None:
        """The members have at least one assignor in common."""
        first = classic[0].config.partition_assignment_strategy
        common = list(first)
        for consumer in classic[1:]:
            offered = consumer.config.partition_assignment_strategy
            if offered == first:
                continue
            left = [a for a in common if a in offered]
            if not left:
                settings = settings_of(consumer)
                seat = roster.seats[consumer.name].node
                self.out.add(
                    place_in(settings, STRATEGY) if settings is not None else seat,
                    f"{consumer.name} offers {', '.join(offered)}, and those before it "
                    f"{', '.join(common)}: without one in common it is refused"
                    " — list an assignor that all have",
                )
                return
            common = left


def place_in(written: Written | None, *keys: str) -> Node:
    """Where the first of these keys that is written stands, else the block."""
    assert written is not None
    for key in keys:
        if key in written.at:
            return written.at[key]
    return written.node
