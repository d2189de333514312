"""Sizes that keep the code readable (style.md §3.1). When one hurts, the design is improved, not the number."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE, DOMAIN, FUNCTION, VIEW, TEMPLATE, TEST = 400, 250, 40, 15, 150, 25
PYTHON = ("apps", "platform_site", "devkube", "bench", "tests")


def _tracked(*roots: str, suffix: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *roots], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if line.endswith(suffix) and (ROOT / line).exists()]


def _modules() -> list[Path]:
    return [path for path in _tracked(*PYTHON, suffix=".py") if "migrations" not in path.parts]


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def _lines(path: Path) -> int:
    return path.read_text().count("\n")


def test_no_module_is_too_long() -> None:
    budgets = {path: DOMAIN if "domain" in path.parts and "apps" in path.parts else MODULE for path in _modules()}
    too_long = {str(path.relative_to(ROOT)): _lines(path) for path, most in budgets.items() if _lines(path) > most}
    assert too_long == {}


def test_no_function_is_too_long() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{name} {length}"
        for path in _modules()
        for name, length in _functions(path)
        if length > _most(path, name)
    ]
    assert too_long == []


def _most(path: Path, name: str) -> int:
    if "tests" in path.relative_to(ROOT).parts and name.startswith("test_"):
        return TEST
    return VIEW if path.name == "views.py" and "web" in path.parts else FUNCTION


def test_no_template_is_too_long() -> None:
    templates = _tracked("templates", suffix=".html")
    assert {str(p.relative_to(ROOT)): _lines(p) for p in templates if _lines(p) > TEMPLATE} == {}


def test_kinds_are_told_apart_only_in_their_folder() -> None:
    word = re.compile(r"\bif [\w.]*\bkind\w* (==|!=|is|in) ")
    guilty = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in _tracked("apps", suffix=".py")
        if "kinds" not in path.parts
        for line in path.read_text().splitlines()
        if word.search(line)
    ]
    assert guilty == []


def test_nobody_names_a_drawer_for_everything() -> None:
    drawers = {"utils.py", "helpers.py", "common.py", "misc.py", "managers.py", "signals.py"}
    assert [path for path in _modules() if path.name in drawers] == []


def test_every_exception_from_a_gate_says_why() -> None:
    mark = re.compile(r"#\s*(?:noqa(?:: [A-Z0-9, ]+)?|type: ignore(?:\[[^\]]*\])?|pragma: no cover)(.*)$")
    bare = []
    for path in _modules():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = mark.search(line)
            if found and not re.search(r"[^\W\d]{3}", found.group(1)):
                bare.append(f"{path.relative_to(ROOT)}:{number}")
    assert bare == []
