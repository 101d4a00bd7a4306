"""Baselines and the ratchet: saved, compared, explained; nothing overwritten that was not asked
for.
"""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from checking import DEPLOY, OPEN, SHORTER, Repository

from rebalsim.cli import exits

RELATIVE = DEPLOY.replace(
    '  rebalances: "== 0"',
    '  rebalances: "<= baseline + 5%"\n  longest_pause: {limit: "<= baseline", action: deploy}',
).replace('  longest_pause: "<= 40s"\n', "")


def save(repository: Repository) -> None:
    assert repository.check("scenarios", "--save-baseline", "pauses.json") == exits.WITHIN
    assert "Baseline of 1 scenario written to pauses.json; commit it." in repository.err


def test_a_baseline_is_small_readable_sorted_and_the_same_each_time(repository: Repository) -> None:
    save(repository)
    text = repository.read("pauses.json")
    assert '          "longest_pause": "35.0' in text and len(text) < 2_400
    metrics = re.findall(r'^ {10}"(\w+)":', _between(text, '"metrics"', "by_phase"), re.MULTILINE)
    assert metrics == sorted(metrics) and "rebalances" in metrics
    save(repository)
    assert repository.read("pauses.json") == text


def _between(text: str, one: str, other: str) -> str:
    return text[text.index(one) : text.index(other)]


def test_nothing_changed_is_said(repository: Repository) -> None:
    save(repository)
    assert (
        repository.check("scenarios", "--baseline", "pauses.json", "--max-regression", "0%")
        == exits.WITHIN
    )
    assert "Against pauses.json: nothing changed" in repository.out


def test_a_changed_setting_is_told_with_what_regressed_and_the_phases(
    repository: Repository,
) -> None:
    save(repository)
    repository.write("scenarios/deploy.yaml", DEPLOY.replace("60s", "20s"))
    assert (
        repository.check(
            "scenarios",
            "--baseline",
            "pauses.json",
            "--max-regression",
            "5%",
            "--only",
            "longest_pause",
        )
        == exits.BROKEN
    )
    told = " ".join(repository.out.split())
    assert "scenarios/deploy.yaml · as-written because session.timeout.ms 1m → 20s" in told
    assert re.search(r"~ rebalances 0 → 9 regressed \+9 more than 5 %", told)
    assert re.search(r"~ longest pause 35\.1 s → 2\d\.\d s improved −1\d\.\d s \(−3\d %\)", told)
    assert re.search(r"~ partition-seconds .* improved .* away −4\d\d s, detection \+2\d\d s", told)
    assert "metrics worse than the baseline allows" in told


def test_without_a_bound_a_regression_is_only_told(repository: Repository) -> None:
    save(repository)
    repository.write("scenarios/deploy.yaml", DEPLOY.replace("60s", "20s"))
    assert (
        repository.check("scenarios", "--baseline", "pauses.json", "--only", "longest_pause")
        == exits.WITHIN
    )
    assert "regressed" in repository.out and "more than" not in repository.out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("rate: 600/s", "rate: 900/s"), "the story changed (topics)"),
        (("60s", "50s"), "session.timeout.ms 1m → 50s (line "),
        (("horizon: 4m", "seed: 7\nhorizon: 4m"), "other seeds (1 → 7)"),
    ],
)
def test_where_a_difference_comes_from_is_said(
    repository: Repository, change: tuple[str, str], why: str
) -> None:
    save(repository)
    repository.write("scenarios/deploy.yaml", DEPLOY.replace(*change))
    repository.check("scenarios", "--baseline", "pauses.json", "--json")
    changes = json.loads(repository.out)["baseline"]["changes"]
    assert not changes or {c["because"] for c in changes} == {why}
    if change[0] == "rate: 600/s":
        assert any(c["metric"] == "lag_peak" and c["kind"] == "regressed" for c in changes)


def test_titles_budgets_and_comments_change_no_digest(repository: Repository) -> None:
    save(repository)
    text = repository.read("pauses.json")
    repository.write(
        "scenarios/deploy.yaml",
        "# looked at again\n"
        + DEPLOY.replace("Rolling deploy", "Deploy").replace("<= 40s", "<= 41s"),
    )
    repository.check("scenarios", "--save-baseline", "pauses.json")
    assert repository.read("pauses.json") == text


def test_a_changed_rebalsim_is_told_apart_from_a_changed_file(repository: Repository) -> None:
    save(repository)
    text = repository.read("pauses.json")
    other = re.sub(r'"longest_pause": "35', '"longest_pause": "34', text)
    repository.write("same.json", other)
    repository.check("scenarios", "--baseline", "same.json")
    assert "because rebalsim itself changed, though its version did not" in repository.out
    repository.write("old.json", re.sub(r'"rebalsim": "[^"]*"', '"rebalsim": "0.0.9"', other))
    repository.check("scenarios", "--baseline", "old.json")
    assert re.search(r"because rebalsim changed \(0\.0\.9 → \d", repository.out)


def test_new_and_gone_stories_are_told(repository: Repository) -> None:
    save(repository)
    repository.write("scenarios/other.yaml", OPEN)
    assert (
        repository.check(
            "scenarios/other.yaml", "--baseline", "pauses.json", "--max-regression", "0%"
        )
        == exits.INCONCLUSIVE
    )
    assert "+ longest pause" in repository.out and "new" in repository.out
    assert "- scenarios/deploy.yaml: in the baseline, and not checked" in repository.out


def test_budgets_relative_to_a_baseline(repository: Repository) -> None:
    repository.write("scenarios/deploy.yaml", RELATIVE)
    assert repository.check("scenarios") == exits.INVALID
    assert (
        "scenarios/deploy.yaml:19:3: This budget is relative to a baseline, and none is given"
        in repository.err
    )
    assert repository.check("scenarios", "--save-baseline", "pauses.json") == exits.WITHIN
    assert (
        "2 budgets are relative to the baseline that is now being saved, and not judged yet"
        in " ".join(repository.out.split())
    )
    assert '"longest_pause [action deploy]": "35.' in repository.read("pauses.json")
    assert repository.check("scenarios", "--baseline", "pauses.json") == exits.WITHIN
    assert "longest_pause <= baseline [action deploy]" in repository.out
    assert repository.check("scenarios", "--baseline", "pauses.json", *SHORTER) == exits.BROKEN
    assert "9 against 0 (baseline + 5%)" in " ".join(repository.out.split())
    repository.write("scenarios/new.yaml", RELATIVE)
    assert repository.check("scenarios", "--baseline", "pauses.json") == exits.INVALID
    assert (
        "The baseline has no rebalances of as-written in this file — save it anew with "
        "--save-baseline" in repository.err
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no such baseline"),
        ("", "is no baseline: it is not JSON"),
        ("{}", "is JSON, but no baseline of rebalsim"),
        ("[1]", "no baseline"),
        (
            '{"baseline": 3, "rebalsim": "9", "stories": {}}',
            "was written by rebalsim 9 as a baseline of another kind (version 3; this rebalsim",
        ),
        ('{"baseline": 2, "rebalsim": "9"}', "is damaged (lacks 'stories')"),
        ('{"baseline": 2, "rebalsim": "9", "stories": {"a": {"b": 3}}}', "is damaged"),
        ("CUT", "is cut off"),
        (
            '{"baseline": 2, "rebalsim": "9", "stories": {"a": {"b": {"seed": 1, "runs": 1, '
            '"story": "", "settings": "", "metrics": '
            '{"rebalances": "many"}, "partition_seconds_by_phase": {}}}}}',
            "'many' is no figure",
        ),
    ],
)
def test_a_baseline_that_cannot_be_read_is_a_clear_line(
    repository: Repository, text: str | None, said: str
) -> None:
    save(repository)
    whole = repository.read("pauses.json")
    if text is not None:
        repository.write("other.json", whole[: len(whole) // 2] if text == "CUT" else text)
    assert repository.check("scenarios", "--baseline", "other.json") == exits.INVALID
    assert (
        said in repository.err
        and repository.err.count("\n") == 1
        and "--save-baseline" in repository.err
    )


def test_a_file_that_is_no_baseline_is_not_overwritten(repository: Repository) -> None:
    assert (
        repository.check("scenarios", "--save-baseline", "scenarios/deploy.yaml") == exits.INVALID
    )
    assert (
        "is not overwritten" in repository.err
        and repository.read("scenarios/deploy.yaml") == DEPLOY
    )


def test_saving_some_keeps_what_was_saved_of_files_that_are_still_there(
    repository: Repository,
) -> None:
    repository.write("scenarios/gone.yaml", OPEN)
    repository.check("scenarios", "--save-baseline", "pauses.json")
    repository.write("more/open.yaml", OPEN)
    (repository.root / "scenarios/gone.yaml").unlink()
    repository.check("more", "--save-baseline", "pauses.json")
    assert list(json.loads(repository.read("pauses.json"))["stories"]) == [
        "more/open.yaml",
        "scenarios/deploy.yaml",
    ]


def test_nothing_is_saved_where_something_could_not_be_judged(repository: Repository) -> None:
    repository.write("scenarios/wrong.yaml", "topics: {orders: 4}\nhorizon: 1m\n")
    assert repository.check("scenarios", "--save-baseline", "pauses.json") == exits.INVALID
    assert (
        "pauses.json: not written, because not every scenario could be judged" in repository.err
        and not (repository.root / "pauses.json").exists()
    )


def test_a_folder_that_is_not_there_is_told_and_what_was_there_stays(
    repository: Repository,
) -> None:
    assert repository.check("scenarios", "--save-baseline", "none/pauses.json") == exits.INVALID
    assert "none/pauses.json: cannot be written" in repository.err
    assert [p.name for p in repository.root.iterdir()] == ["scenarios"]


# -------------------------------------------------------------------------------------- the ratchet

LOOSE = (
    DEPLOY[: DEPLOY.index("budgets:")]
    + """\
budgets:                        # what a deploy may cost
  longest_pause: "<= 2m"        # generous
  rebalances: ["<= 12", ">= 0", "< 100"]
  lag_peak: {limit: '<= 50,000', level: warn}
  partitions_touched: < 100
  rebalancing_share: "≤ 50%"
  partition_seconds: "<= 420.8s"
  settle_time: "<= 1 × as-written"
"""
)


def test_update_tightens_budgets_in_the_text_and_leaves_everything_else(
    repository: Repository,
) -> None:
    repository.write("scenarios/deploy.yaml", LOOSE)
    assert repository.check("scenarios", "--update") == exits.WITHIN
    before, after = LOOSE.splitlines(), repository.read("scenarios/deploy.yaml").splitlines()
    changed = {
        old.strip(): re.sub(r"70\d\d", "70xx", new.strip())
        for old, new in zip(before, after, strict=True)
        if old != new
    }
    assert changed == {
        'longest_pause: "<= 2m"        # generous': 'longest_pause: "<= 35.1s"        # generous',
        'rebalances: ["<= 12", ">= 0", "< 100"]': 'rebalances: ["<= 0", ">= 0", "< 1"]',
        "lag_peak: {limit: '<= 50,000', level: warn}": "lag_peak: {limit: '<= 70xx', level: warn}",
        "partitions_touched: < 100": "partitions_touched: < 13",
        'rebalancing_share: "≤ 50%"': 'rebalancing_share: "≤ 0%"',
    }
    assert "scenarios/deploy.yaml:19: longest_pause 2m → 35.1s" in repository.err
    assert (
        repository.check("scenarios", "--update") == exits.WITHIN and repository.err == ""
    )  # nothing is left to tighten
    assert repository.read("scenarios/deploy.yaml").splitlines() == after


def test_update_loosens_nothing_and_leaves_what_is_broken_or_open(repository: Repository) -> None:
    broken = LOOSE.replace("60s", "20s").replace('["<= 12", ">= 0", "< 100"]', '"<= 1"')
    repository.write("scenarios/deploy.yaml", broken)
    repository.write("scenarios/open.yaml", OPEN)
    assert repository.check("scenarios", "--update") == exits.BROKEN
    assert (
        'rebalances: "<= 1"' in repository.read("scenarios/deploy.yaml")
        and repository.read("scenarios/open.yaml") == OPEN
    )


def test_a_budget_for_several_variants_is_as_tight_as_its_worst(repository: Repository) -> None:
    repository.write(
        "scenarios/deploy.yaml",
        LOOSE.replace("[as-written]", "[eager, cooperative]")
        .replace('  group.instance.id: "{name}"\n', "")
        .replace("1 × as-written", "9 × eager"),
    )
    repository.check("scenarios", "--json")
    worst = max(
        b["observed"]
        for b in json.loads(repository.out)["stories"][0]["budgets"]
        if b["metric"] == "longest_pause"
    )
    repository.check("scenarios", "--update")
    found = re.search(r'longest_pause: "<= ([\d.]+)s"', repository.read("scenarios/deploy.yaml"))
    assert found is not None and worst <= float(found[1]) * 1e6 < worst * 1.02


def test_a_regression_is_a_failure_in_every_form_for_builds(repository: Repository) -> None:
    """With the setting that changed, its line, and figures as people write them."""
    repository.check("scenarios", "--save-baseline", "pauses.json")
    changed = repository.root / "scenarios/deploy.yaml"
    changed.write_text(changed.read_text("utf-8").replace("60s", "20s"), "utf-8")
    asked = ("--baseline", "pauses.json", "--max-regression", "5%", "--advise", "off")
    forms = ("--junit", "j.xml", "--gitlab", "g.json")
    assert repository.check("scenarios", *asked, *forms) == exits.BROKEN
    junit = (repository.root / "j.xml").read_text("utf-8")
    assert 'type="regression"' in junit and "session.timeout.ms 1m → 20s (line " in junit
    assert int(re.search(r'<testsuites[^>]*failures="(\d+)"', junit)[1]) == junit.count("<failure")  # type: ignore[index]
    issues = json.loads((repository.root / "g.json").read_text("utf-8"))
    assert any(i["check_name"] == "rebalsim/regression" for i in issues)
    # … at the line of the setting that changed
    line = int(re.findall(r"20s \(line (\d+)\)", junit)[0])
    assert line > 1 and all(
        i["location"]["lines"]["begin"] == line
        for i in issues
        if i["check_name"] == "rebalsim/regression"
    )
    cases = [c for c in ET.fromstring(junit).iter("testcase") if c.find("failure") is not None]
    regressed = [c for c in cases if c.find("failure").get("type") == "regression"]  # type: ignore[union-attr]
    assert regressed and {c.get("line") for c in regressed} == {str(line)}
    assert "e+0" not in junit and "inf" not in junit


def test_a_regression_below_the_noise_floor_is_not_told() -> None:
    from rebalsim.analysis.baseline import Baseline, VariantBaseline, compare

    def of(lag: float) -> Baseline:
        one = VariantBaseline(1, 1, "s", "c", {"lag_peak": lag})
        return Baseline("1", {"a.yaml": {"eager": one}})

    assert compare(of(72_020), of(72_022)) == ()
    assert compare(of(72_020), of(73_000))[0].kind == "regressed"
    assert compare(of(72_022), of(72_020)) == ()
    assert compare(of(73_000), of(72_020))[0].kind == "improved"


def test_an_older_file_does_not_say_which_part_of_the_story_changed(
    repository: Repository,
) -> None:
    save(repository)
    document = json.loads(repository.read("pauses.json"))
    for variants in document["stories"].values():
        for one in variants.values():
            assert {"topics", "members", "handler", "life", "script"} <= set(one.pop("parts"))
    repository.write("pauses.json", json.dumps(document))
    repository.write("scenarios/deploy.yaml", DEPLOY.replace("rate: 600/s", "rate: 900/s"))
    repository.check("scenarios", "--baseline", "pauses.json")
    assert "the story changed (topics, members, handlers or script)" in repository.out


def test_a_regression_alone_was_headed_as_a_broken_budget(repository: Repository) -> None:
    save(repository)
    repository.write("scenarios/deploy.yaml", DEPLOY.replace("rate: 600/s", "rate: 900/s"))
    asked = ("--baseline", "pauses.json", "--max-regression", "5%", "--advise", "off")
    assert repository.check("scenarios", *asked, "--markdown") == exits.BROKEN
    assert repository.out.startswith("### Worse than the baseline allows\n")


def test_settings_of_members_that_the_script_adds_were_taken_for_the_script(
    repository: Repository,
) -> None:
    kept = DEPLOY.partition('  rebalances: "== 0"')[0]
    grown = kept.replace("replay:", "  - {at: 210s, scale: {to: 4}}\nreplay:").replace("40s", "50s")
    repository.write("scenarios/deploy.yaml", grown)
    save(repository)
    repository.write("scenarios/deploy.yaml", grown.replace("60s", "20s"))
    repository.check("scenarios", "--baseline", "pauses.json", "--json")
    changes = json.loads(repository.out)["baseline"]["changes"]
    assert changes and all("the story changed" not in c["because"] for c in changes)
