"""What is kept of files that have not changed: the same report, only where nothing that decides has changed, and never a problem."""

import os
import pickle

import pytest
from click.testing import CliRunner
from kernels import COLUMN, PTX

import ptxaudit
from ptxaudit import pipeline, result_cache
from ptxaudit.cli import main
from ptxaudit.launch import Launch
from ptxaudit.nvrtc import compile_source

LAUNCH = Launch("*", grid=2, block=32)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder and an empty cache; `audited` lists the files that are really audited."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for function in (result_cache._opened, result_cache._code, result_cache._tools):
        function.cache_clear()
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "c.cu").write_text(COLUMN)
    (tmp_path / "c.cubin").write_bytes(compile_source(tmp_path / "c.cu").cubin)
    yield tmp_path
    result_cache._opened.cache_clear()


@pytest.fixture
def audited(monkeypatch):
    files = []
    audit = pipeline._audited

    def counting(inputs, options, progress):
        files.extend(map(str, inputs))
        return audit(inputs, options, progress)

    monkeypatch.setattr(pipeline, "_audited", counting)
    return files


def run(*files, **options):
    return ptxaudit.audit(list(files), cache=True, **options)


def test_a_second_audit_takes_what_was_found_and_says_the_same(here, audited):
    first = run("k.ptx", "c.cubin", launches=[LAUNCH])
    assert audited == ["k.ptx", "c.cubin"]
    second = run("k.ptx", "c.cubin", launches=[LAUNCH])
    assert audited == ["k.ptx", "c.cubin"] and second == first == ptxaudit.audit(["k.ptx", "c.cubin"], launches=[LAUNCH])
    assert second.to_json() == first.to_json()


def test_only_what_is_new_is_audited_and_the_order_stays(here, audited):
    run("c.cubin")
    both = run("k.ptx", "c.cubin", "c.cu")
    assert audited == ["c.cubin", "k.ptx", "c.cu"] and [entry.path for entry in both.inputs] == ["k.ptx", "c.cubin", "c.cu"]
    assert both == ptxaudit.audit(["k.ptx", "c.cubin", "c.cu"])


def test_a_source_is_compiled_each_time(here, audited):
    run("c.cu")
    run("c.cu")
    assert audited == ["c.cu", "c.cu"]


@pytest.mark.parametrize("change", [
    {"launches": [Launch("*", grid=3, block=32)]}, {"launches": [Launch("*", grid=2, block=32, named={"1": 4})]}, {"assume": {"0": 16}},
    {"arch": "sm_80"}, {"machine": "fermi"}, {"kernels": ["s*"]}, {"budget": 5.0},
], ids=lambda change: next(iter(change)))
def test_other_options_are_another_result(here, audited, change):
    options = {"launches": [LAUNCH]}
    run("k.ptx", **options)
    run("k.ptx", **options | change)
    run("k.ptx", **options | change)
    assert audited == ["k.ptx", "k.ptx"]


def test_another_content_is_another_result(here, audited):
    run("k.ptx")
    (here / "k.ptx").write_text(PTX.replace("stride", "other"))
    assert run("k.ptx").kernels[0].name == "other"


def test_another_build_of_the_tool_knows_nothing_of_it(here, audited, monkeypatch):
    run("k.ptx")
    monkeypatch.setattr(result_cache, "_code", lambda: "another")
    run("k.ptx")
    assert audited == ["k.ptx", "k.ptx"]


def test_a_source_line_that_changed_is_read_again(here, audited):
    assert run("c.cubin").sites[0].source.text
    (here / "c.cu").write_text("// moved\n" + COLUMN)
    run("c.cubin")
    assert audited == ["c.cubin", "c.cubin"]


def test_problems_are_never_kept(here, audited):
    (here / "cut.ptx").write_text(PTX[:-30])
    launches = [Launch("*", grid=1, block=32, params=[1])]
    for _ in range(2):
        assert len(run("cut.ptx", "k.ptx").problems) == 1
        assert "too few parameters" in run("k.ptx", launches=launches).problems[0].what
    assert audited == ["cut.ptx", "k.ptx", "k.ptx", "cut.ptx", "k.ptx"]


def test_a_launch_of_no_kernel_is_a_problem_also_when_all_is_kept(here, audited):
    other = [LAUNCH, Launch("other", grid=1)]
    assert run("k.ptx", launches=other).problems == run("k.ptx", launches=other).problems != ()


def test_inputs_that_are_no_files_and_files_named_twice(here):
    assert run(PTX, "k.ptx", "k.ptx") == ptxaudit.audit([PTX, "k.ptx", "k.ptx"])
    assert {kernel.input for kernel in run("k.ptx", PTX, "c.cubin").kernels} == {"k.ptx", "<string>", "c.cubin"}


@pytest.mark.parametrize("damage", [b"", b"no database"])
def test_a_damaged_cache_is_none(here, audited, damage):
    run("k.ptx")
    result_cache._opened().close()
    result_cache._opened.cache_clear()
    (here / "cache" / "ptxaudit" / "results" / result_cache.FILE).write_bytes(damage)
    assert run("k.ptx").sites


def test_what_is_kept_survives_pickling_and_the_folder_is_the_users_alone(here):
    report = run("k.ptx", launches=[LAUNCH])
    assert pickle.loads(pickle.dumps(report)) == report
    assert os.stat(here / "cache" / "ptxaudit" / "results").st_mode & 0o077 == 0


def test_the_command_keeps_unless_told_not_to(here, audited, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_CACHE", raising=False)
    texts = [CliRunner().invoke(main, ["audit", "k.ptx", *options]).stdout for options in ([], [], ["--no-cache"])]
    assert audited == ["k.ptx", "k.ptx"] and texts[0] == texts[1] == texts[2]
