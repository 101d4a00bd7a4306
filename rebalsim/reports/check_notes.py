"""What a check says beside its verdicts: what was not judged, what a verdict rests on, and what
more seeds come to.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.over_seeds import NEARLY
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.unit import Better
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.verdict_told import say_amount
from rebalsim.words.lists import plural

NO_BASELINE = (
    "This budget is relative to a baseline, and none is given — `rebalsim check --save-baseline "
    "FILE` writes one, --baseline FILE uses it"
)
PROCESS_DIED = "the process that played it died (out of memory?) — try again with --jobs 1"
NO_BUDGETS = 'has no budgets, so nothing can fail — add budgets: {longest_pause: "<= 30s"}'


def not_in_baseline(key: str, variant: str) -> str:
    """Why a budget that is relative to the baseline cannot be judged."""
    return (
        f"The baseline has no {key} of {variant} in this file — save it anew with --save-baseline"
    )


def not_judged_yet(budgets: int) -> str:
    """Of budgets that are relative to the baseline that this very check saves."""
    are = "is" if budgets == 1 else "are"
    what = "relative to the baseline that is now being saved, and not judged yet"
    return f"{plural(budgets, 'budget')} {are} {what}"


def plans_passed_over(plans: int) -> str:
    """Of plans among what was to be checked."""
    return f"{plural(plans, 'plan')} passed over; `rebalsim sweep` plays them"


def of_variants(names: Sequence[str]) -> str:
    """Whose problem it is, where others have it not."""
    return f"in the variant {' and '.join(names)}"


def judged_over(seeds: int) -> str:
    """Of a story whose single run is a sample."""
    return (
        "under the consumer protocol one run is a sample of many: it is judged over "
        f"{seeds} seeds, by the worst of them — say `runs: N` for another number"
    )


def names_there_are(names: Sequence[str]) -> str:
    """The budgets that could have been asked for."""
    if not names:
        return "there is no budget at all"
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names[:6])}{more}"


def said_of_fact(outcome: Outcome) -> str:
    return "holds" if outcome is Outcome.PASS else "does not hold"


def spread_of_fact(seeds: int, broken: int) -> str:
    """Whether a fact holds under each seed."""
    if broken in (0, seeds):
        return f"the same under each of {seeds} seeds"
    return f"by chance: broken under {broken} of {seeds} seeds"


def spread_of_budget(budget: Budget, values: Sequence[float], seeds: int, broken: int) -> str:
    """What so many seeds come to (`values`, ascending), and how many of them break the budget;
    whatever is the same in all of them is rule and not chance.
    """
    least, most = values[0], values[-1]
    if most - least <= NEARLY * abs(most) and broken in (0, seeds):
        return f"{'' if least == most else 'nearly '}the same under each of {seeds} seeds"
    worst = least if METRICS[budget.metric].better == Better.MORE else most
    figures = {"median": percentile(values, 50), "p95": percentile(values, 95), "worst": worst}
    parts = [f"{word} {say_amount(budget.metric, v, None)}" for word, v in figures.items()]
    breaking = f"; {broken} of them break it" if broken else ""
    return f"by chance over {seeds} seeds: {', '.join(parts)}{breaking}"
