"""A rollout by Kubernetes' own rules."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.kubernetes import Recreate
from rebalsim.domain.script import Overlay, RollingBounce
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.kubernetes import ROLLOUT_FIELDS, as_bounce, read_recreate
from rebalsim.scenario.member_language import TEMPLATE_FIELDS, one_subscription, under_config
from rebalsim.scenario.rolling import roll
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast

_DEPLOYED = (
    "client",
    "client_version",
    "config",
    "topics",
    "pattern",
    "handler",
    "listener",
    "life",
)
SECTION = Section(
    "kubectl_rollout",
    (*ROLLOUT_FIELDS, *TEMPLATE_FIELDS),
    "A rollout by Kubernetes' own rules and names; with settings, the new pods have these.",
    allows_nothing=True,
    elsewhere=under_config,
    after=one_subscription,
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written, default_all=True)
    if not found:
        return None
    roster, seat = found[0]
    start = script.started(roster, seat).life.start
    start_us = round(start.a if start.shape != "uniform" else (start.a + start.b) / 2)
    deployed = any(key in written for key in _DEPLOYED)
    seats = [s for _, s in found]
    partition = written.get("partition", 0)
    kept = seats[partition:]
    if not kept:
        return None  # ordinals below the partition stay as they are: all of them
    members = tuple((s.name, written.node) for s in kept) if partition else None
    bounce = as_bounce(written, start_us, members)
    if written.get("type") == "OnDelete":
        return _on_delete(script, written, found, bounce if deployed else None)
    if written.get("type") == "Recreate":
        for one in seats if deployed else ():
            one.deployed.append(bounce)
        settings = tuple(script.started(roster, s) for s in seats) if deployed else ()
        return read_recreate(written, tuple(s.name for s in seats), settings)
    return roll(script, bounce, line, bounce if deployed else None)


def _on_delete(
    script: ScriptCast, written: Written, found: list[tuple[Roster, Seat]], deployed: Written | None
) -> Deed | None:
    """An apply that restarts nothing: the settings wait for each pod's next start."""
    if written.get("kind", "Deployment") != "StatefulSet":
        script.out.add(
            written.at["type"],
            "OnDelete is a StatefulSet's — add kind: StatefulSet, or write RollingUpdate",
        )
        return None
    if deployed is None:
        return RollingBounce(())
    for _, seat in found:
        seat.deployed.append(deployed)
    settings = tuple(script.started(roster, seat) for roster, seat in found)
    return RollingBounce((), deploy=Overlay(settings))


def say(deed: Recreate) -> str:
    return f"{say_names(deed.consumers)} stop, and start when all are gone"


ACTION = ScriptAction("kubectl_rollout", SECTION, read, {Recreate: say})
