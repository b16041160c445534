"""Finding compilers in wheels of several major versions, CUDA folders and PATH."""

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchains
from ptxaudit.ui.commands.toolchains import command


@pytest.fixture(autouse=True)
def fresh():
    toolchains.find.cache_clear()
    yield
    toolchains.find.cache_clear()


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A machine with nothing installed."""
    for variable in (toolchains.VARIABLE, "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchains.sys, "path", [])
    monkeypatch.setattr(toolchains, "SYSTEM_FOLDERS", ())
    return tmp_path


def executable(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release x, V{version}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def library(folder: Path, major: str, version: str) -> Path:
    folder.mkdir(parents=True)
    (folder / f"libnvrtc-builtins.so.{version}").touch()
    path = folder / f"libnvrtc.so.{major}"
    path.touch()
    return path


@pytest.mark.parametrize("kind", toolchains.KINDS)
def test_every_tool_is_installed_with_the_dependencies(kind):
    tool = toolchains.get(kind)
    assert tool.origin == "wheel" and tool.version.startswith("13.") and Path(tool.path).exists()


def test_wheels_contain_the_headers():
    headers = toolchains.get("nvrtc").headers
    for name in ("cuda_fp16.h", "crt/host_config.h", "cuda/std/cstdint", "cub/block/block_scan.cuh"):
        assert any(Path(folder, name).exists() for folder in headers), name


def test_wheels_of_cuda_13_and_12_are_both_found(alone, monkeypatch):
    site, target = alone / "site", alone / "cuda-12.9"
    new = library(site / "nvidia" / "cu13" / "lib", "13", "13.3")
    old = library(target / "nvidia" / "cuda_nvrtc" / "lib", "12", "12.9")
    for folder in (
        site / "nvidia" / "cu13" / "include" / "cccl",
        target / "nvidia" / "cuda_runtime" / "include",
        target / "nvidia" / "cuda_cccl" / "include",
    ):
        folder.mkdir(parents=True)
    executable(target / "nvidia" / "cuda_nvcc" / "bin" / "ptxas", "12.9.86")
    monkeypatch.setattr(toolchains.sys, "path", [str(site)])
    monkeypatch.setenv(toolchains.VARIABLE, str(target))
    found = toolchains.find("nvrtc")
    assert [(t.path, t.version, t.origin) for t in found] == [
        (str(new), "13.3", "wheel"),
        (str(old), "12.9", toolchains.VARIABLE),
    ]
    assert [Path(f).relative_to(site / "nvidia/cu13").as_posix() for f in found[0].headers] == [
        "include",
        "include/cccl",
    ]
    assert [Path(f).relative_to(target / "nvidia").as_posix() for f in found[1].headers] == [
        "cuda_runtime/include",
        "cuda_cccl/include",
    ]
    assert toolchains.get("nvrtc", "12.9").path == str(old)
    assert toolchains.get("ptxas", "12").version == "12.9.86"
    assert toolchains.headers_of(str(old)) == found[1].headers


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH", toolchains.VARIABLE])
def test_tools_in_a_cuda_folder_are_found(alone, monkeypatch, variable):
    executable(alone / "cuda" / "bin" / "nvdisasm", "11.8.89")
    monkeypatch.setenv(variable, str(alone / "cuda"))
    assert [(t.version, t.origin) for t in toolchains.find("nvdisasm")] == [("11.8.89", variable)]


def test_tools_on_path_are_listed_once(alone, monkeypatch):
    path = executable(alone / "cuda" / "bin" / "ptxas", "12.1.0")
    monkeypatch.setenv("PATH", str(path.parent))
    assert [t.origin for t in toolchains.find("ptxas")] == ["PATH"]
    toolchains.find.cache_clear()
    monkeypatch.setenv("CUDA_HOME", str(alone / "cuda"))
    assert [t.origin for t in toolchains.find("ptxas")] == ["CUDA_HOME"]


def test_releases_in_the_cache_are_found(alone):
    library(toolchains.cache_folder() / "11.8" / "nvidia" / "cuda_nvrtc" / "lib", "11.2", "11.8")
    assert [(t.version, t.origin) for t in toolchains.find("nvrtc")] == [("11.8", "cache")]


@pytest.mark.parametrize("kind", toolchains.KINDS)
def test_missing_tool_names_its_package(alone, kind):
    with pytest.raises(InputError, match=f"no {kind} on this machine.*pip install nvidia-cuda-"):
        toolchains.get(kind)


def test_missing_version_names_the_available_ones():
    with pytest.raises(InputError, match=r"no ptxas 9.1 on this machine \(found: .*13\."):
        toolchains.get("ptxas", "9.1")


def test_tool_that_cannot_run_has_no_version(alone, monkeypatch):
    path = executable(alone / "bin" / "ptxas", "1.0")
    path.write_bytes(b"\x7fELF nonsense")
    monkeypatch.setenv("PATH", str(path.parent))
    assert toolchains.get("ptxas").version == ""


def test_toolchains_command_lists_tools_as_text_and_json():
    text = CliRunner().invoke(command).output
    assert all(kind in text for kind in toolchains.KINDS) and toolchains.VARIABLE in text
    listed = json.loads(CliRunner().invoke(command, ["--format", "json"]).output)
    assert {tool["kind"] for tool in listed["tools"]} == set(toolchains.KINDS) and listed["missing"] == []
    assert all(os.path.exists(tool["path"]) for tool in listed["tools"])


def test_toolchains_command_names_missing_packages(alone):
    text = CliRunner().invoke(command).output
    assert text.count("none") == len(toolchains.KINDS) and "pip install nvidia-cuda-nvdisasm" in text
