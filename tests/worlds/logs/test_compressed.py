"""Logs as collectors and rotation leave them: in gzip, in zstd, in several frames, cut."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from test_stories_in_logs import client, joined

from rebalsim.domain.errors import InputError
from rebalsim.worlds.logs.observation import Observation, observe
from rebalsim.worlds.logs.sources import sources_in

LINES = [
    client(1_000, "(Re-)joining group"),
    joined(1_010, 1, 1),
    client(1_030, "Adding newly assigned partitions: [t-0, t-1]"),
    *(client(ms, f"{ms} records handled") for ms in range(2_000, 40_000, 4)),
    client(62_005, "Revoke previously assigned partitions [t-0, t-1]"),
]
TEXT = "\n".join(LINES).encode() + b"\n"
ZSTD_HEAD = b"\x28\xb5\x2f\xfd"


def zstd(data: bytes) -> bytes:
    compressed: bytes = pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    return compressed


def calls(found: Observation) -> list[tuple[str, tuple[str, ...]]]:
    (voice,) = found.groups["g"].voices
    return [(str(f.what), f.partitions) for f in voice.facts if f.partitions]


def observed(path: Path) -> Observation:
    return observe(sources_in([str(path)]))


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
@pytest.mark.parametrize("is_in_frames", [False, True], ids=["whole", "in frames"])
@pytest.mark.parametrize("ending", [".gz", ".zst", ""])
def test_compression_is_told_by_the_content(
    tmp_path: Path, compress: Callable[[bytes], bytes], is_in_frames: bool, ending: str
) -> None:
    """Whatever the file is called; a frame ends in the middle of a line."""
    middle = len(TEXT) // 2 + 7
    frames = [TEXT[:middle], TEXT[middle:]] if is_in_frames else [TEXT]
    path = tmp_path / f"c1.log{ending}"
    path.write_bytes(b"".join(compress(frame) for frame in frames))
    found = observed(path)
    assert calls(found) == [("assigned", ("t-0", "t-1")), ("revoked", ("t-0", "t-1"))]
    assert found.census.lines == len(LINES)
    assert not any("cut or damaged" in note for note in found.notes)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
def test_standard_input_may_be_compressed_too(compress: Callable[[bytes], bytes]) -> None:
    found = observe(sources_in(["-"], io.BytesIO(compress(TEXT))))
    assert calls(found) == [("assigned", ("t-0", "t-1")), ("revoked", ("t-0", "t-1"))]
    assert found.census.lines == len(LINES)


def test_a_pipe_that_gives_one_byte_first_is_unpacked_all_the_same() -> None:
    class Slowly(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1 if self.tell() < 3 else size)

    (voice,) = observe(sources_in(["-"], Slowly(gzip.compress(TEXT)))).groups["g"].voices
    assert voice.facts


def test_standard_input_that_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="standard input: is binary and no log"):
        observe(sources_in(["-"], io.BytesIO(bytes(range(256)) * 40)))


def test_parts_of_a_rotated_log_are_one_however_they_are_compressed(tmp_path: Path) -> None:
    middle = TEXT.index(b"\n", len(TEXT) // 2) + 1
    (tmp_path / "c1.log.1.zst").write_bytes(zstd(TEXT[:middle]))
    (tmp_path / "c1.log").write_bytes(TEXT[middle:])
    assert [what for what, _ in calls(observed(tmp_path))] == ["assigned", "revoked"]


def test_zstd_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """Its blocks are of 128 KiB: the first comes whole."""
    compressed = zstd(TEXT * 4)
    path = tmp_path / "c1.log.zst"
    path.write_bytes(compressed[: len(compressed) * 3 // 4])
    found = observed(path)
    assert calls(found)[0] == ("assigned", ("t-0", "t-1"))
    assert 0 < found.census.lines < 4 * len(LINES)


def test_zstd_that_is_broken_is_told_and_does_not_end_the_reading(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    (tmp_path / "broken.log.zst").write_bytes(ZSTD_HEAD + bytes(range(200)))
    (tmp_path / "c1.log").write_bytes(TEXT)
    found = observed(tmp_path)
    assert len(calls(found)) == 2
    assert "broken.log.zst: is cut or damaged" in found.notes[0]


def test_where_nothing_reads_zstd_the_error_says_what_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "c1.log.zst"
    path.write_bytes(ZSTD_HEAD + b"anything")
    with pytest.raises(InputError, match=r"pip install 'rebalsim\[zstd\]'.*zstd -d") as raised:
        observed(path)
    assert "\n" not in str(raised.value)


def test_lines_without_an_end_are_cut_and_told(tmp_path: Path) -> None:
    """The line after each is read as it is."""
    path = tmp_path / "c1.log"
    path.write_bytes(b"x" * 3_000_000 + b"\n" + TEXT + b"y" * 5_000_000 + b"\n" + LINES[0].encode())
    found = observed(path)
    assert [what for what, _ in calls(found)] == ["assigned", "revoked"]
    assert "c1.log: 2 lines of more than 1 MB; what is beyond was left out" in found.notes
