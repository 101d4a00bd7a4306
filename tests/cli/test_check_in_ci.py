"""What people put into their CI: the GitHub action's steps as its shell would run them, the
GitLab template's script, the pre-commit hooks.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from checking import DEPLOY, SHORTER, Repository
from junitparser import JUnitXml

ROOT = Path(__file__).parents[2]
BROKEN = DEPLOY.replace("60s", "20s")


def shell(script: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As GitHub runs `shell: bash`; rebalsim and python are those of this test."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "PYTEST_"))}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=cwd,
        env={**kept, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# -------------------------------------------------------------------------------- the GitHub action


def action() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return made


def run_check_step(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step that checks, with the action's inputs filled in as the runner fills them in."""
    step = action()["runs"]["steps"][-1]
    values = {
        name: inputs.get(name.replace("-", "_"), about.get("default", ""))
        for name, about in action()["inputs"].items()
    }
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], value)
        for name, value in step["env"].items()
    }
    return shell(
        step["run"],
        folder,
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
        GITHUB_WORKSPACE=str(folder),
        **environment,
    )


def test_the_actions_steps_are_whole() -> None:
    made = action()
    assert made["runs"]["using"] == "composite" and all(
        about["description"] for about in made["inputs"].values()
    )
    for step in made["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash"
        assert "${{" not in step.get("run", ""), "an input must not become part of the script"
        named = re.findall(r"inputs\.([\w-]+)", json.dumps(step))
        assert [name for name in named if name not in made["inputs"]] == []
        if "run" in step:
            assert shell(f"bash -n <<'SCRIPT'\n{step['run']}\nSCRIPT", ROOT).returncode == 0


@pytest.mark.slow
def test_the_action_passes_annotates_and_writes_its_summary(repository: Repository) -> None:
    done = run_check_step(repository.root)
    assert done.returncode == 0 and "::" not in done.stdout, done.stdout + done.stderr
    assert "### Every budget is kept" in repository.read("summary.md")
    repository.write("scenarios/deploy.yaml", BROKEN)
    done = run_check_step(
        repository.root, junit="out.xml", html="out.html", args="--only rebalances"
    )
    assert done.returncode == 1
    (command,) = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert command.startswith(
        "::error file=scenarios/deploy.yaml,line=20,col=3,title=as-written%3A rebalances == 0 is "
        "broken::9. 6 rounds because"
    )
    summary = repository.read("summary.md")
    assert (
        "### A budget is broken" in summary
        and "| ❌ | scenarios/deploy.yaml:20 | as-written | `rebalances == 0` | 9 |" in summary
    )
    assert summary.startswith("### Every budget is kept"), "other steps' summaries stay"
    assert (
        JUnitXml.fromfile(str(repository.root / "out.xml")).failures == 1
        and (repository.root / "out.html").stat().st_size > 1_000
    )


def test_the_actions_inputs_are_text_and_never_a_script(repository: Repository) -> None:
    done = run_check_step(
        repository.root,
        paths="scenarios $(touch owned) ; touch owned2 `touch owned3`",
        args='--only "$(touch owned4)"',
    )
    assert done.returncode == 2 and not list(repository.root.glob("owned*"))


@pytest.mark.slow
def test_the_action_compares_with_a_baseline(repository: Repository) -> None:
    assert repository.check("scenarios", "--save-baseline", "pauses.json") == 0
    assert (
        run_check_step(repository.root, baseline="pauses.json", max_regression="5%").returncode == 0
    )
    repository.write("scenarios/deploy.yaml", BROKEN)
    done = run_check_step(
        repository.root, baseline="pauses.json", max_regression="5%", args="--only longest_pause"
    )
    assert done.returncode == 1 and "title=regression::rebalances of as-written 0 → " in done.stdout


def test_the_actions_installation_names_its_own_folder(tmp_path: Path) -> None:
    step = action()["runs"]["steps"][1]
    assert step["env"] == {"REBALSIM_SOURCE": "${{ github.action_path }}"}
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    done = shell(
        f"export PATH={shlex.quote(str(tmp_path))}:$PATH\n{step['run']}",
        tmp_path,
        REBALSIM_SOURCE="a folder/of the action",
    )
    assert (
        done.stdout.strip()
        == "-I -m pip install --quiet --disable-pip-version-check a folder/of the action"
    )


def test_annotations_name_files_as_from_the_repositorys_root(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("services/orders/scenarios/deploy.yaml", BROKEN)
    monkeypatch.chdir(repository.root / "services/orders")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repository.root))
    monkeypatch.setenv("CI_PROJECT_DIR", str(repository.root))
    assert (
        repository.check(
            "scenarios", "--github", "--gitlab", "quality.json", "--only", "rebalances"
        )
        == 1
    )
    assert "::error file=services/orders/scenarios/deploy.yaml,line=20" in repository.out
    (issue,) = json.loads((repository.root / "services/orders/quality.json").read_text("utf-8"))
    assert issue["location"] == {
        "path": "services/orders/scenarios/deploy.yaml",
        "lines": {"begin": 20},
    }


def test_annotations_stay_out_of_json(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert repository.check("scenarios", "--json", *SHORTER) == 1
    assert (
        json.loads(repository.out)["ok"] is False
        and "::error file=scenarios/deploy.yaml" in repository.err
    )
    assert repository.check("scenarios", "--no-github", *SHORTER) == 1
    assert "::error" not in repository.out + repository.err


# ------------------------------------------------------------------------------- GitLab, pre-commit


@pytest.mark.slow
def test_the_gitlab_templates_script_runs_and_leaves_its_reports(repository: Repository) -> None:
    job = yaml.safe_load((ROOT / ".ci" / "gitlab-template.yml").read_text("utf-8"))[".rebalsim"]
    repository.write("scenarios/deploy.yaml", BROKEN)
    script = "\n".join(line for line in job["script"] if "pip install" not in line)
    done = shell(
        script,
        repository.root,
        CI_PROJECT_DIR=str(repository.root),
        **{**job["variables"], "REBALSIM_SOURCE": "./rebalsim.whl"},
    )
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    assert JUnitXml.fromfile(str(repository.root / reports["junit"])).failures == 2
    assert [
        i["location"]["lines"]["begin"] for i in json.loads(repository.read(reports["codequality"]))
    ] == [20, 22]
    assert (
        all((repository.root / path).exists() for path in job["artifacts"]["paths"])
        and job["artifacts"]["when"] == "always"
    )


@pytest.mark.slow
def test_the_hooks_run_on_scenarios_and_on_nothing_else(repository: Repository) -> None:
    hooks = {
        hook["id"]: hook
        for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    }
    assert list(hooks) == ["rebalsim-lint", "rebalsim-check"]
    for hook in hooks.values():
        assert hook["language"] == "python" and hook["types"] == ["yaml"]
        assert re.search(hook["files"], "scenarios/deploy.yaml") and re.search(
            hook["files"], "a/scenarios/b/c.yml"
        )
        assert not re.search(hook["files"], "deploy.yaml") and not re.search(
            hook["files"], "my-scenarios/a.yaml"
        )
    assert (
        shell(
            f"{hooks['rebalsim-lint']['entry']} scenarios/deploy.yaml", repository.root
        ).returncode
        == 0
    )
    assert (
        shell(
            f"{hooks['rebalsim-check']['entry']} scenarios/deploy.yaml",
            repository.root,
            GITHUB_ACTIONS="true",
        ).returncode
        == 0
    )
    repository.write("scenarios/deploy.yaml", DEPLOY.replace("members:", "membres:"))
    done = shell(f"{hooks['rebalsim-lint']['entry']} scenarios/deploy.yaml", repository.root)
    assert done.returncode == 2 and "did you mean 'members'?" in done.stdout
