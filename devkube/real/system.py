"""What a container node needs from the system's own packages: runc, the CNI plugins, a static busybox.

Standard library only (devkube.real.tools).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
CNI_PLUGINS = ("bridge", "host-local", "loopback")
APT_SECONDS = 600


def runc() -> Path | None:
    """The low-level container runtime."""
    found = shutil.which("runc", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    return Path(found) if found else None


def cni() -> Path | None:
    """The folder with the network plugins."""
    return next((f for f in CNI_FOLDERS if all((f / name).exists() for name in CNI_PLUGINS)), None)


def busybox() -> Path | None:
    """A busybox that needs no library: it names no program interpreter."""
    for folder in ("/bin", "/usr/bin"):
        program = Path(folder) / "busybox"
        if program.exists() and b"/ld-" not in program.read_bytes()[:4096]:
            return program
    return None


def missing() -> list[str]:
    """Debian's names of the packages that are not there."""
    wanted = {"runc": runc, "containernetworking-plugins": cni, "busybox-static": busybox}
    return [package for package, find in wanted.items() if find() is None]


def install(say: Callable[[str], None]) -> None:
    """Install what is missing by apt where that is possible; else say in one line what is left out and why."""
    gone = missing()
    if sys.platform != "linux" or not gone:
        return
    names = " ".join(gone)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        say(f"! the container node is left out: {names} missing; as root on Debian: apt-get install {names}")
        return
    say(f"· installing {names} by apt")
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *gone]):
        done = subprocess.run(
            ["apt-get", *words], env=quiet, capture_output=True, text=True, check=False, timeout=APT_SECONDS
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            say(f"! the container node is left out: apt-get {words[0]} failed: {last}")
            return
