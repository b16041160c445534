"""Equal functions of several files, architectures and releases are examined once, and each is reported under its own
name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import ptxaudit
from ptxaudit.base.work import Exhausted
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline import answers, kernels
from ptxaudit.review.diff.sides import Side, audit_sides

PTX = """.version 8.0
.target ARCH
.address_size 64
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.global .align 4 .u32 unused;
.visible .entry stride(.param .u64 out, .param .u32 n)
{
.reg .b32 %r<9>;
.reg .pred %p<2>;
.shared .align 16 .b8 s[8192];
mov.u32 %r1, %tid.x;
ld.const.u32 %r5, [table+4];
mul.lo.u32 %r4, %r1, %r5;
mov.u32 %r2, s;
mad.lo.u32 %r3, %r4, 4, %r2;
ld.param.u32 %r6, [n];
setp.eq.u32 %p1, %r6, 0;
@%p1 bra L1;
st.shared.u32 [%r3], %r1;
L1:
ret;
}
"""
LAUNCH = ptxaudit.Launch("stride", grid=1, block=64, params=["?", 5])


def text(arch: str = "sm_80", **changed: str) -> str:
    """The kernel for an architecture; changed: replacements in its text."""
    out = PTX.replace("ARCH", arch)
    for old, new in changed.items():
        assert old in out
        out = out.replace(old, new)
    return out


@pytest.fixture
def examined(monkeypatch):
    """The architectures of the functions that the engine evaluates, in order."""
    seen, evaluate = [], kernels.engine.evaluate

    def counting(function, *arguments, **options):
        seen.append(function.arch)
        return evaluate(function, *arguments, **options)

    monkeypatch.setattr(kernels.engine, "evaluate", counting)
    return seen


def audited(folder: Path, *texts: str, **options):
    """The kernels of files with these texts, audited together."""
    files = []
    for number, one in enumerate(texts):
        files.append(folder / f"k{number}.ptx")
        files[-1].write_text(one)
    return ptxaudit.audit(files, **({"launches": [LAUNCH]} | options)).kernels


def test_equal_functions_are_examined_once(tmp_path, examined):
    one, other = audited(tmp_path, text(), text())
    assert examined == ["sm_80"]
    assert [kernel.sites[0].wavefronts for kernel in (one, other)] == [4, 4]
    assert one.input != other.input
    assert audited(tmp_path / "..", text())[0].sites[0].wavefronts == 4 and len(examined) == 2  # a separate audit


def test_architectures_with_equal_rules_share_answers(tmp_path, examined):
    archs = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
    together = audited(tmp_path, *map(text, archs))
    assert examined == ["sm_80", "sm_90", "sm_100"]  # by Ampere's rules, measured rules, Blackwell's rules
    assert [(kernel.arch, kernel.machine) for kernel in together] == [(arch, arch) for arch in archs]
    alone = [replace(audited(tmp_path, text(arch))[0], input="") for arch in archs]
    for kernel, expected in zip(together, alone, strict=True):
        assert [replace(site, id="", source=None) for site in kernel.sites] == [
            replace(site, id="", source=None) for site in expected.sites
        ]


@pytest.mark.parametrize(
    "changed",
    (
        {"2, 0, 0, 0}": "3, 0, 0, 0}"},
        {"s[8192]": "s[4096]"},
        {"ld.param.u32 %r6": "ld.param.u32 %r7"},
        {".global .align 4 .u32 unused;": ".global .align 4 .u32 unused;\n"},  # shifts all line numbers of the PTX
    ),
    ids=("contents", "size", "register", "lines"),
)
def test_different_functions_are_examined_separately(tmp_path, examined, changed):
    audited(tmp_path, text(), text(**changed))
    assert len(examined) == 2


def test_unused_declarations_do_not_separate_functions(tmp_path, examined):
    audited(tmp_path, text(), text(unused="another"))
    assert len(examined) == 1


def test_each_launch_is_examined(tmp_path, examined):
    launches = [LAUNCH, ptxaudit.Launch("stride", grid=1, block=96, params=["?", 5])]
    found = audited(tmp_path, text(), text(), launches=launches)
    assert len(examined) == 2 and [kernel.sites[0].wavefronts for kernel in found] == [4, 6, 4, 6]


def test_answers_that_name_the_machine_are_not_shared(tmp_path, examined):
    """The reason names the machine that has no rule."""
    copied = {"st.shared.u32 [%r3], %r1;": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r1};"}
    found = audited(tmp_path, text("sm_80", **copied), text("sm_86", **copied))
    assert len(examined) == 2 and all(str(kernel.sites[0].status) == "unknown" for kernel in found)


def test_exhausted_answers_are_not_shared(tmp_path, examined):
    before = Exhausted.count
    audited(tmp_path, text(), text(), budget=1e-4)
    assert Exhausted.count > before and len(examined) == 2


def test_fixes_are_searched_for_each_kernel(tmp_path, examined):
    found = audited(tmp_path, text(), text(), fixes=True)
    assert len(examined) == 1 and found[0].sites[0].excess
    assert found[0].sites[0].fix == found[1].sites[0].fix == audited(tmp_path, text(), fixes=True)[0].sites[0].fix


def test_answers_beyond_the_memory_limit_are_not_kept(tmp_path, examined, monkeypatch):
    monkeypatch.setattr(answers, "MOST_BYTES", 0)
    audited(tmp_path, text(), text(), fixes=True)
    assert len(examined) == 2
    audited(tmp_path, text(), text())
    assert len(examined) == 3


def test_oldest_answer_is_evicted_first(tmp_path, examined, monkeypatch):
    monkeypatch.setattr(answers, "MOST_KEPT", 25)  # instructions: enough for two such functions
    one, two, three = text(), text(**{"s[8192]": "s[4096]"}), text(**{"s[8192]": "s[8448]"})
    audited(tmp_path, one, two, one, three, one, two)
    assert len(examined) == 4  # the second was evicted before its last use


def test_both_sides_of_a_diff_share_answers(tmp_path, examined):
    for name in ("old.ptx", "new.ptx"):
        (tmp_path / name).write_text(text())
    options = Options(launches=(LAUNCH,), cache=False)
    old, new = audit_sides([Side(str(tmp_path / name), options) for name in ("old.ptx", "new.ptx")])
    assert len(examined) == 1 and old.report.kernels[0].sites[0].wavefronts == new.report.kernels[0].sites[0].wavefronts


def test_shared_answers_keep_their_own_source(tmp_path, examined):
    """The headers of each release are in a folder of their own."""
    texts = [
        text(**{".global .align 4 .u32 unused;": f'.file 1 "{folder}/k.cu"', "st.shared": ".loc 1 7 0\nst.shared"})
        for folder in ("/old", "/new")
    ]
    found = audited(tmp_path, *texts)
    assert len(examined) == 1
    assert [kernel.sites[0].source.file for kernel in found] == ["/old/k.cu", "/new/k.cu"]
    other = texts[1].replace("k.cu", "l.cu")  # the user's source line may be part of the name of an unknown
    audited(tmp_path, texts[0], other)
    assert len(examined) == 3
