"""Stopping containers: preStop, SIGTERM, grace, SIGKILL to the whole tree."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import signal
import subprocess
import termios
from collections.abc import Callable, Sequence
from typing import Any

from devkube.agent.clock import monotonic
from devkube.agent.launch import Obj
from devkube.agent.runs import Run, Runs
from devkube.children import dies_with_parent

AFTER_PRE_STOP = 2.0  # kubelet's least time between the end of preStop and SIGKILL


async def stop_all(runs: Runs, running: Sequence[tuple[Run, Obj]], deadline: Callable[[], float]) -> None:
    """Stop these (run, container) side by side; `deadline` is read again and again, so a grace may be shortened."""
    await asyncio.gather(*(_stop(runs, run, container, deadline) for run, container in running))


async def _stop(runs: Runs, run: Run, container: Obj, deadline: Callable[[], float]) -> None:
    ending = asyncio.ensure_future(runs.wait(run))
    hook = asyncio.ensure_future(pre_stop(run, container))
    await _until({hook, ending}, deadline)
    hook.cancel()
    await asyncio.gather(hook, return_exceptions=True)
    late = monotonic() + AFTER_PRE_STOP if (container.get("lifecycle") or {}).get("preStop") else 0.0
    runs.ask_to_stop(run)
    await _until({ending}, lambda: max(deadline(), late))
    while not ending.done():
        runs.kill(run)
        await asyncio.wait({ending}, timeout=0.2)


async def _until(any_of: set[asyncio.Future[Any]], deadline: Callable[[], float]) -> None:
    while (left := deadline() - monotonic()) > 0:
        done, _ = await asyncio.wait(any_of, timeout=min(left, 0.2), return_when=asyncio.FIRST_COMPLETED)
        if done:
            return


async def pre_stop(run: Run, container: Obj) -> None:
    """Run a container's preStop hook (`exec` or `sleep`) to its end; its output is thrown away."""
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    if "sleep" in hook:
        await asyncio.sleep(float(hook["sleep"]["seconds"]))
    if "exec" in hook:
        process = await inside(run, hook["exec"]["command"], subprocess.DEVNULL, subprocess.DEVNULL)
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()


async def inside(
    run: Run, command: Sequence[str], stdin: int, output: int, *, terminal: bool = False
) -> asyncio.subprocess.Process:
    """Start a command as the container's own: its folder, environment and user; raises OSError.

    `terminal`: stdin is a terminal that becomes the command's own.
    """
    spec = run.spec
    account = spec["account"]
    with_parent = dies_with_parent(signal.SIGKILL)

    def before_exec() -> None:
        with_parent()
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    return await asyncio.create_subprocess_exec(
        *command,
        stdin=stdin,
        stdout=output,
        stderr=output,
        cwd=spec["cwd"],
        env=spec["env"] | ({"TERM": "xterm-256color"} if terminal else {}),
        user=account,
        group=account,
        extra_groups=None if account is None else [],
        start_new_session=True,
        preexec_fn=before_exec,
    )
