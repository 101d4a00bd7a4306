"""A deploy that changes the assignor or the protocol is a migration: what Kafka refuses of it, and
what it is where Kafka takes it.

While old and new members run side by side, the group must find something that all of them speak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rebalsim.domain.client import ClientConfig
from rebalsim.preview.connect import is_workers
from rebalsim.scenario.config_language import CLASSIC_ONLY
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.understood import Understood

Configs = Mapping[str, ClientConfig]
Pairs = list[tuple[Play | None, Play | None]]
_FIRST_BROKER = (4, 0)  # of the consumer protocol, switched on as it is shipped
_COOPERATIVE = "cooperative-sticky"


@dataclass(frozen=True, slots=True)
class Move:
    """One group's settings before and after, as its members resolve them."""

    name: str
    old: ClientConfig
    new: ClientConfig
    overlaps: bool  # old and new members run side by side for a while
    play: Play

    @property
    def is_classic(self) -> bool:
        return self.old.uses_classic_protocol and self.new.uses_classic_protocol

    @property
    def in_common(self) -> tuple[str, ...]:
        theirs = self.new.partition_assignment_strategy
        return tuple(a for a in self.old.partition_assignment_strategy if a in theirs)


def moves_of(pairs: Pairs, before: Configs, after: Configs) -> list[Move]:
    """The groups that stay, with what their members are set to."""
    found = []
    for old, new in pairs:
        if old is None or new is None or old.name != new.name or is_workers(new):
            continue
        one, other = before.get(name_of(old.name)), after.get(name_of(new.name))
        if one is not None and other is not None:
            found.append(Move(new.name, one, other, _overlaps(new), new))
    return found


def _overlaps(play: Play) -> bool:
    """Recreate ends all old pods before a new one begins."""
    updates = [p.consumer.update for p in play.pods if p.consumer and p.consumer.update]
    return not updates or any(u.type != "Recreate" for u in updates)


# ---- refused ----
def refusals(moves: list[Move], made: Understood) -> tuple[str, ...]:
    """What a client or a broker says no to."""
    return tuple(said for move in moves for said in _refused(move, made))


def _refused(move: Move, made: Understood) -> Iterator[str]:
    if move.overlaps and move.is_classic and not move.in_common:
        mine, theirs = (", ".join(c.partition_assignment_strategy) for c in (move.old, move.new))
        yield (
            f"{move.name}: old members offer {mine}, new ones {theirs}: "
            "with no assignor in common the new ones cannot join (InconsistentGroupProtocol) — "
            "deploy twice, first with both"
        )
    if move.new.uses_consumer_protocol:
        yield from _of_consumer_protocol(move)
    if move.overlaps and move.old.group_protocol != move.new.group_protocol:
        yield from _of_policy(move, made)


def _of_consumer_protocol(move: Move) -> Iterator[str]:
    told = move.play.consumer.settings if move.play.consumer else {}
    wrong = [key for key in CLASSIC_ONLY if key in told and told[key].known]
    if wrong:
        places = ", ".join(f"{key} ({told[key].source})" for key in wrong)
        yield (
            f"{move.name}: under group.protocol=consumer the client does not start while "
            f"{places} {'is' if len(wrong) == 1 else 'are'} set — take "
            f"{'it' if len(wrong) == 1 else 'them'} out: the brokers have settings in their stead"
        )


def refused_by_brokers(plays: list[Play], made: Understood) -> tuple[str, ...]:
    """Groups of the consumer protocol on brokers that do not speak it: nothing can be played."""
    version = made.kafka_version
    if version is None or not version.known:
        return ()
    numbers = tuple(int(n) for n in re.findall(r"\d+", str(version.value))[:2])
    if not numbers or numbers >= _FIRST_BROKER:
        return ()
    return tuple(
        f"{play.name}: group.protocol=consumer needs brokers of 4.0 or newer, and these "
        f"are {version.value} ({version.source}): UnsupportedVersionException"
        for play in plays
        if any(key == "group.protocol" and said == "consumer" for key, said, _ in play.settings())
    )


def _of_policy(move: Move, made: Understood) -> Iterator[str]:
    """group.consumer.migration.policy, where the files hold the brokers' settings."""
    key = "group.consumer.migration.policy"
    value = made.broker_settings.get(key)
    if value is None or not value.known:
        return
    policy = str(value.value).lower()
    wanted = "upgrade" if move.new.uses_consumer_protocol else "downgrade"
    if policy not in (wanted, "bidirectional"):
        yield (
            f"{move.name}: {key} is {policy} ({value.source}), so the brokers do not take a group "
            f"from {move.old.group_protocol} to {move.new.group_protocol} while it has members — "
            f"set it to {wanted}, or deploy by Recreate"
        )


# ---- Kafka Streams ----
def without_live_migration(pairs: Pairs) -> tuple[str, ...]:
    """Streams applications whose protocol changes under instances that run: nobody takes both."""
    return tuple(
        f"{new.name}: no live road leads from group.protocol={before} to {after}: while members of "
        f"the one are in the group those of the other end ({_ended_by(after)}), however often they "
        "are started again — stop all instances, wait until the group is empty, and start the new "
        "ones"
        for new, before, after in _protocols_of_streams(pairs)
        if _overlaps(new)
    )


def emptied_first(pairs: Pairs) -> tuple[str, ...]:
    """… or while all of them are stopped, which leaves a classic group in its own time."""
    return tuple(
        f"{new.name}: goes from group.protocol={before} to {after} through an empty group. "
        "close() leaves no classic group: instances that come before the last old session has run "
        f"out end ({_ended_by(after)}), and come back only where somebody starts them again"
        for new, before, after in _protocols_of_streams(pairs)
        if not _overlaps(new) and before != "streams"
    )


def _ended_by(after: str) -> str:
    """What a group of the other protocol answers to those who come to it."""
    is_new = after == "streams"
    return "GroupIdNotFoundException" if is_new else "InconsistentGroupProtocolException"


def _protocols_of_streams(pairs: Pairs) -> Iterator[tuple[Play, str, str]]:
    for old, new in pairs:
        if old is None or new is None or new.client.value != "streams":
            continue
        before, after = _protocol(old), _protocol(new)
        if before != after:
            yield new, before, after


def _protocol(play: Play) -> str:
    told = play.consumer.settings.get("group.protocol") if play.consumer else None
    return str(told.value).lower() if told is not None and told.known else "classic"


# ---- what it is ----
def told(moves: list[Move]) -> tuple[str, ...]:
    """Each migration in a sentence or two."""
    return tuple(said for move in moves for said in _told(move))


def _told(move: Move) -> Iterator[str]:
    if move.old.group_protocol != move.new.group_protocol:
        yield _of_protocols(move)
    elif move.is_classic and move.old.partition_assignment_strategy != (
        move.new.partition_assignment_strategy
    ):
        if not move.overlaps:
            yield (
                f"{move.name}: all old members are gone before the first new one joins, so the "
                "assignors need nothing in common"
            )
        elif move.in_common:
            yield _of_assignors(move)


def _of_protocols(move: Move) -> str:
    if not move.overlaps:
        return (
            f"{move.name}: moves to the {move.new.group_protocol} protocol while it is empty: all "
            "old members are gone before the first new one joins"
        )
    if move.new.uses_consumer_protocol:
        return (
            f"{move.name}: a live migration to the consumer protocol (KIP-848): the first new "
            "member converts the group, and from then on the brokers assign; old members go on "
            "as classic ones until they are replaced. The way back is the same deploy reversed"
        )
    return (
        f"{move.name}: a live migration back to the classic protocol: new members join as classic "
        "ones, and the group is converted when the last member of the consumer protocol has left"
    )


def _of_assignors(move: Move) -> str:
    old, new = _mode(move.old), _mode(move.new)
    now = f"while both run, they use {move.in_common[0]}, which all of them offer"
    if old == new == "eager" and _COOPERATIVE in move.new.partition_assignment_strategy:
        return (
            f"{move.name}: the first of two deploys towards cooperative rebalancing: {now}. With "
            "an eager assignor still in the list every member still gives up everything at each "
            f"rebalance; a second deploy, with {_COOPERATIVE} alone, ends that"
        )
    if (old, new) == ("eager", "cooperative"):
        return (
            f"{move.name}: the second of two deploys towards cooperative rebalancing: {now}. From "
            "this one on members keep what does not move"
        )
    if (old, new) == ("cooperative", "eager"):
        return (
            f"{move.name}: back to eager rebalancing: {now}, and then give up everything each time"
        )
    return f"{move.name}: another assignor: {now}"


def _mode(config: ClientConfig) -> str:
    """A member is cooperative only if all that it offers is."""
    offered = config.partition_assignment_strategy
    return "cooperative" if all(a == _COOPERATIVE for a in offered) else "eager"
