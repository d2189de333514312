"""What a build does and says, without Go and without a network: a program that plays `go` stands in its place."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from devkube.real import build, go, system
from devkube.real.tools import KUBE_MODULES, MODULES, Tool, Toolbox, ToolsMissingError, tools

VERSION = 'case "$1" in version) echo "go version go1.99.0 linux/amd64"; exit 0;; esac\n'


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `go` on PATH whose answer a test writes."""
    program = tmp_path / "bin" / "go"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program


def plays(program: Path, script: str) -> None:
    program.write_text("#!/bin/sh\n" + VERSION + script)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


WRITES = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done; [ -n "$out" ] && echo built > "$out"; exit 0\n'


def test_builds_what_is_missing_and_nothing_twice(
    fake_go: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    box = Toolbox("1.37", home=tmp_path / "cache")
    plays(fake_go, WRITES)
    assert build.build(box, ["etcd"]) == 0
    assert box.path("etcd").read_text() == "built\n"
    plays(fake_go, "exit 1\n")
    assert build.build(box, ["etcd"]) == 0
    assert "nothing to build" in capsys.readouterr().out


def test_an_unreachable_registry_is_one_line_and_exit_code_2(
    fake_go: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = 'go: go.etcd.io/x@v1: Get "https://registry.invalid/x": dial tcp: lookup registry.invalid: no such host'
    plays(fake_go, f"echo 'go: downloading a v1'; echo '{said}'; exit 1\n")
    assert build.build(Toolbox("1.37", home=tmp_path / "cache"), ["etcd"]) == 2
    assert capsys.readouterr().err == f"✗ the Go module registry cannot be reached: {said}\n"


def test_a_build_that_fails_leaves_no_program_and_says_what_go_said(
    fake_go: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    box = Toolbox("1.37", home=tmp_path / "cache")
    plays(fake_go, '[ "$1" = mod ] && exit 0\necho "etcd.go:1: undefined: x"; exit 1\n')
    assert build.build(box, ["etcd"]) == 1
    assert capsys.readouterr().err == "✗ etcd does not build:\netcd.go:1: undefined: x\n"
    with pytest.raises(ToolsMissingError, match="not built: etcd; `make kube-tools` builds them"):
        box.path("etcd")


def test_a_file_that_a_killed_build_left_counts_as_not_built(tmp_path: Path) -> None:
    box = Toolbox("1.37", home=tmp_path)
    part = box.place("etcd").with_name("etcd.part")
    part.parent.mkdir(parents=True)
    part.write_text("half")
    assert box.missing(["etcd"]) == ["etcd"]


def test_another_state_of_the_module_is_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    etcd = next(tool for tool in tools() if tool.name == "etcd")
    before = etcd.key
    copy = tmp_path / "etcd"
    copy.mkdir()
    for name in ("go.mod", "go.sum"):
        (copy / name).write_bytes((MODULES / "etcd" / name).read_bytes())
    monkeypatch.setattr("devkube.real.tools.MODULES", tmp_path)
    assert etcd.key == before
    with (copy / "go.sum").open("a") as file:
        file.write("\n")
    assert etcd.key != before


@pytest.mark.parametrize("kube", sorted(KUBE_MODULES))
def test_every_program_has_its_module_with_a_tool_line(kube: str) -> None:
    for tool in (tool for tool in tools(kube) if tool.package != "."):
        assert re.search(rf"^tool {re.escape(tool.package)}$", tool.go_mod.read_text(), re.MULTILINE), tool.name
        assert tool.go_mod.with_name("go.sum").exists()


def test_the_minor_chosen_is_the_one_that_the_server_will_tell() -> None:
    def flags(kube: str) -> str:
        return next(tool for tool in tools(kube) if tool.name == "kube-apiserver").link_flags

    assert "gitVersion=v1.37.2" in flags("1.37")
    assert "gitMinor=34" in flags("1.34")
    with pytest.raises(ValueError, match=r"no module for Kubernetes 1\.2; there are 1\.34, 1\.37"):
        tools("1.2")


def test_the_modules_name_no_registry() -> None:
    """go.mod and go.sum hold module paths and sums only; a proxy's address would be this machine's."""
    text = "".join(path.read_text() for path in MODULES.glob("*/go.*"))
    assert "://" not in text


def test_an_old_go_on_the_path_is_passed_over_for_the_wheel(fake_go: Path, tmp_path: Path) -> None:
    plays(fake_go, "")
    said: list[str] = []
    assert go.find(tmp_path, (1, 26), said.append) == fake_go
    wheel = go.wheel(tmp_path) / "go" / "bin" / "go"
    wheel.parent.mkdir(parents=True)
    wheel.write_text("#!/bin/sh\necho go version go2.5\n")
    wheel.chmod(0o755)
    assert go.find(tmp_path, (2, 0), said.append) == wheel
    assert said == []


def test_packages_of_the_system_that_cannot_be_installed_are_named_in_one_line(
    fake_go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "missing", lambda: ["runc", "busybox-static"])
    monkeypatch.setenv("PATH", str(fake_go.parent))
    said: list[str] = []
    system.install(said.append)
    names = "runc busybox-static"
    assert said == [f"! the container node is left out: {names} missing; as root on Debian: apt-get install {names}"]


def test_elapsed_time_is_for_people() -> None:
    assert [build.elapsed(seconds) for seconds in (0.4, 59.2, 185)] == ["0 s", "59 s", "3 min 05 s"]


def test_an_unknown_program_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such program: etcdd; there are etcd, kube-apiserver"):
        build.wanted(Toolbox("1.37", home=tmp_path), ["etcdd"])
    assert all(isinstance(tool, Tool) for tool in build.wanted(Toolbox("1.37", home=tmp_path), []))
