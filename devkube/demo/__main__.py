"""`python -m devkube.demo start | logins | reset`, behind `make demo`, `make demo-logins`, `make demo-reset`."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status
from rich.table import Table

from devkube.agent.runs import Runs
from devkube.children import start as start_child
from devkube.demo.depths import Embedded, Real
from devkube.demo.installation import AlreadyRunningError, Installation
from devkube.demo.programs import ROOT, Plan
from devkube.demo.servers import ServerStartError
from devkube.demo.supervisor import StartError, Supervisor, begin, tail, wait_for_end
from devkube.real.tools import ToolsMissingError

app = typer.Typer(add_completion=False, help=__doc__)
console = Console(highlight=False)
Home = Annotated[Path, typer.Option(help="The installation's folder.", envvar="DEMO_HOME")]
DEFAULT_HOME = ROOT / ".demo"
CHORE_SECONDS = 300.0


@app.command()
def start(
    home: Home = DEFAULT_HOME,
    real: Annotated[bool, typer.Option(help="Run the clusters on real control planes (make kube-tools).")] = False,
) -> None:
    """Start everything and keep it running until Ctrl-C."""
    installation = Installation(home)
    try:
        with installation.held():
            asyncio.run(_run(installation, Real if real else Embedded))
    except (AlreadyRunningError, StartError, ServerStartError, ToolsMissingError) as error:
        console.print(f"[red]✗[/red] {error}", markup=True, soft_wrap=True)
        sys.exit(1)


async def _run(installation: Installation, depth: type[Real | Embedded]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    supervisor = Supervisor(installation.logs, lambda line: console.print(f"  {line}"), installation.note_running)
    began = time.monotonic()
    try:
        with console.status("starting") as status:
            await _or_stop(begin(supervisor, lambda: _set_up(installation, depth, supervisor, status)), stop)
        if not stop.is_set():
            show_logins(installation, f"ready after {time.monotonic() - began:.1f} s; Ctrl-C stops everything")
            await supervisor.watch(stop)
    finally:
        with console.status("stopping"):
            await supervisor.stop()
        console.print("  stopped; the data stays in " + str(installation.home))


async def _or_stop(work: Any, stop: asyncio.Event) -> None:
    """Do the work, or leave it when `stop` comes first."""
    doing, waiting = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait([doing, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not doing.done():
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
        return
    await doing


async def _set_up(
    installation: Installation, depth: type[Real | Embedded], supervisor: Supervisor, status: Status
) -> None:
    status.update("looking for what an earlier start left")
    await asyncio.to_thread(installation.end_left_behind)
    plan = Plan(installation, depth)
    status.update("preparing the databases")
    await plan.prepare()
    status.update("starting databases and clusters")
    await supervisor.start(plan.foundation())
    await supervisor.start(plan.nodes())
    fingerprint = plan.fingerprint()
    if fingerprint != installation.set_up_with():
        for what, words in plan.chores():
            status.update(f"writing {what}")
            await _chore(installation, plan, what, words)
        installation.note_set_up(fingerprint)
    status.update("starting the platform")
    await supervisor.start(plan.platform())
    await supervisor.start(plan.shippers())


async def _chore(installation: Installation, plan: Plan, what: str, words: list[str]) -> None:
    began = time.monotonic()
    log = installation.logs / f"{words[1]}.log"
    log.unlink(missing_ok=True)
    process = start_child([sys.executable, *words], log=log, cwd=ROOT, env=plan.environment())
    try:
        await wait_for_end(process, CHORE_SECONDS)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    if process.returncode != 0:
        raise StartError(f"{what}: `{words[1]}` failed:\n{tail(log)}")
    console.print(f"  [green]✓[/green] {what} [dim]{time.monotonic() - began:.1f} s[/dim]")


def show_logins(installation: Installation, footer: str) -> None:
    """Print the address and the logins."""
    access = json.loads(installation.access.read_text())
    table = Table()
    for heading in ("role", "name", "password"):
        table.add_column(heading)
    for login in access["logins"]:
        table.add_row(login["role"], login["name"], login["password"])
    console.print(f"\n  [bold]{access['url']}[/bold]\n")
    console.print(table)
    console.print(f"  {footer}\n", soft_wrap=True)


@app.command()
def logins(home: Home = DEFAULT_HOME) -> None:
    """Show the address and the logins again."""
    installation = Installation(home)
    if not installation.access.exists():
        console.print("no demo has been set up yet: make demo")
        sys.exit(1)
    show_logins(installation, f"API tokens: {installation.access}")


@app.command()
def reset(home: Home = DEFAULT_HOME) -> None:
    """Forget everything; the next start is a new installation."""
    installation = Installation(home)
    try:
        with installation.held():
            installation.end_left_behind()
            for data in installation.home.glob("clusters/*/agent"):
                _end_containers(Runs(data))
            shutil.rmtree(installation.home)
    except AlreadyRunningError as error:
        console.print(f"[red]✗[/red] {error}; stop it first")
        sys.exit(1)
    console.print("the demo's data is gone; make demo starts anew")


def _end_containers(runs: Runs) -> None:
    for uid in runs.pods():
        for folder in (runs.root / uid).glob("*/"):
            for run in runs.of(uid, folder.name):
                runs.kill(run)


if __name__ == "__main__":
    app()
