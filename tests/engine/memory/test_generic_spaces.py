"""Generic accesses lane by lane: addresses in shared memory, in other memory, and in an unknown state space."""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE, from_ptx

import ptxaudit
from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.engine.memory.environment import HIGH_WORD
from ptxaudit.engine.memory.spaces import OPEN as OPEN_SPACE
from ptxaudit.engine.memory.spaces import SHARED, spaces_of

KERNEL = """.visible .entry k(.param .u64 g, .param .u64 h, .param .u32 n)
{{ .reg .b64 %g, %h, %s, %q, %t, %u, %d<6>; .reg .b32 %x, %n, %w<9>; .reg .pred %p, %z, %y; .shared .align 16 .b8 s[8192]; .local .align 16 .b8 l[64];
 ld.param.u64 %g, [g]; ld.param.u64 %h, [h]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mul.wide.u32 %t, %x, 4; mul.wide.u32 %u, %x, 8;
 mov.u32 %w1, s; cvt.u64.u32 %s, %w1; cvta.shared.u64 %s, %s; {kept} setp.gt.u32 %z, %n, 3; and.b32 %w2, %x, 1; setp.eq.u32 %y, %w2, 0; setp.lt.u32 %p, %x, {half};
 {address}
 {access}
 ret; }}
"""
KEPT = "st.global.u64 [%h+2048], %s;"  # a pointer to shared memory may be read from memory
LOAD = "ld.u32 %w3, [%q]; st.global.u32 [%h], %w3;"
ATOM = "atom.add.u32 %w3, [%q], %x; st.global.u32 [%h], %w3;"
WIDE = (
    "ld.v4.u32 {%w3, %w4, %w5, %w6}, [%q]; add.u32 %w3, %w3, %w4; add.u32 %w5, %w5, %w6; add.u32 %w3, %w3, %w5;"
    " st.global.u32 [%h], %w3;"
)
G, H = 0x7F00_0000_0000, 0x7F10_0000_0000


def site_of(address, access, isa, params=(G, H, 5), block=32, half=16, told=True):
    body = KERNEL.format(address=address, access=access, half=half, kept=KEPT)
    content = from_ptx(body) if isa == "sass" else PROLOGUE.format(arch="sm_90") + body
    launches = [ptxaudit.Launch("k", grid=(1,), block=(block,), params=list(params))] if told else []
    report = ptxaudit.audit(content, isa=isa, arch="sm_90", launches=launches)
    (site,) = [site for site in report.sites if site.opcode.startswith(("ld.u", "ld.v", "atom.a", "LD.E", "ATOM.E"))]
    return site


def cost(opcode, addresses, lanes):
    active = sum(1 << lane for lane in lanes)
    return ptxaudit.score_request(opcode, [int(a) for a in addresses], active=active, arch="sm_90").wavefronts


STRIDE = "mul.wide.u32 %u, %x, 128; add.u64 %s, %s, %u;"  # all lanes in one bank, if they access shared memory
LANES = np.arange(32)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize(("choice", "lanes"), [("%p", LANES[:16]), ("%y", LANES[::2])])
@pytest.mark.parametrize(("access", "opcode"), [(LOAD, "ld.u32"), (ATOM, "atom.add.u32")])
def test_generic_access_counts_lanes_in_shared_memory(isa, choice, lanes, access, opcode):
    """The cost of lanes that access other memory was not measured: at most one wavefront for each group of lanes with
    any.
    """
    site = site_of(f"{STRIDE} add.u64 %g, %g, %t; selp.b64 %q, %s, %g, {choice};", access, isa)
    least = cost("ld.u32", 128 * LANES, lanes)
    assert (site.status, site.requests, site.bounds) == ("bounded", 1, (least, least + 1)), site
    assert site.wavefronts is None and site.per_request == ptxaudit.report.model.Span(least, least + 1)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize(("n", "told"), [(16, True), (None, True), (16, False)])
def test_generic_access_may_have_no_active_lane_in_shared_memory(isa, n, told):
    """The upper half of the warp does, at no cost in shared memory if the other lanes are inactive or do not exist."""
    address = f"{STRIDE} add.u64 %g, %g, %t; selp.b64 %q, %s, %g, %p; setp.ge.u32 %z, %x, %n;"
    site = site_of(address, "mov.u32 %w3, 0; @%z " + LOAD, isa, params=(G, H, n), told=told)
    assert site.per_request.low == 0 and (n is None or not told or site.per_request.high == 0)


def test_narrow_block_may_have_no_lane_in_shared_memory():
    address = (
        "mov.u32 %x, %laneid; setp.ge.u32 %p, %x, 16; mov.u64 %d1, l; cvta.local.u64 %d1, %d1;"
        " selp.b64 %q, %s, %d1, %p;"
    )
    assert site_of(address, LOAD, "ptx", block=16).per_request.high == 0
    assert site_of(address, LOAD, "ptx", told=False).per_request.low == 0


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_wide_generic_access_is_bounded_by_its_groups(isa):
    site = site_of(
        "mul.wide.u32 %u, %x, 16; add.u64 %s, %s, %u; add.u64 %g, %g, %u; selp.b64 %q, %s, %g, %p;", WIDE, isa
    )
    assert (site.status, site.bounds) == ("bounded", (2, 4)), site


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_warps_wholly_in_another_space_cost_nothing(isa):
    """All lanes of a warp access the same state space: the count is exact."""
    site = site_of(f"{STRIDE} add.u64 %g, %g, %t; selp.b64 %q, %s, %g, %p;", LOAD, isa, block=128, half=64)
    assert (site.status, site.requests, site.active_requests, site.wavefronts) == ("exact", 4, 4, 64), site


OPEN = {
    "a pointer out of memory": "ld.global.u64 %q, [%g]; add.u64 %q, %q, %t;",
    "halves out of memory": "ld.global.v2.u32 {%w3, %w4}, [%g]; mov.b64 %q, {%w3, %w4}; add.u64 %q, %q, %t;",
    "halves and a number of 64 bits": (
        "ld.global.v2.u32 {%w3, %w4}, [%g]; mov.b64 %q, {%w3, %w4}; add.u64 %q, %q, %h; add.u64 %q, %q, %t;"
    ),
    "a pointer out of memory and a number": "ld.global.u64 %q, [%g]; add.u64 %q, %q, %h; add.u64 %q, %q, %t;",
    "one of two, by a number": "selp.b64 %q, %s, %g, %z; add.u64 %q, %q, %t;",
    "one of two ways, by a number": "mov.u64 %q, %g; @%z bra L; mov.u64 %q, %s; L: add.u64 %q, %q, %t;",
    "one of two ways, by data": (
        "ld.global.u32 %w3, [%g]; setp.eq.u32 %z, %w3, 1; mov.u64 %q, %s; @%z bra L; mov.u64 %q, %g; L: add.u64 %q,"
        " %q, %t;"
    ),
    "to and fro": (
        "mov.u64 %q, %s; mov.u64 %d1, %g; mov.u32 %w3, 0; L: mov.u64 %d2, %q; mov.u64 %q, %d1; mov.u64 %d1, %d2;"
        " add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3, %n; @%p bra L; add.u64 %q, %q, %t;"
    ),
    "a list": (
        "ld.global.u64 %q, [%g]; mov.u32 %w3, 0; L: ld.global.u64 %q, [%q]; add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3,"
        " %n; @%p bra L; add.u64 %q, %q, %t;"
    ),
}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("told", (True, False))
@pytest.mark.parametrize("how", OPEN)
def test_access_of_unknown_state_space_may_cost_nothing(how, told, isa):
    site = site_of(OPEN[how], LOAD, isa, params=(None, None, None), told=told)
    assert site.status in ("conditional", "data-dependent", "bounded", "unknown"), (site.status, site.reason)
    assert site.wavefronts is None and (site.per_request is None or site.per_request.low == 0), site.per_request


@pytest.mark.parametrize("told", (True, False))
@pytest.mark.parametrize("how", [how for how in OPEN if "out of memory" in how or how == "a list"])
def test_no_pointer_leads_to_shared_memory_if_the_kernel_makes_none(how, told):
    """Machine code in which no address of shared memory is converted: whatever is loaded is a pointer to other memory."""
    body = KERNEL.format(address=OPEN[how], access=LOAD, half=16, kept="")
    launches = [ptxaudit.Launch("k", grid=(1,), block=(32,), params=[None, None, None])] if told else []
    report = ptxaudit.audit(from_ptx(body), isa="sass", arch="sm_90", launches=launches)
    (site,) = [site for site in report.sites if site.opcode.startswith("LD.E")]
    assert site.per_request == ptxaudit.report.model.Span(0, 0), site
    assert any("none leads to shared memory" in sentence for sentence in report.kernels[0].assumed)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("told", (True, False))
def test_proved_state_space_holds_at_unknown_offsets(told, isa):
    """Shared memory at an unknown address, and memory that the host points to, with any offset."""
    number = "cvt.u64.u32 %d1, %n; shl.b64 %d1, %d1, 2;"
    site = site_of(
        f"{number} add.u64 %q, %s, %d1; add.u64 %q, %q, %t;", LOAD, isa, params=(None, None, None), told=told
    )
    assert site.per_request == ptxaudit.report.model.Span(1, 1 if told else 32), site  # the maximum over block shapes
    assert site.conditions == () if told else (site.conditions[0].low, site.conditions[0].high) == (1, 1)
    site = site_of(
        f"{number} add.u64 %q, %g, %d1; add.u64 %q, %q, %t;", LOAD, isa, params=(None, None, None), told=told
    )
    assert (site.reason_kind, site.per_request) == ("never-shared", ptxaudit.report.model.Span(0, 0))
    assert (site.status, site.requests, site.active_requests, site.wavefronts) == (
        ("exact", 1, 1, 0) if told else ("invariant", None, None, None)
    )


LOCAL = """mov.u64 %d1, l; cvta.local.u64 %d2, %d1; st.local.u32 [l+16], 64; ld.global.v2.u32 {%w3, %w4}, [%g]; mov.b64 %d3, {%w3, %w4};
 st.u64 [%d3], %x; ld.local.u32 %w5, [l+16]; mul.lo.u32 %w6, %x, %w5; cvt.u64.u32 %q, %w6; add.u64 %q, %q, %s;""".replace(
    "st.u64 [%d3], %x", "st.volatile.u32 [%d3], %x"
)
LOOP = """mov.u64 %d1, l; cvta.local.u64 %d2, %d1; st.local.u32 [l+16], 64; ld.global.v2.u32 {%w3, %w4}, [%g]; mov.b64 %d3, {%w3, %w4}; mov.u32 %w7, 0;
 L: ld.local.u32 %w5, [l+16]; mul.lo.u32 %w6, %x, %w5; st.volatile.u32 [%d3], %x; add.u32 %w7, %w7, 1; setp.lt.u32 %p, %w7, %n; @%p bra L;
 cvt.u64.u32 %q, %w6; add.u64 %q, %q, %s;"""


@pytest.mark.parametrize("body", (LOCAL, LOOP))
@pytest.mark.parametrize("told", (True, False))
def test_store_of_unknown_space_invalidates_local_memory(body, told):
    site = site_of(body, LOAD, "ptx", params=(None, None, None), told=told)
    assert site.wavefronts is None and site.status not in ("exact", "invariant"), site


TABLE = """mov.u32 %w3, s; mad.lo.u32 %w3, %x, 4, %w3; mul.lo.u32 %w4, %x, 4; st.shared.u32 [%w3+4096], %w4; bar.sync 0; {store} bar.sync 0;
 ld.shared.u32 %w5, [%w3+4096]; mul.wide.u32 %u, %w5, 8; add.u64 %q, %s, %u;"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_store_of_unknown_space_invalidates_shared_memory(isa):
    kept = site_of(TABLE.format(store="add.u64 %q, %h, %t; st.u32 [%q], %x;"), LOAD, isa)
    assert (kept.status, kept.wavefronts) == ("exact", cost("ld.u32", 32 * LANES, LANES)), kept
    lost = site_of(
        TABLE.format(
            store=(
                "ld.global.v2.u32 {%w3, %w4}, [%g]; mov.b64 %q, {%w3, %w4}; st.u32 [%q], %x; mov.u32 %w3, s; mad.lo.u32"
                " %w3, %x, 4, %w3;"
            )
        ),
        LOAD,
        isa,
    )
    assert lost.status not in ("exact", "invariant"), lost


# --- code that tests the state space of an address -----------------------------------------

ASKED = """isspacep.{space} %y, %q; @!%y bra other;
 cvta.to.shared.u64 %t, %q; ld.shared.u32 %w3, [%t]; st.global.u32 [%h], %w3;
 other:"""
INDEX = "add.u64 %d1, %g, %t; ld.global.u32 %w4, [%d1]; mul.wide.u32 %d2, %w4, 4;"  # a different one in each lane
ASKED_OF = {  # address -> whether it may be in shared memory
    "add.u64 %q, %g, %d2;": False,
    "setp.gt.u32 %p, %w4, 7; selp.b64 %q, %g, %h, %p; add.u64 %q, %q, %d2;": False,
    "add.u64 %q, %s, %d2;": True,
    "setp.gt.u32 %p, %w4, 7; selp.b64 %q, %s, %g, %p; add.u64 %q, %q, %d2;": True,
    "ld.global.u64 %q, [%h+64]; add.u64 %q, %q, %d2;": True,
    "add.u64 %d1, %h, %d2; ld.global.u64 %q, [%d1];": True,
}


def asked_site(address, isa, space="shared"):
    body = KERNEL.format(address=INDEX + address, access=ASKED.format(space=space), half=16, kept=KEPT)
    content = from_ptx(body) if isa == "sass" else PROLOGUE.format(arch="sm_90") + body
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=[None, None, 5])
    report = ptxaudit.audit(content, isa=isa, arch="sm_90", launches=[launch])
    (site,) = [site for site in report.sites if site.opcode.startswith(("ld.shared", "LDS"))]
    return site


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("address", ASKED_OF)
def test_host_pointer_with_any_offset_is_not_in_shared_memory(isa, address):
    """With any offset; an address not derived from such a pointer alone may be."""
    site = asked_site(address, isa)
    assert (str(site.status) == "unreached") != ASKED_OF[address], site
    assert ASKED_OF[address] or site.requests == 0


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_global_access_through_a_host_pointer_is_reached(isa):
    """A constant or a parameter is neither shared nor local, nor global."""
    site = asked_site("add.u64 %q, %g, %d2;", isa, "global")
    assert str(site.status) != "unreached", site


HALVES = "mov.b32 %w5, %x; atom.add.noftz.f16x2 %w3, [%q], %w5; st.global.u32 [%h], %w3;"


@pytest.mark.parametrize("address", ASKED_OF)
def test_generic_f16x2_atomic_on_global_memory_has_no_shared_accesses(address):
    """The other code that ptxas generates for it does not run then, either."""
    body = KERNEL.format(address=INDEX + address, access=HALVES, half=16, kept=KEPT)
    launch = ptxaudit.Launch("k", grid=(3,), block=(48,), params=[None, None, 5])
    sites = ptxaudit.audit(from_ptx(body), isa="sass", arch="sm_90", launches=[launch]).sites
    (atomic,) = [site for site in sites if site.opcode.startswith("ATOM.E.ADD.F16x2")]
    beside = {str(site.status) for site in sites if site.opcode.startswith(("LDS", "ATOMS"))}
    if ASKED_OF[address]:
        assert str(atomic.status) == "unknown" and beside and "unreached" not in beside, sites
    else:
        assert (str(atomic.status), atomic.requests, atomic.wavefronts) == ("exact", 6, 0) and beside == {"unreached"}


IN_A_STRUCTURE = """.visible .entry k(.param .align 8 .b8 p[16], .param .u32 n)
{ .reg .b64 %g, %s, %q, %u; .reg .b32 %x, %b, %n, %w<3>; .shared .align 16 .b8 s[8192];
 ld.param.u64 %g, [p+8]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mov.u32 %b, %ctaid.x;
 mov.u32 %w1, s; cvt.u64.u32 %s, %w1; cvta.shared.u64 %s, %s; st.shared.u32 [%w1], %x;
 st.global.u64 [%g+2048], %s;
 INDEX
 ld.u32 %w2, [%q]; st.global.u32 [%g+4096], %w2;
 ret; }
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize(
    "index, known",
    [
        ("mad.wide.u32 %q, %b, 65536, %g;", True),
        ("mad.lo.u32 %b, %b, 256, %x; mad.wide.u32 %q, %b, 4, %g;", True),
        ("mul.wide.u32 %u, %b, 65536; add.u64 %q, %u, %s;", False),  # in shared memory, whatever its value
    ],
)
def test_block_index_offset_keeps_whether_a_value_is_a_pointer(index, known, isa):
    """A launch specifies the bytes of a structure, but not which of them are a pointer."""
    body = IN_A_STRUCTURE.replace("INDEX", index)
    content = from_ptx(body) if isa == "sass" else PROLOGUE.format(arch="sm_90") + body
    structure = bytes(8) + G.to_bytes(8, "little")
    report = ptxaudit.audit(content, isa=isa, launches=[ptxaudit.Launch("k", grid=4, block=64, params=[structure, 5])])
    (site,) = [site for site in report.sites if site.opcode.startswith(("ld.u", "LD.E"))]
    assert (str(site.status) == "exact" and site.wavefronts == 0) is known, site


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_address_with_an_unknown_lower_half_may_be_in_any_space(isa):
    """The upper half of a pointer to shared memory may equal that of a pointer to global memory."""
    half = "ld.global.u32 %w2, [%g]; and.b32 %w2, %w2, -4; shr.u64 %g, %g, 32; shl.b64 %g, %g, 32; cvt.u64.u32 %u, %w2;"
    body = IN_A_STRUCTURE.replace("INDEX", f"{half} add.u64 %q, %g, %u;")
    content = from_ptx(body) if isa == "sass" else PROLOGUE.format(arch="sm_90") + body
    structure = bytes(8) + G.to_bytes(8, "little")
    report = ptxaudit.audit(content, isa=isa, launches=[ptxaudit.Launch("k", grid=4, block=64, params=[structure, 5])])
    (site,) = [site for site in report.sites if site.opcode.startswith(("ld.u", "LD.E"))]
    assert str(site.status) not in ("exact", "unreached"), site


@pytest.mark.parametrize("address", (True, False))
def test_upper_half_that_depends_on_a_choice_is_in_no_certain_space(address):
    """Machine code selects the halves of a generic address separately."""
    of = lambda name, kind, **more: Uniform(
        name, 32, kind=kind, key=(name,) if kind == "choice" else ("shared", "high"), **more
    )
    upper = np.full((1, 1), HIGH_WORD, np.uint64)
    window = of("where shared memory begins", "window"), upper
    choice = of("what two ways differ in", "choice", address=address), upper
    begins = lambda *terms: spaces_of(Value(np.full((1, 1), 1024, np.uint64), terms)).item()
    assert begins(window) == SHARED and begins(window, choice) == OPEN_SPACE
