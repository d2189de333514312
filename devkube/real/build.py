"""`python -m devkube.real.build [--kube 1.34] [program …]`, behind `make kube-tools`: build what is not built yet.

Exit codes: 0 all there; 1 something does not build; 2 the module registry cannot be reached. A program appears under
its name only when it is whole (built beside it, then renamed), so a killed build leaves nothing half-made.
Standard library only (devkube.real.tools).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from devkube.children import dies_with_parent
from devkube.real import go, system
from devkube.real.tools import BUILD_FLAGS, KUBE, KUBE_MODULES, Tool, Toolbox

DOWNLOAD_TRIES = 2
PIPED_EVERY = 30.0
WIPE = "\r\033[K"
# What Go and the system say when the way to the registry is cut, not when the registry answers "no such module".
_UNREACHABLE = re.compile(
    r"dial tcp|no such host|connection (refused|reset)|i/o timeout|TLS handshake|deadline exceeded|network is "
    r"unreachable|proxyconnect|server misbehaving|unexpected EOF|: EOF$|: 50[234] |module lookup disabled",
    re.MULTILINE,
)


class BuildError(RuntimeError):
    """A program does not build; the message has the end of what Go said."""


class UnreachableError(RuntimeError):
    """The module registry does not answer; the message is one line."""


def elapsed(seconds: float) -> str:
    """Seconds as a person reads them: `42 s`, `3 min 05 s`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


@dataclass
class Progress:
    """One line per step: rewritten each second on a terminal, else repeated every half minute."""

    what: str

    def __post_init__(self) -> None:
        """The clock starts."""
        self._began = self._told = time.monotonic()
        self._terminal = sys.stdout.isatty()

    @property
    def seconds(self) -> str:
        """How long it has taken so far."""
        return elapsed(time.monotonic() - self._began)

    def tick(self) -> None:
        """Call it about once a second."""
        if self._terminal:
            print(f"{WIPE}· {self.what} … {self.seconds}", end="", flush=True)
        elif time.monotonic() - self._told >= PIPED_EVERY:
            self._told = time.monotonic()
            print(f"· {self.what} … {self.seconds}", flush=True)

    def end(self, mark: str = "✓") -> None:
        """The step is over."""
        print(f"{WIPE if self._terminal else ''}{mark} {self.what}  {self.seconds}", flush=True)


class Builder:
    """Builds the programs of a toolbox one after the other with one Go."""

    def __init__(self, box: Toolbox, program: Path) -> None:
        """`program` is the `go` to call."""
        self._box, self._go = box, str(program)
        self._fetched: set[str] = set()
        own = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"}
        self._environment = os.environ | own

    def build(self, tool: Tool) -> None:
        """Fetch, build, put in place; raises BuildError, UnreachableError."""
        if tool.folder not in self._fetched:
            self._fetch(tool)
            self._fetched.add(tool.folder)
        place = self._box.place(tool.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f"{tool.name}.part")
        progress = Progress(f"{tool.name} {tool.version}")
        words = ["build", *BUILD_FLAGS, "-ldflags", tool.link_flags, "-o", str(fresh), tool.package]
        code, said = self._run(words, tool, progress.tick)
        if code:
            progress.end("✗")
            raise _failure(said, f"{tool.name} does not build")
        if tool.crds:
            self._copy_crds(tool, place.with_name(f"{tool.name}.crds"))
        fresh.replace(place)
        progress.end()

    def _fetch(self, tool: Tool) -> None:
        progress = Progress(f"{tool.folder}: fetching the sources")
        for attempt in range(1, DOWNLOAD_TRIES + 1):
            code, said = self._run(["mod", "download"], tool, progress.tick)
            if not code:
                break
            failure = _failure(said, f"the sources of {tool.folder} cannot be fetched")
            if attempt == DOWNLOAD_TRIES or isinstance(failure, BuildError):
                progress.end("✗")
                raise failure
        progress.end()

    def _copy_crds(self, tool: Tool, place: Path) -> None:
        code, said = self._run(["list", "-m", "-f", "{{.Dir}}", tool.module], tool, lambda: None)
        sources = sorted(Path(said.strip()).glob(tool.crds)) if not code else []
        if not sources:
            raise BuildError(f"{tool.name}: its module has no {tool.crds}: {said.strip()}")
        fresh = place.with_name(place.name + ".part")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for source in sources:
            (fresh / source.name).write_bytes(source.read_bytes())  # the module cache is read-only, its copies are not
        shutil.rmtree(place, ignore_errors=True)
        fresh.replace(place)

    def _run(self, words: Sequence[str], tool: Tool, tick: Callable[[], None]) -> tuple[int, str]:
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [self._go, *words],
                cwd=tool.go_mod.parent,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509 - only prctl and getppid run there
            )
            try:
                _wait(process, tick)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # the compilers that an interrupted go leaves
                process.wait()
            output.seek(0)
            return process.returncode, output.read()


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
            return
        tick()


def _failure(said: str, what: str) -> BuildError | UnreachableError:
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("go: downloading")]
    if found := next((line for line in lines if _UNREACHABLE.search(line)), None):
        return UnreachableError(f"the Go module registry cannot be reached: {found.strip()[-300:]}")
    return BuildError(f"{what}:\n" + "\n".join(lines[-15:]))


@contextlib.contextmanager
def held(home: Path) -> Iterator[None]:
    """Hold the cache folder, so that two builds do not meet; waits for the other, saying so."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("· another build is at work, waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wanted(box: Toolbox, names: Sequence[str]) -> list[Tool]:
    """The programs to have on this system, in the order of building; raises ValueError for a name unknown."""
    if unknown := sorted(set(names) - set(box.tools)):
        raise ValueError(f"no such program: {', '.join(unknown)}; there are {', '.join(box.tools)}")
    chosen = [tool for tool in box.tools.values() if not names or tool.name in names]
    return [tool for tool in chosen if sys.platform == "linux" or not tool.linux_only]


def build(box: Toolbox, names: Sequence[str] = ()) -> int:
    """Build what is missing and say what happens; the exit code."""
    began = time.monotonic()
    try:
        with held(box.home):
            absent = [tool for tool in wanted(box, names) if box.missing([tool.name])]
            if absent:
                builder = Builder(box, go.find(box.home, go.needed(absent), lambda line: print(line, flush=True)))
            for number, tool in enumerate(absent, 1):
                print(f"[{number}/{len(absent)}] ", end="", flush=True)
                builder.build(tool)
    except UnreachableError as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    except (BuildError, ValueError, go.GoMissingError) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 1
    done = f"built in {elapsed(time.monotonic() - began)}" if absent else "nothing to build"
    print(f"✓ Kubernetes {box.kube} and its neighbours: {done}, in {box.home}", flush=True)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(prog="devkube.real.build", description=__doc__.splitlines()[0])
    parser.add_argument("--kube", default=KUBE, choices=sorted(KUBE_MODULES), help="the Kubernetes minor")
    parser.add_argument("programs", nargs="*", help="only these")
    asked = parser.parse_args(arguments)
    code = build(Toolbox(asked.kube), asked.programs)
    if not code and not asked.programs:
        system.install(lambda line: print(line, flush=True))
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\n✗ interrupted; what is built stays", file=sys.stderr)
        sys.exit(130)
