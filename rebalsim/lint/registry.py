"""All rules, found in the folder where each has its file, and the check of a whole story: every
variant judged, what they share told once.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from rebalsim.domain.errors import Problem
from rebalsim.lint import rules
from rebalsim.lint.connect_facts import without_workers
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Checked
from rebalsim.lint.spots_in_files import Tellable, spot_of

CONNECT = "Kafka Connect"  # rules that see workers; to all others there are consumers only
# headings in the order in which `rebalsim explain` lists them
STREAMS = "Kafka Streams"
# of the rules about consumers, what holds of workers as well
OF_WORKERS_TOO = ("bounce-outpaces-start",)
OF_BOTH = (
    "crash-loop",
    "freeze-outlasts-session",
    "session-under-three-heartbeats",
    "static-id-in-two-groups",
    "static-ids-of-random-pods",
    "static-long-session",
    "static-restart-outlives-session",
    "static-scale-down",
    "surge-shares-static-id",
)  # rules of consumers that hold for stream threads
HEADINGS = (
    "Timers against each other",
    "Handlers and commits",
    "Listeners and state",
    "Assignors and groups",
    "Static members",
    "Deploys and scaling",
    "Faults",
    "Topics that grow",
    CONNECT,
    "The story itself",
    STREAMS,
)


def find_rules() -> dict[str, tuple[Checked, ...]]:
    """Every rule by heading: a file in `rules` is one, with its RULE and its `find`. A heading that
    HEADINGS does not know comes last.
    """
    found: dict[str, list[Checked]] = {heading: [] for heading in HEADINGS}
    for name in sorted(module.name for module in pkgutil.iter_modules(rules.__path__)):
        module = importlib.import_module(f"{rules.__name__}.{name}")
        found.setdefault(module.RULE.heading, []).append(Checked(module.RULE, module.find))
    return {heading: tuple(checked) for heading, checked in found.items() if checked}


CATALOGUE = find_rules()
RULES: tuple[Checked, ...] = tuple(checked for rules in CATALOGUE.values() for checked in rules)

# A repeated action is told once for each repetition; more than so many findings of one rule at one
# place say nothing new.
_MOST_AT_ONE_PLACE = 3


def check(story: Tellable) -> list[Problem]:
    """Every warning on this story, in the order of its lines. What holds in each variant is said
    once, else the variants are named.
    """
    found: dict[tuple[int, str, Place], list[str]] = {}
    fixes: dict[tuple[int, str, Place], tuple[tuple[str, str], ...]] = {}
    for variant in story.variants:
        for order, finding in _findings(story, variant):
            key = order, finding.message, finding.place
            where = found.setdefault(key, [])
            fixes[key] = finding.fix
            if variant not in where:
                where.append(variant)
    problems: list[tuple[int, int, int, Problem]] = []
    for key, where in found.items():
        order, message, place = key
        spot = spot_of(story, where[0], place)
        is_of_all = len(where) == len(tuple(story.variants))
        only = f" (in the variant{'s' if len(where) > 1 else ''} {' and '.join(where)})"
        problem = Problem(
            story.file,
            spot.line,
            spot.column,
            message if is_of_all else message + only,
            spot.source,
            spot.width,
            rule=RULES[order].rule.id,
            is_warning=True,
            fix=fixes[key],
            fix_variants=tuple(where),
        )
        problems.append((spot.line, spot.column, order, problem))
    return [problem for *_, problem in sorted(problems, key=lambda p: p[:3])]


def _findings(story: Tellable, variant: str) -> Iterator[tuple[int, Finding]]:
    """What each rule finds in one variant, with the rule's number; not too much at one place."""
    scenario = story.scenario(variant)
    is_streams = any(group.streams is not None for group in scenario.groups)
    consumers = without_workers(scenario)
    for order, checked in enumerate(RULES):
        is_of_connect = checked.rule.heading == CONNECT
        is_of_streams = checked.rule.heading == STREAMS
        is_of_both = is_streams and checked.rule.id in OF_BOTH
        if not is_of_connect and is_streams is not is_of_streams and not is_of_both:
            continue  # a Streams application has rules of its own, and few of consumers'
        at: dict[Place, int] = {}
        sees_workers = is_of_connect or checked.rule.id in OF_WORKERS_TOO
        for finding in checked.find(scenario if sees_workers else consumers):
            place = finding.place
            if finding.only_if_said and not story.says(place.name, place.key, variant):
                continue
            at[place] = at.get(place, 0) + 1
            if at[place] <= _MOST_AT_ONE_PLACE:
                yield order, finding
