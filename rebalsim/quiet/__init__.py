"""Quiet time is skipped here, and nowhere else.

While a client keeps up and its group is settled, every poll, batch, beat and commit follows from
those before. A client says how things stand (`rebalsim.simulation.standing`); this room works out
until when nothing can change, and, when somebody touches the client, where it is by then. The
client goes on from there as if it had played it all. Nothing depends on this room: without it
everything is played.
"""

from rebalsim.domain.scenario import Scenario
from rebalsim.quiet.refreshes import nothing_new_comes
from rebalsim.quiet.skipping import Quiet


def quiet_room_for(story: Scenario) -> Quiet:
    return Quiet(leaves_out_refreshes=nothing_new_comes(story))


__all__ = ["Quiet", "quiet_room_for"]
