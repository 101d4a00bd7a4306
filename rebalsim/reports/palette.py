"""How each phase looks: a letter and a filling (right without colour), and a colour for terminals
and for light and dark pages.

Capital letters stand for the waits that get long, small ones for the steps that are usually short.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis.values import PhaseKind

CONSUMING, UNOWNED, BRIEF = "=", " ", "!"


@dataclass(frozen=True, slots=True)
class Look:
    """One phase as it is drawn."""

    letter: str
    fill: str  # the rest of its run in a terminal
    style: str  # rich's
    light: str  # on a light page
    dark: str  # on a dark page


# Nobody knows: full blocks. Waiting for the group: half shades. Work that has to be done: light
# shades.
LOOKS: dict[PhaseKind, Look] = {
    PhaseKind.STUCK: Look("S", "█", "magenta", "#a3229b", "#e06ad8"),
    PhaseKind.DETECTION: Look("D", "█", "red", "#c62828", "#ef6a62"),
    PhaseKind.AWAY: Look("A", "▓", "bright_black", "#6b7280", "#9aa3b2"),
    PhaseKind.NOTICE: Look("n", "▒", "cyan", "#0e7490", "#43b8d0"),
    PhaseKind.REVOKE: Look("r", "░", "blue", "#3b5bdb", "#7d97ff"),
    PhaseKind.RELEASE: Look("l", "▒", "blue", "#1d4ed8", "#6aa0ff"),
    PhaseKind.INTERVAL: Look("i", "▒", "bright_black", "#78716c", "#b3aaa2"),
    PhaseKind.BARRIER: Look("B", "▓", "yellow", "#d97706", "#f2a541"),
    PhaseKind.FOLLOW_UP: Look("F", "▒", "bright_yellow", "#a16207", "#d6b02f"),
    PhaseKind.PICKUP: Look("p", "▒", "cyan", "#0f766e", "#3fbfae"),
    PhaseKind.ASSIGNMENT: Look("a", "░", "bright_blue", "#5b21b6", "#a78bfa"),
    PhaseKind.RESTORE: Look("R", "░", "bright_magenta", "#be185d", "#f472b6"),
    PhaseKind.FETCH: Look("f", "░", "bright_cyan", "#3f9fd8", "#7cc7f5"),
    PhaseKind.DELAY: Look("W", "▒", "bright_green", "#4d7c0f", "#a3d154"),
    PhaseKind.STOP: Look("x", "░", "bright_blue", "#334155", "#94a3b8"),
    PhaseKind.START: Look("s", "░", "green", "#047857", "#34d399"),
}

BY_LETTER: dict[str, PhaseKind] = {look.letter: kind for kind, look in LOOKS.items()}

# Kafka's group states: a letter and the filling of the rest of a run.
STATE_LOOKS: dict[str, tuple[str, str, str, str]] = {
    "Empty": ("E", " ", " ", "bright_black"),
    "PreparingRebalance": ("P", "▓", "%", "yellow"),
    "CompletingRebalance": ("C", "▒", "*", "bright_yellow"),
    "Stable": ("─", "─", "-", "green"),
    "Assigning": ("G", "▓", "%", "yellow"),
    "Reconciling": ("Y", "▒", "*", "bright_yellow"),
    "Dead": ("X", " ", " ", "red"),
}
