"""CRI log files: what the shim writes and what containerLogs reads back."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from devkube.agent.clock import nano_stamp, parse_nano
from devkube.agent.cri import LONGEST, CriLog
from devkube.agent.reading import LogQuery, read


def lines_of(path: Path) -> list[tuple[bytes, bytes, bytes]]:
    fields = [line.split(b" ", 3) for line in path.read_bytes().split(b"\n")[:-1]]
    return [(stream, mark, text) for _, stream, mark, text in fields]


async def text_of(path: Path, query: LogQuery) -> bytes:
    return b"".join([piece async for piece in read(path, query, lambda: False)])


def test_a_line_over_16_kib_comes_in_parts(tmp_path: Path) -> None:
    log = CriLog(tmp_path / "0.log")
    log.feed("stdout", b"x" * 40_000 + b"\nshort\n" + b"y" * LONGEST + b"\n")
    log.close()
    out = b"stdout"
    assert lines_of(tmp_path / "0.log") == [
        (out, b"P", b"x" * LONGEST),
        (out, b"P", b"x" * LONGEST),
        (out, b"F", b"x" * (40_000 - 2 * LONGEST)),
        (out, b"F", b"short"),
        (out, b"F", b"y" * LONGEST),
    ]


def test_text_without_a_newline_waits_for_it_and_is_partial_at_the_end(tmp_path: Path) -> None:
    log = CriLog(tmp_path / "0.log")
    log.feed("stdout", b"no newline")
    log.feed("stderr", b"other\n")
    log.feed("stdout", b" yet\nrest")
    log.close()
    assert lines_of(tmp_path / "0.log") == [
        (b"stderr", b"F", b"other"),
        (b"stdout", b"F", b"no newline yet"),
        (b"stdout", b"P", b"rest"),
    ]


def test_timestamps_rise_strictly_within_a_file(tmp_path: Path) -> None:
    log = CriLog(tmp_path / "0.log")
    log.feed("stdout", b"line\n" * 5000)
    log.close()
    stamps = [parse_nano(line.split(b" ")[0].decode()) for line in (tmp_path / "0.log").read_bytes().splitlines()]
    assert len(set(stamps)) == 5000
    assert stamps == sorted(stamps)


def test_a_log_is_rotated_and_only_so_many_files_are_kept(tmp_path: Path) -> None:
    log = CriLog(tmp_path / "0.log", rotate_bytes=1000, rotate_files=3)
    for _ in range(20):
        log.feed("stdout", b"z" * 600 + b"\n")
    log.close()
    assert sorted(path.name.split(".")[1] for path in tmp_path.iterdir()) == ["log", "log", "log"]
    assert all(path.stat().st_size < 2000 for path in tmp_path.iterdir())


async def test_reading_back_joins_parts_and_keeps_carriage_returns(tmp_path: Path) -> None:
    log = CriLog(tmp_path / "0.log", rotate_bytes=30_000)
    text = b"a\rb\n" + b"x" * 40_000 + b"\n\xff\xfe\n\nend\n"
    log.feed("stdout", text)
    log.feed("stdout", b"after the rotation\n")
    log.close()
    assert await text_of(tmp_path / "0.log", LogQuery()) == text + b"after the rotation\n"


async def test_tail_since_stream_and_limit_narrow_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(b"2026-01-01T00:00:0%d.5Z stdout F line %d\n" % (n, n) for n in range(5)))
    since = parse_nano("2026-01-01T00:00:03Z")
    assert await text_of(path, LogQuery(tail=2)) == b"line 3\nline 4\n"
    assert await text_of(path, LogQuery(tail=0)) == b""
    assert await text_of(path, LogQuery(since=since, timestamps=True)) == (
        b"2026-01-01T00:00:03.5Z line 3\n2026-01-01T00:00:04.5Z line 4\n"
    )
    assert await text_of(path, LogQuery(limit_bytes=9)) == b"line 0\nli"
    assert await text_of(path, LogQuery(stream="stderr")) == b""


@given(st.integers(0, 4_000_000_000_000_000_000))
def test_a_timestamp_reads_back_exactly(moment: int) -> None:
    assert parse_nano(nano_stamp(moment)) == moment
