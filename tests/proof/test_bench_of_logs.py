"""The benchmark of log reading measures what it says."""

from __future__ import annotations

from pathlib import Path

from rebalsim.proof.bench.logs import measure


def test_the_ratio_is_of_the_logs_that_were_given(tmp_path: Path) -> None:
    line = "[2026-09-21 15:38:47,309] INFO order 7341 was priced (com.example.Orders)\n"
    (tmp_path / "app.log").write_text(line * 20_000)
    (figure,) = measure(quick=True, path=str(tmp_path))
    assert 0 < figure.measured < 2
    assert figure.note.endswith("1 MB")
    assert figure.limit == 0.1
