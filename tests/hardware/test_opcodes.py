"""The classification of opcodes by spelling, and ptxas's agreement with the table of PTX instructions."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.banks.ptx_opcodes import ATOMICS

# opcode: access word, operation, bytes per lane, machine instruction
SCORED = {
    "ld.shared.u8": ("load", "load", 1, "LDS.U8"),
    "ld.shared.s8": ("load", "load", 1, "LDS.S8"),
    "ld.shared.s16": ("load", "load", 2, "LDS.S16"),
    "ld.shared.f32": ("load", "load", 4, "LDS"),
    "ld.shared.b64": ("load", "load", 8, "LDS.64"),
    "ld.shared.b128": ("load", "load", 16, "LDS.128"),
    "ld.shared.v2.u8": ("load", "load", 2, "LDS.U16"),
    "ld.shared.v4.u8": ("load", "load", 4, "LDS"),
    "ld.shared.v2.u16": ("load", "load", 4, "LDS"),
    "ld.shared.v4.u16": ("load", "load", 8, "LDS.64"),
    "ld.shared.v2.f64": ("load", "load", 16, "LDS.128"),
    "ld.volatile.shared.v4.b32": ("load", "load", 16, "LDS.128"),
    "ld.relaxed.cta.shared::cta.u32": ("load", "load", 4, "LDS"),
    "ld.acquire.gpu.shared.b64": ("load", "load", 8, "LDS.64"),
    "ld.weak.shared.u32": ("load", "load", 4, "LDS"),
    "st.shared.v2.u32": ("store", "store", 8, "STS.64"),
    "st.release.cta.shared.u32": ("store", "store", 4, "STS"),
    "st.volatile.shared.u16": ("store", "store", 2, "STS.U16"),
    "ld.u32": ("load", "generic load", 4, "LD.E"),
    "ld.relaxed.sys.L1::no_allocate.v2.u64": ("load", "generic load", 16, "LD.E.NA.128.STRONG.SYS"),
    "st.v4.f32": ("store", "store", 16, "ST.E.128"),
    "atom.shared.add.u32": ("atomic", "atomic", 4, "ATOMS.ADD"),
    "atom.acq_rel.cta.shared::cta.min.s32": ("atomic", "atomic", 4, "ATOMS.MIN.S32"),
    "red.shared.xor.b32": ("atomic", "atomic", 4, "ATOMS.XOR"),
    "atom.shared.exch.b64": ("atomic", "atomic", 8, "ATOMS.EXCH.64"),
    "atom.shared.cas.b64": ("atomic", "cas", 8, "ATOMS.CAS.64"),
    "atom.shared.cas.b16": ("atomic", "loop", 2, ""),
    "red.shared.add.f32": ("atomic", "loop", 4, ""),
    "atom.shared.add.noftz.f16x2": ("atomic", "loop", 4, ""),
    "atom.add.u32": ("atomic", "atomic", 4, "ATOM.E.ADD.STRONG.GPU"),
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16": ("ldmatrix", "ldmatrix", 16, "LDSM.16.M88"),
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16": ("ldmatrix", "ldmatrix", 16, "LDSM.16.MT88.4"),
    "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64": ("ldmatrix", "matrix", 16, ""),
    "stmatrix.sync.aligned.m8n8.x2.shared.b16": ("stmatrix", "stmatrix", 16, "STSM.16.M88.2"),
    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8": ("stmatrix", "matrix", 16, ""),
    "cp.async.ca.shared.global 4": ("cp.async", "cp.async", 4, "LDGSTS.E"),
    "cp.async.ca.shared::cta.global.L2::128B 16": ("cp.async", "cp.async", 16, "LDGSTS.E.LTC128B.128"),
    "cp.async.cg.shared.global.L2::cache_hint 16": ("cp.async", "cp.async.bypass", 16, "LDGSTS.E.BYPASS.128"),
    "cp.async.cg.shared.global": ("cp.async", "cp.async.bypass", 16, "LDGSTS.E.BYPASS.128"),
    "LDS.U.64": ("load", "load", 8, "LDS.U.64"),
    "LDS.S8": ("load", "load", 1, "LDS.S8"),
    "STS.128": ("store", "store", 16, "STS.128"),
    "ATOMS.MAX.S32": ("atomic", "atomic", 4, "ATOMS.MAX.S32"),
    "ATOMS.POPC.INC.32": ("atomic", "count", 4, "ATOMS.POPC.INC.32"),
    "ATOMS.CAST.SPIN.64": ("atomic", "cast", 8, "ATOMS.CAST.SPIN.64"),
    "ATOMS.CAS.128": ("atomic", "cas", 16, "ATOMS.CAS.128"),
    "LDSM.16.MT88.2": ("ldmatrix", "ldmatrix", 16, "LDSM.16.MT88.2"),
    "LDSM.U6x16P32TO8.M816.4": ("ldmatrix", "matrix", 16, "LDSM.U6x16P32TO8.M816.4"),
    "STSM.16.MT88.4": ("stmatrix", "stmatrix", 16, "STSM.16.MT88.4"),
    "LDGSTS.E.BYPASS.LTC128B.128": ("cp.async", "cp.async.bypass", 16, "LDGSTS.E.BYPASS.LTC128B.128"),
    "LDGSTS.E.64.ZFILL": ("cp.async", "cp.async", 8, "LDGSTS.E.64.ZFILL"),
    "LD.E.U8.STRONG.GPU": ("load", "generic load", 1, "LD.E.U8.STRONG.GPU"),
    "LD.E.EL.SYS": ("load", "generic load", 4, "LD.E.EL.SYS"),
    "ST.E.128": ("store", "store", 16, "ST.E.128"),
    "ATOM.E.ADD.STRONG.GPU": ("atomic", "atomic", 4, "ATOM.E.ADD.STRONG.GPU"),
    "ATOM.E.CAS.64.STRONG.GPU": ("atomic", "cas", 8, "ATOM.E.CAS.64.STRONG.GPU"),
}


@pytest.mark.parametrize("opcode", SCORED)
def test_scored_opcodes_are_classified(opcode):
    access = classify(opcode)
    assert (access.access, access.operation, access.width, access.sass) == SCORED[opcode]
    assert not access.unscored
    assert access.generic == (
        opcode.split(".")[0] in ("LD", "ST", "ATOM") or opcode[0].islower() and "shared" not in opcode
    )
    assert classify(opcode) is access
    assert machines.get("sm_100a").refusal(access) == ""


def test_matrix_and_copy_opcodes_have_further_fields():
    four = classify("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    assert (four.x, four.address_lanes, four.trans) == (4, 32, True)
    assert classify("LDSM.16.M88").address_lanes == 8
    assert classify("LDSM.8.MT1616").address_lanes == 16
    assert classify("cp.async.cg.shared.global 16").bypass and not classify("LDGSTS.E.128").bypass
    assert classify("LDGSTS.E.128.ZFILL").zero_fill


def test_compare_and_swap_that_does_not_spin_has_no_rule():
    """An H100 charges 28 wavefronts for four requests of ATOMS.CAST, where .SPIN takes 2 each."""
    for opcode in ("ATOMS.CAST", "ATOMS.CAST.64"):
        with pytest.raises(InputError, match="not measured"):
            classify(opcode)


LISTED = {
    "UBLKCP.S.G": "bulk copy",
    "UTMALDG.2D": "bulk copy",
    "UTMASTG.3D.IM2COL": "bulk copy",
    "UBLKRED.G.S.ADD": "bulk copy",
    "HGMMA.64x128x16.F32.BF16": "wgmma",
    "QGMMA.64x128x32.F32.E4M3.E4M3": "wgmma",
    "UTCHMMA": "tcgen05",
    "SYNCS.ARRIVE.TRANS64.A1T0": "mbarrier",
    "ATOMS.ARRIVE.64": "mbarrier",
    "ARRIVES.LDGSTSBAR.64": "mbarrier",
    "STAS.64": "async store",
    "REDAS.ADD": "async store",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes": "bulk copy",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes": "bulk copy",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32": "bulk copy",
    "cp.async.mbarrier.arrive.shared.b64": "mbarrier",
    "mbarrier.try_wait.shared.b64": "mbarrier",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32": "async store",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32": "async store",
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16": "wgmma",
    "multimem.red.relaxed.sys.global.add.u32": "multimem",
    "ld.shared::cluster.u32": "load",
    "st.shared::cluster.v4.b32": "store",
    "atom.shared::cluster.add.u32": "atomic",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16": "wmma",
    "tcgen05.mma.cta_group::1.kind::f16": "tcgen05",
    "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU": "atomic",
    "ATOM.E.ADD.64.STRONG.GPU": "atomic",
}


@pytest.mark.parametrize("opcode", LISTED)
def test_unscored_opcodes_have_a_reason(opcode):
    access = classify(opcode)
    assert access.access == LISTED[opcode]
    assert len(access.unscored.split()) > 4
    assert machines.get("sm_90").refusal(access) == access.unscored
    with pytest.raises(InputError, match="not scored"):
        banks.bounds(machines.get("sm_90"), access, 1, 32)


@pytest.mark.parametrize(
    "opcode",
    [
        "",
        "  ",
        "nop",
        "LDS.U7",
        "LDS.64.128",
        "LDS.???7",
        "STS.INVALID7",
        "LDS [R0]",
        "ATOMS",
        "ATOMS.FOO",
        "ATOMS.ADD.U8",
        "ATOMS.INVALID9",
        "ATOMS.POPC.INC.64",
        "LDSM",
        "LDSM.16.M99.4",
        "LDSM.16.M832",
        "LDSM.16.M88.INVALID3",
        "STSM.16.M88.3",
        "LDGSTS.E.BYPASS",
        "LDGSTS.E.U8",
        "LDG.E.64",
        "STL",
        "RED.E.ADD",
        "lds.128",
        "FADD",
        "ld.shared",
        "ld.shared.f16",
        "ld.shared.v3.f32",
        "ld.shared.v8.b32",
        "ld.shared.v4.u64",
        "ld.shared.v8.u8",
        "ld.shared.f128",
        "ld.global.f32",
        "ld.param.u64",
        "ld.shared.shared::cta.u32",
        "ld.shared.banana.u32",
        "ld.shared.u32 %r1",
        "LD.SHARED.U32",
        "st.shared.v2.b128",
        "atom.shared.add.s64",
        "atom.shared.v2.add.f32",
        "atom.global.add.u32",
        "atom.shared.u32",
        "atom.shared.add.min.u32",
        "red.shared.cas.b32",
        "red.shared.exch.b32",
        "atom.shared.add.u32 x",
        "red.shared.add.u32 1 2",
        "ldmatrix.sync.aligned.m8n8.shared.b16",
        "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16",
        "stmatrix.sync.aligned.m8n8.x1.global.b16",
        "cp.async.ca.shared.global",
        "cp.async.ca.shared.global 12",
        "cp.async.cg.shared.global 8",
        "cp.async.wait_all",
        "cp.async.commit_group",
        "cp.async.bulk.prefetch.L2.global",
        "cp.async.ca.global",
        "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16",
        "mbarrier.pending_count.b64",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32",
    ],
)
def test_opcode_that_is_no_access_is_rejected(opcode):
    with pytest.raises(InputError) as error:
        classify(opcode)
    assert error.value.what and "\n" not in error.value.what


def test_opcode_that_is_no_string_is_rejected():
    with pytest.raises(InputError):
        classify(None)
    with pytest.raises(InputError):
        classify(4)


# --- ptxas's translation of PTX ---------------------------------------------------------------

_REGISTERS = {
    "b16": "h",
    "f16": "h",
    "bf16": "h",
    "f32": "f",
    "f64": "d",
    "u64": "q",
    "s64": "q",
    "b64": "q",
    "b128": "x",
}
_HEAD = """
.version 8.8
.target {arch}
.address_size 64
"""
_KERNEL = """
.visible .entry {name}(.param .u64 p, .param .u32 n) {{
 .shared .align 16 .b8 s_{name}[4096];
 .reg .b32 a, r<3>; .reg .b64 p64, q<3>; .reg .f32 f<3>; .reg .f64 d<3>; .reg .b16 h<3>; .reg .b128 x<3>;
 ld.param.u64 p64, [p]; ld.param.u32 r0, [n]; mov.u32 a, %tid.x; mul.lo.u32 r0, r0, a; mov.u32 a, s_{name}; add.u32 a, a, r0;
 ld.global.u32 r1, [p64]; ld.global.u64 q1, [p64+8]; ld.global.f32 f1, [p64+16]; ld.global.f64 d1, [p64+24]; ld.global.u16 h1, [p64+32];
 mov.b128 x1, {{q1, p64}};
 {body}
 ret;
}}
"""


def disassembled(kernels: dict[str, str], arch: str, tmp_path) -> dict[str, str]:
    """{name: machine code as text} of kernels given by their bodies."""
    ptx = _HEAD.format(arch=arch) + "".join(_KERNEL.format(name=name, body=body) for name, body in kernels.items())
    cubin = tmp_path / "k.cubin"
    cubin.write_bytes(assemble(ptx, arch).cubin)
    text = subprocess.run(
        [toolchains.get("nvdisasm").path, "-c", str(cubin)], capture_output=True, text=True, check=True
    ).stdout
    sections = re.split(r"^\.text\.(\w+):", text, flags=re.M)
    return dict(zip(sections[1::2], sections[2::2], strict=True))


def opcodes_in(text: str) -> list[str]:
    return re.findall(r"\*/\s+(?:@!?U?P\w+ )?((?:LDS|STS|ATOMS|LDSM|STSM|LDGSTS)\b[\w.]*)", text)


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_ptxas_translates_atomics_as_tabulated(arch, tmp_path):
    bodies, rows = {}, {}
    for (operation, type_), row in ATOMICS.items():
        r = _REGISTERS.get(type_, "r")
        ftz = ".noftz" if type_.endswith(("16", "x2")) and operation == "add" else ""
        compare = f", {r}1" if operation == "cas" else ""
        name = f"k_{operation}_{type_}"
        store = f"st.global.b{ {'h': 16, 'r': 32, 'f': 32, 'q': 64, 'd': 64, 'x': 128}[r] } [p64], {r}2;"
        bodies[name] = f"atom.shared.{operation}{ftz}.{type_} {r}2, [a], {r}1{compare}; {store}"
        rows[name] = row
    found = disassembled(bodies, arch, tmp_path)
    for name, (kind, width, sass) in rows.items():
        opcodes = opcodes_in(found[name])
        if kind != "loop":
            assert opcodes == [sass], name
            continue
        assert opcodes[0] == ("LDS.64" if width == 8 else "LDS"), name
        swap = {2: "ATOMS.CAS", 4: "ATOMS.CAST.SPIN", 8: "ATOMS.CAST.SPIN.64"}[width]
        assert opcodes[1:] == [swap], name


def test_ptxas_translates_generic_accesses_as_tabulated(tmp_path):
    hows = (
        "",
        "weak",
        "volatile",
        "relaxed.cta",
        "relaxed.cluster",
        "relaxed.gpu",
        "relaxed.sys",
        "ca",
        "cg",
        "cs",
        "L1::no_allocate",
        "L1::evict_last",
        "L1::evict_first",
        "L1::evict_unchanged",
    )
    given = [("ld", how) for how in (*hows, "acquire.gpu", "lu", "cv", "L2::128B")]
    given += [("st", how) for how in (*(h for h in hows if h != "ca"), "release.gpu", "wb", "wt")]
    bodies, opcodes = {}, {}
    for number, (head, how) in enumerate(given):
        for type_ in ("u8", "v2.u32"):
            opcode, name = ".".join(filter(None, (head, how, type_))), f"k_{number}_{type_[:2]}"
            if head == "st":
                bodies[name] = f"{opcode} [p64], {'h1' if type_ == 'u8' else '{r1, r2}'};"
            else:
                bodies[name] = (
                    f"{opcode} h2, [p64]; st.global.u16 [p64], h2;"
                    if type_ == "u8"
                    else f"{opcode} {{r1, r2}}, [p64]; st.global.v2.u32 [p64], {{r1, r2}};"
                )
            opcodes[name] = opcode
    for number, scope in enumerate(("", "relaxed.cta", "relaxed.cluster", "relaxed.sys", "acq_rel.gpu")):
        for operation in ("add.s32", "or.b32"):
            name, opcode = f"k_atom_{number}_{operation[:2]}", ".".join(filter(None, ("atom", scope, operation)))
            bodies[name], opcodes[name] = f"{opcode} r2, [p64], r1; st.global.u32 [p64], r2;", opcode
    found = disassembled(bodies, "sm_90", tmp_path)
    for name, opcode in opcodes.items():
        made = re.findall(r"\*/\s+(?:@!?U?P\w+ )?((?:LD|ST|ATOM)\.E[\w.]*)", found[name])
        assert made == [classify(opcode, None, True).sass], opcode


def test_atomic_loop_is_independent_of_its_scope():
    for opcode in ("atom.shared.cta.add.f64", "atom.relaxed.gpu.shared::cta.add.f64", "atom.shared.add.f64"):
        assert (
            classify(opcode).loop == "atom.shared.add.f64"
            and machines.get("sm_90").evidence(classify(opcode)) == "measured"
        )
    assert machines.get("sm_90").evidence(classify("red.shared.cta.add.noftz.f16x2")) == "measured"
    assert (
        machines.get("sm_90").evidence(classify("atom.add.f64"))
        == machines.get("sm_90").evidence(classify("red.shared.min.u64"))
        == "by rule"
    )


def test_ptxas_counts_and_combines_atomics(tmp_path):
    """The two rewrites that make a PTX atomic a range: for the constant 1, and for a uniform address."""
    bodies = {
        "k_one": "red.shared.add.u32 [a], 1;",
        "k_two": "red.shared.add.u32 [a], 2;",
        "k_wrap": "red.shared.inc.u32 [a], 0xffffffff;",
        "k_used": "atom.shared.add.u32 r2, [a], 1; st.global.u32 [p64], r2;",
    }
    uniform = [
        f"{operation}.{type_}"
        for operation, type_ in ATOMICS
        if operation not in ("exch", "cas") and type_ in ("u32", "s32", "b32", "f32")
    ]
    for operation in uniform:
        name = "k_" + operation.replace(".", "_")
        bodies[name] = f"red.shared.{operation} [s_{name}], {'f1' if operation.endswith('f32') else 'r1'};"
    found = disassembled(bodies, "sm_90", tmp_path)
    made = {"k_one": "ATOMS.POPC.INC.32", "k_two": "ATOMS.ADD", "k_wrap": "ATOMS.POPC.INC.32", "k_used": "ATOMS.ADD"}
    assert {name: opcodes_in(found[name]) for name in made} == {name: [opcode] for name, opcode in made.items()}
    for operation in uniform:
        combines = "VOTEU.ANY" in found["k_" + operation.replace(".", "_")]
        assert combines == classify(f"red.shared.{operation}").may_combine, operation


def test_atomic_operand_decides_whether_lanes_are_counted():
    assert classify("red.shared.add.u32").may_count
    assert classify("red.shared.add.u32 1").may_count and classify("red.shared.add.u32", 1).may_count
    assert not classify("red.shared.add.u32 2").may_count and not classify("red.shared.add.u32", -1).may_count
    assert classify("red.shared.inc.u32 0xffffffff").may_count and classify("red.shared.inc.u32 -1").may_count
    assert not classify("red.shared.inc.u32 1").may_count and not classify("red.shared.dec.u32").may_count
    plain = classify("red.shared.add.u32", as_written=True)
    assert not plain.may_count and not plain.may_combine


def test_ptx_atomic_is_a_range_only_if_lanes_share_a_word():
    machine = machines.get("sm_90")
    lanes = np.arange(32)[None, :]
    everyone = np.ones((1, 32), bool)

    def range_of(opcode, addresses):
        scores = banks.score(machine, classify(opcode), addresses, everyone)
        return int(scores.low[0]), int(scores.high[0])

    assert range_of("red.shared.add.u32", 4 * lanes) == (1, 1)
    assert range_of("red.shared.add.u32", 128 * lanes) == (32, 32)  # one bank, 32 words
    assert range_of("red.shared.add.u32", 128 * (lanes // 4)) == (8, 32)  # 8 words: counted or not
    assert range_of("red.shared.add.u32 2", 128 * (lanes // 4)) == (32, 32)  # not the constant 1
    assert range_of("red.shared.add.u32 2", 0 * lanes) == (1, 32)  # one address: combined or not
    assert range_of("red.shared.max.u32", 128 * (lanes // 4)) == (32, 32)
    assert range_of("atom.shared.exch.b32", 0 * lanes) == (32, 32)
    assert range_of("red.shared.add.f32", 4 * lanes) == (1, 3)  # one pass: LDS and CAST.SPIN


def test_ptxas_translates_loads_stores_matrices_and_copies_as_tabulated(tmp_path):
    opcodes = [
        o
        for o, row in SCORED.items()
        if re.match(r"(ld|st|ldmatrix|stmatrix|cp)\b", o) and "shared" in o and row[1] != "matrix" and row[3]
    ]
    bodies = {f"k_{i}": body_of(opcode) for i, opcode in enumerate(opcodes)}
    found = disassembled(bodies, "sm_90", tmp_path)
    for i, opcode in enumerate(opcodes):
        assert SCORED[opcode][3] in opcodes_in(found[f"k_{i}"]), opcode


def body_of(opcode: str) -> str:
    name, *size = opcode.split()
    if name.startswith("cp.async"):
        hint = ", q1" if "cache_hint" in name else ""
        return f"{name} [a], [p64], {(size or ['16'])[0]}{hint};"
    matrix = re.search(r"\.x(\d)\.", name)
    vector = re.search(r"\.v(\d)\.", name)
    n = int((matrix or vector)[1]) if matrix or vector else 1
    type_ = name.split(".")[-1]
    bits = 32 if matrix else int(re.search(r"\d+$", type_)[0])
    kind = {8: "b16", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}[bits]
    registers = ", ".join(f"v{i}" for i in range(n))
    operand = "{" + registers + "}" if matrix or vector else registers
    memory = "b8" if bits == 8 else kind
    fill = " ".join(f"ld.global.{memory} v{i}, [p64+{16 * i}];" for i in range(n))
    keep = " ".join(f"st.global.{memory} [p64+{16 * i}], v{i};" for i in range(n))
    stores = name.startswith(("st.", "stmatrix"))
    access = f"{name} [a], {operand};" if stores else f"{name} {operand}, [a];"
    return f"{{ .reg .{kind} {registers}; {fill if stores else ''} {access} {'' if stores else keep} }}"
