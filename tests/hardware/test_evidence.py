"""Which figures are called measured: those of opcodes measured on exactly the machine that the site is scored for,
and no others.
"""

from __future__ import annotations

import gzip
import json
import re

import measured_kernels
import pytest
from machine_code import from_ptx
from msgspec.structs import fields
from paths import DATA, ROOT

import ptxaudit
from ptxaudit.base.work import Account
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.machines import MEASUREMENTS
from ptxaudit.report.model import Site

SAMPLES = ("bitonic_sort", "histogram", "hgemm", "transpose", "vector_merges")
OTHERS = ("sm_75", "sm_80", "sm_89", "sm_100", "sm_120")


def sites(name: str, arch: str, isa: str, told: bool):
    source = ROOT / "samples" / name / f"{name}.cu"
    launches = tuple(ptxaudit.read_launches(source.with_name("launch.toml"))) if told else ()
    return [
        site
        for kernel in ptxaudit.audit(source, arch=arch, isa=isa, launches=launches).kernels
        for site in kernel.sites
    ]


@pytest.mark.parametrize(("arch", "told"), [*((arch, True) for arch in OTHERS), ("sm_80", False)])
def test_sites_on_unmeasured_generations_are_by_rule(arch, told):
    for name in SAMPLES[:2] if arch == "sm_75" else SAMPLES:
        for isa in ("ptx", "sass"):
            assert {site.evidence for site in sites(name, arch, isa, told)} <= {"by rule"}, (name, isa)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_sites_of_measured_opcodes_are_measured(isa):
    machine = machines.get("sm_90")
    found = sites("vector_merges", "sm_90", isa, True)
    assert found and all(site.evidence == machine.evidence(classify(site.opcode)) == "measured" for site in found)


def test_evidence_follows_the_machine_not_the_compiled_architecture():
    source = ROOT / "samples" / "transpose" / "transpose.cu"
    (as_hopper,) = {site.evidence for site in ptxaudit.audit(source, arch="sm_80", isa="ptx", machine="sm_90").sites}
    (as_ampere,) = {site.evidence for site in ptxaudit.audit(source, arch="sm_90", isa="ptx", machine="sm_80").sites}
    assert (as_hopper, as_ampere) == ("measured", "by rule")


def test_evidence_defaults_to_by_rule():
    assert [f.default for cls in (SiteResult, Site) for f in fields(cls) if f.name == "evidence"] == ["by rule"] * 2
    of = lambda found: {*found.requests, *found.products, *found.uncounted}
    opcodes = {opcode for found in MEASUREMENTS.values() for opcode in of(found)}
    for name in machines.names():
        own = MEASUREMENTS.get(name)
        measured = of(own) if own else set()
        for opcode in opcodes:
            evidence = machines.get(name).evidence(classify(opcode))
            assert evidence == ("measured" if opcode in measured else "by rule"), (name, opcode)
    assert SiteRecord(machines.get("sm_80"), classify("LDS"), Account()).evidence == "by rule"


def test_measured_mma_opcodes_have_counts():
    """Each is in the committed kernels, with the wavefronts that the profiler attributes to it, or in the launches of
    single products.
    """
    opcode = re.compile(r"(?:@!?\w+ )?([HQ]GMMA\S*)")
    counted = {
        found[1]
        for name in measured_kernels.SETS
        for launch in measured_kernels.document(name)["launches"]
        for _, text, wavefronts, *_ in launch["sites"]
        if wavefronts and (found := opcode.match(text))
    }
    alone = json.loads(gzip.decompress((DATA / "tensor_sm90.json.gz").read_bytes()))["launches"]
    counted |= {f"HGMMA.64x{one['n']}x16.F32" for one in alone if one["kernel"].startswith("wgmma")}
    forms = json.loads(gzip.decompress((DATA / "forms_sm90.json.gz").read_bytes()))["forms"]
    counted |= {one["sass"] for one in forms if "GMMA" in one["sass"]}
    assert MEASUREMENTS["sm_90"].products == counted


PRODUCT = """.visible .entry k(.param .u64 p) {{ .reg .b64 %d<3>; .reg .f32 %f<9>; .reg .pred yes; ld.param.u64 %d1, [p]; ld.param.u64 %d2, [p];
 setp.eq.u64 yes, %d1, %d2; {zero} wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n8k{k}.f32.{type}.{type} {{%f0, %f1, %f2, %f3}}, %d1, %d2, yes, 1, 1{majors};
 wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.v4.f32 [%d1], {{%f0, %f1, %f2, %f3}}; ret; }}
"""


@pytest.mark.parametrize("type_, k", [("f16", 16), ("bf16", 16), ("tf32", 8), ("e4m3", 32)])
def test_wgmma_maps_to_the_opcode_that_ptxas_emits(type_, k):
    """`classify` maps PTX to the instruction that ptxas emits."""
    zero = " ".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(4))
    body = PRODUCT.format(zero=zero, k=k, type=type_, majors=", 0, 0" if k == 16 else "")
    report = ptxaudit.audit(from_ptx(body, "sm_90a"))
    (site,) = [s for s in report.sites if s.access == "wgmma"]
    assert classify(f"wgmma.mma_async.sync.aligned.m64n8k{k}.f32.{type_}.{type_}").sass == site.opcode
