"""The parent of a container's process, where its signals meet the process's end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TOLD_AFTER_THE_END = """
import json, os, signal, sys, time
from pathlib import Path
from devkube.agent.cri import CriLog
from devkube.agent.shim import Shim

folder = Path(sys.argv[1])
log = CriLog(folder / "0.log", rotate_bytes=1000, rotate_files=2)
spec = {"argv": ["sh", "-c", "exit 3"], "memory_bytes": 0, "account": None, "cwd": str(folder), "env": dict(os.environ)}
shim = Shim(spec, log)
os.waitid(os.P_PID, shim.pid, os.WEXITED | os.WNOWAIT)
os.kill(os.getpid(), signal.SIGTERM)
print(json.dumps(shim.run()))
"""


def test_a_process_that_ended_by_itself_before_it_was_told_to_is_noticed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TOLD_AFTER_THE_END, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert json.loads(done.stdout) == {"code": 3, "reason": "Error", "message": ""}
