"""A bounce of members, a few at a time: what rolling_bounce, deploy and kubectl_rollout come to."""

from __future__ import annotations

import math

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Overlay, RollingBounce
from rebalsim.scenario.common_language import MAX_CONSUMERS
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written, build
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.streams import deployed_config

MAX_DEPLOYED = 60_000  # members × deploys, over all variants
_SHARE_THAT_KUBERNETES_TAKES = 0.25


def roll(script: ScriptCast, written: Written, line: int, deployed: Written | None) -> Deed | None:
    """The bounce that an action comes to; None where it cannot be, which is said then."""
    found = script.seats_of(written, default_all=True, together=True)
    if not found:
        return None
    if deployed is not None and _deploys_too_many(script, written.node, len(found)):
        return None
    roster = _only_roster(script, written.node, [r for r, _ in found])
    if roster is None:
        return None
    how = written.get("as", "in-place")
    seats = [s for _, s in found]
    if deployed is not None and not written.get("members"):
        roster.deployed_to_all.append(deployed)
    pods = len(dict.fromkeys(s.process or s.name for s in seats))
    unavailable, surge = _limits(script, written, how, pods)
    if written.get("order", "reversed" if how == "statefulset" else "as-listed") == "reversed":
        seats.reverse()
    streams = None
    if deployed is not None:
        for seat in seats:
            seat.deployed.append(deployed)
    overlay: tuple[Consumer, ...] = ()
    newcomers: list[Seat] = []
    if how == "deployment":
        if not script.has_room(len(seats), written.node):
            return None
        newcomers = replacements(script, roster, seats, written.node, line)
    elif deployed is not None:
        overlay = tuple(script.started(roster, s) for s in seats)
    if deployed is not None:
        streams = deployed_config(script.resolver, roster.streams, seats[0].deployed)
    return build(
        RollingBounce,
        None,
        consumers=tuple(s.name for s in seats),
        max_unavailable=unavailable,
        surge=surge,
        surge_consumers=tuple(script.started(roster, s) for s in newcomers),
        down=written.get("down"),
        ready_after_us=written.get("ready_after", 0),
        ready_when_assigned=written.get("ready_when") == "assigned",
        settle_us=written.get("settle", 0),
        deploy=Overlay(overlay, streams),
        readiness=written.get("readiness"),
        deadline_us=written.get("deadline", 0),
    )


def _only_roster(script: ScriptCast, node: Node, found: list[Roster]) -> Roster | None:
    """The group whose members these are; None, and said, where they are of several."""
    rosters = list(dict.fromkeys(found))
    if len(rosters) > 1:
        script.out.add(
            node,
            f"There are {len(rosters)} groups, and a bounce is of one — add group: "
            f"{rosters[0].group}",
        )
        return None
    return rosters[0]


def _deploys_too_many(script: ScriptCast, node: Node, members: int) -> bool:
    """Each member that is given other settings is worked out anew, in every variant."""
    variants = script.resolver.story.get("replay", ())
    most = max(MAX_CONSUMERS, MAX_DEPLOYED // max(len(variants), 1))
    script.deployed += members
    if script.deployed > most:
        script.out.add(
            node,
            f"By here the script has deployed members {script.deployed:,} times — write at most "
            f"{most:,}: fewer deploys, members or variants",
        )
    return script.deployed > most


def replacements(
    script: ScriptCast, roster: Roster, seats: list[Seat], node: Node, line: int
) -> list[Seat]:
    """Pods with new names in the place of these, which are gone from here on."""
    made: list[Seat] = []
    pod_names: dict[str, str] = {}
    for old in seats:
        name, number = script.new_name(roster)
        process = ""
        if old.process:
            process = pod_names.setdefault(
                old.process, f"{roster.prefix}p{len(roster.seats) // roster.per_process}"
            )
        new = Seat(
            name,
            number,
            process,
            old.pod if not old.process else len(roster.seats) // roster.per_process,
            old.within,
            old.rack,
            tuple(layer for layer in old.layers),
            node,
            deployed=list(old.deployed),
        )
        if not old.process:
            new.pod = len(roster.seats)
        roster.seats[name] = new
        script.resolver.seats[name] = new
        made.append(new)
        old.is_running, old.gone_line, old.gone_how = False, line, "replaced"
    return made


def _limits(script: ScriptCast, written: Written, how: str, pods: int) -> tuple[int, int]:
    """How many may be away and how many more may run, rounded as Kubernetes does:
    unavailable down, surge up.
    """
    is_deployment = how == "deployment"
    count, share = written.get(
        "max_unavailable", (None, _SHARE_THAT_KUBERNETES_TAKES) if is_deployment else (1, None)
    )
    unavailable = count if count is not None else math.floor(pods * share)
    count, share = written.get(
        "surge", (None, _SHARE_THAT_KUBERNETES_TAKES) if is_deployment else (0, None)
    )
    surge = count if count is not None else math.ceil(pods * share)
    if "surge" in written and surge and not is_deployment:
        script.out.add(
            written.at["surge"],
            f"surge: {surge} needs new names, which only a deployment has — add as: "
            "deployment, or leave it out",
        )
    elif surge > pods:
        script.out.add(
            written.at["surge"],
            f"surge: {surge} is more than the {pods} that are bounced — write at most {pods}",
        )
    if unavailable > pods and "max_unavailable" in written:
        script.out.add(
            written.at["max_unavailable"],
            f"max_unavailable: {unavailable} is more than the {pods} that are bounced — "
            f"write at most {pods}",
        )
    if unavailable == 0 and surge == 0:
        if "max_unavailable" in written and share is None and not is_deployment:
            script.out.add(
                written.at["max_unavailable"],
                "Nobody may be away and nobody may come in addition, so this bounce would "
                "never move"
                " — allow one of the two",
            )
        unavailable = 1
    return unavailable, surge
