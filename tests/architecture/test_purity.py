"""The domain runs without Django, in a fresh interpreter (style.md rule 1)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import importlib, pathlib, sys
for path in sorted(pathlib.Path("apps").glob("*/domain/*.py")):
    importlib.import_module(".".join(path.with_suffix("").parts))
heavy = {"django", "rest_framework", "channels", "celery", "kubernetes", "redis"}
print(sorted(heavy & {name.split(".")[0] for name in sys.modules}))
"""


def test_importing_every_domain_module_loads_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
