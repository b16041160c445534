"""Kernels that push numbers to where they wrap, or combine too many unknowns: no claim may follow from facts that hold
elsewhere only.
"""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE, from_ptx
from twin import compare

import ptxaudit
from ptxaudit.engine.domain.alternatives import Axis, as_unknown
from ptxaudit.engine.domain.outcomes import Alternatives
from ptxaudit.engine.domain.value import MAX_TERMS, Uniform, Value, constant, unknown
from ptxaudit.engine.fixpoint.states import lanes_that_agree
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.ops.halves import Carry, UpperHalf, carried, rejoined
from ptxaudit.engine.ops.operations import apply
from ptxaudit.ir.nodes import Op
from ptxaudit.ir.reasons import Kind, Reason

LANES = 32
MANY = MAX_TERMS // 2 + 1  # unknowns in each of two sums, whose difference has too many
KERNEL = """.visible .entry k({parameters}) .reqntid 32, 1, 1
{{ .reg .b32 %r<40>, %a, %x, %y, %z; .reg .b64 %d; .reg .pred %p, %q; .shared .align 128 .b8 s[65536];
 mov.u32 %x, %tid.x; mov.u32 %a, s; mad.lo.u32 %a, %x, 128, %a;
 {body}
 ret; }}
"""
ACCESS = "@%p ld.shared.u32 %z, [%a];"  # 32 lanes, one bank
LOAD = "ld.shared.u32 %z, [%a];"
AT_A_ROW = "and.b32 %r1, %r1, 63; mov.u32 %a, s; mad.lo.u32 %a, %r1, 128, %a; ld.shared.u32 %z, [%a];"


def site_of(body, parameters=".param .u32 n", grid=None, params=None, cluster=None):
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=parameters, body=body)
    launches = [ptxaudit.Launch("k", grid=grid, block=(32,), params=params, cluster=cluster)] if grid else []
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    return site


@pytest.mark.parametrize(
    "write", ["@%p mov.u32 %r1, %x;", "@!%p bra L; mov.u32 %r1, %x; L:"], ids=["by a guard", "on a path"]
)
def test_lanes_that_never_wrote_a_register_may_read_anything(write: str) -> None:
    """16 lanes write different rows; the others keep whatever the register held, and read any row."""
    site = site_of(f"setp.lt.u32 %p, %x, 16; {write} {AT_A_ROW}", grid=(1,))
    assert (str(site.status), site.requests, site.wavefronts) == ("bounded", 1, None)
    assert "%r1 is read before it is written" in site.reason


@pytest.mark.parametrize(
    "read",
    [
        f"@!%p bra L; mov.u32 %r1, %x; {AT_A_ROW} L:",
        f"@%p mul.lo.u32 %r1, %x, 1; @%p mov.u32 %r2, %r1; @!%p bra L; mov.u32 %r1, %r2; {AT_A_ROW} L:",
    ],
    ids=["by a path", "by guards"],
)
def test_lanes_that_wrote_a_register_read_what_they_wrote(read: str) -> None:
    site = site_of(f"setp.lt.u32 %p, %x, 16; {read}", grid=(1,))
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 1, 16)


def audited(body, parameters, block, params):
    """The sites of a kernel launched with one block of that shape, whatever the file states."""
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=parameters, body=body)
    launch = ptxaudit.Launch("k", grid=(1,), block=block, params=params)
    return ptxaudit.audit(content.replace(" .reqntid 32, 1, 1", ""), isa="ptx", arch="sm_90", launches=[launch]).sites


def may_take(site, wavefronts):
    """Whether a request may take this many wavefronts."""
    per = site.per_request
    return site.status != "unreached" and per is not None and per.low <= wavefronts <= per.high


# --- comparisons ---

FALLING = "mul.lo.s32 %y, {u}, -2097152; add.s32 %y, %y, 2147483647;"  # 2**31 - 1 - 2**21·u
RISING = "sub.s32 %z, {u}, 1; mul.lo.s32 %z, %z, 1048576;"  # 2**20·(u - 1)


def test_comparison_of_linear_forms_that_differ_by_2_to_the_32():
    """Both sums fit, and so does their difference, except at u = 0, which u never is."""
    compared = FALLING.format(u="%r0") + RISING.format(u="%r0") + f"setp.ge.s32 %p, %y, %z; {ACCESS}"
    site = site_of("ld.param.u32 %r1, [n]; and.b32 %r1, %r1, 511; mov.u32 %r0, %nctaid.x; " + compared, grid=(7,))
    assert (site.wavefronts, site.requests) == (7 * 32, 7)
    site = site_of("mov.u32 %r0, %nctaid.y; min.u32 %r0, %r0, 1024; " + compared)
    assert may_take(site, 32)


def test_comparison_of_linear_forms_of_a_nonzero_block_index():
    body = "mov.u32 %r0, %ctaid.x; setp.eq.u32 %q, %r0, 0; @%q bra END; "
    body += FALLING.format(u="%r0") + RISING.format(u="%r0") + f"setp.ge.s32 %p, %y, %z; {ACCESS} END:"
    site = site_of(body, grid=(1000,), params=[None])
    true = sum(2**31 - 1 - 2**21 * u >= 2**20 * (u - 1) for u in range(1, 1000))
    assert (site.status, site.active_requests) == ("exact", true)


@pytest.mark.parametrize(("relation", "true"), [("gt.s64", (1, 2, 3)), ("ne.s64", (1, 2, 3, 4, 5, 6, 7))])
def test_block_index_shifted_beyond_64_bits_wraps(relation, true):
    body = f"mov.u32 %r0, %ctaid.x; cvt.u64.u32 %d, %r0; shl.b64 %d, %d, 61; setp.{relation} %p, %d, 0; {ACCESS}"
    site = site_of(body, grid=(9,), params=[None])
    assert (site.status, site.active_requests) == ("exact", len(true))


def test_untyped_64_bit_parameter_may_be_negative():
    """Nothing states that it is a pointer."""
    body = f"ld.param.u64 %d, [n]; setp.lt.s64 %p, %d, 0; {ACCESS}"
    assert may_take(site_of(body, ".param .u64 n", grid=(1,), params=[None]), 32)
    assert site_of(body, ".param .u64 n", grid=(1,), params=[-5]).wavefronts == 32
    assert site_of(body, ".param .u64 .ptr .align 4 n", grid=(1,), params=[None]).active_requests == 0


# --- tables indexed by an unknown ---


@pytest.mark.parametrize(("read", "blocks"), [("ld.param.u32 %r0, [n]", None), ("mov.u32 %r0, %nctaid.x", 1 << 25)])
def test_pitch_of_2_to_the_25_wraps_all_lanes_to_one_address(read, blocks):
    """128·2**25 is 2**32. (A grid has at least one block, so its size is never 0.)"""
    body = f"{read}; mul.lo.u32 %r0, %r0, %x; shl.b32 %r0, %r0, 7; mov.u32 %a, s; add.u32 %a, %a, %r0; {LOAD}"
    site = site_of(body)
    (case,) = (case for case in site.conditions if (case.low, case.high) == (1, 1))
    assert case.when.endswith(f"mod {1 << 25} in {{0}}") and may_take(site, 1) and may_take(site, 32)
    if blocks is not None:
        assert site_of(body, grid=(blocks,), params=[None]).wavefronts == blocks


# --- special registers ---


@pytest.mark.parametrize("name", ("clusterid.x", "nclusterid.x"))
def test_cluster_ids_count_clusters_of_the_grid(name):
    body = f"mov.u32 %r0, %{name}; setp.ge.u32 %p, %r0, 20; {ACCESS}"
    assert may_take(site_of(body), 32)
    alone, pairs = (site_of(body, grid=(64,), params=[None], cluster=size) for size in (None, (2,)))
    numbers = {"clusterid.x": (64 - 20, 64 - 40), "nclusterid.x": (64, 64)}[name]
    assert [(s.status, s.active_requests) for s in (alone, pairs)] == [("exact", n) for n in numbers]


def test_cluster_rank_count_may_be_16():
    assert may_take(site_of(f"mov.u32 %r0, %cluster_nctarank; setp.gt.u32 %p, %r0, 15; {ACCESS}"), 32)


@pytest.mark.parametrize("name", ("clock64", "globaltimer", "current_graph_exec", "gridid"))
def test_special_registers_of_64_bits_have_an_unknown_upper_half(name):
    body = f"mov.u64 %d, %{name}; shr.u64 %d, %d, 32; cvt.u32.u64 %r0, %d; and.b32 %r0, %r0, 31;"
    site = site_of(
        f"{body} mul.lo.u32 %r0, %r0, %x; shl.b32 %r0, %r0, 2; mov.u32 %a, s; add.u32 %a, %a, %r0; "
        "ld.shared.u32 %z, [%a];",
        grid=(1,),
        params=[None],
    )
    assert site.status != "exact" and may_take(site, 16)


@pytest.mark.parametrize("name", ("pm0", "envreg3"))
def test_special_registers_of_any_value_may_be_negative(name):
    assert may_take(site_of(f"mov.u32 %r0, %{name}; setp.lt.s32 %p, %r0, 0; {ACCESS}"), 32)


def test_lower_word_of_a_window_spans_all_of_32_bits():
    function, _ = compare.lifted(PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u32 n", body=""))
    exists, warp = np.ones((1, LANES), bool), np.zeros((1, 1), np.uint32)
    env = Environment(function, exists, (warp, warp, warp), warp)
    for space in ("shared", "local", "param"):
        ((u, _),) = env.special(f"{space}_window_lo").terms
        assert u.high >> 31 and u.high + (1 << u.zeros) == 1 << 32


# --- differences of too many unknowns ---


def _sums():
    """%y and %z, sums of different parameters times numbers of the lane."""
    text = "mov.u32 %y, 0; mov.u32 %z, 0;"
    for k in range(2 * MANY):
        of = "%y" if k < MANY else "%z"
        text += f"ld.param.u32 %r0, [p{k}]; shl.b32 %r0, %r0, 7; add.u32 %r1, %x, {k}; mad.lo.u32 {of}, %r0, %r1, {of};"
    return text


CHOSEN = {
    "select": "selp.b32 %r2, %y, %z, %q;",
    "branch": "@%q bra A; mov.u32 %r2, %z; bra B; A: mov.u32 %r2, %y; B:",
    "guard": "mov.u32 %r2, %z; @%q mov.u32 %r2, %y;",
}


@pytest.mark.parametrize("less", ("%y", "%z"))
@pytest.mark.parametrize("choice", CHOSEN)
@pytest.mark.parametrize("told", (False, True))
def test_choice_between_sums_of_many_unknowns_is_neither_of_them(choice, less, told):
    names = [f"p{k}" for k in range(2 * MANY)]
    body = f"{_sums()} ld.param.u32 %r0, [n]; setp.lt.u32 %q, %r0, 100; {CHOSEN[choice]} sub.u32 %r2, %r2, {less};"
    body += "and.b32 %r2, %r2, 0x7f80; mov.u32 %a, s; add.u32 %a, %a, %r2; ld.shared.u32 %r3, [%a];"
    parameters = ", ".join(f".param .u32 {name}" for name in (*names, "n"))
    site = site_of(body, parameters, **({"grid": (1,), "params": [None] * (2 * MANY + 1)} if told else {}))
    assert may_take(site, 32)


def test_lanes_holding_either_of_two_sums_of_many_unknowns():
    lane = np.arange(LANES, dtype=np.uint32)[None, :]
    numbers = [Uniform(f"n{k}", 32, kind="parameter", key=("param", k, 32)) for k in range(2 * MANY)]
    a, b = (
        Value(lane, tuple((u, lane + np.uint32(k)) for k, u in enumerate(part, 1)))
        for part in (numbers[:MANY], numbers[MANY:])
    )
    assert lanes_that_agree("r", a, b).poison.all()


# --- results that depend on the block's shape ---

STORED = {
    "address": "st.local.u32 [l], %x; ld.local.u32 %r1, [l]; ",
    "by a branch": "mov.u32 %r2, 0; st.local.u32 [l], %r2; setp.lt.u32 %q, %x, 16; @%q bra A; mov.u32 %r2, 1;"
    " st.local.u32 [l], %r2; A: ld.local.u32 %r1, [l]; ",
}


@pytest.mark.parametrize("how", STORED)
def test_local_memory_contents_depend_on_the_block_shape(how):
    """In a block with one thread per row, all lanes have the same x."""
    access = "mov.u32 %a, s; mad.lo.u32 %a, %r1, 128, %a; ld.shared.u32 %z, [%a];"
    body = f".local .align 4 .b8 l[4]; {STORED[how]} {access}"
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u32 n", body=body)
    *_, site = ptxaudit.audit(content.replace(".reqntid 32, 1, 1", ""), isa="ptx", arch="sm_90").sites
    assert (site.status, site.per_request.low) == ("conditional", 1)
    assert "block's shape" in site.reason


OF_ONE_LANE_IN_FOUR = """mov.u32 %r3, %laneid; and.b32 %r4, %x, 3; setp.ne.u32 %q, %r4, 0; ld.param.u32 %r1, [n];
 setp.lt.u32 %p, %r1, 5; .shared .align 128 .b8 t[4096]; @%q bra END; and.b32 %r5, %r3, 2; shl.b32 %r5, %r5, 6;
 mov.u32 %a, s; add.u32 %a, %a, %r5; mov.u32 %y, t; selp.b32 %a, %a, %y, %p; ld.shared.u32 %z, [%a]; END:"""


def test_lanes_inactive_in_the_tried_block_shape_have_other_addresses():
    """The lanes active in a block of one row have equal addresses; in a block of 7 by 9 threads others are active."""
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u32 n", body=OF_ONE_LANE_IN_FOUR)
    content = content.replace(".reqntid 32, 1, 1", "")
    launch = ptxaudit.Launch("k", grid=1, block=(7, 9), params=[3])
    (told,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=[launch]).sites
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90").sites
    assert told.ways == 2 and may_take(site, 2) and site.status == "conditional"


# --- values that differ between lanes ---

MATRICES = {
    "a product": "cvt.rn.f32.u32 %f0, %n; mov.b32 %r0, %f0; mov.f32 %f1, 0f00000000; mma.sync.aligned.m16n8k8.row.col"
    ".f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%f1, %f1, %f1, %f1};",
    "a row": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s]; mov.b32 %f1, %r0;",
}
OF_A_PART = """.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 32, 1, 1
{{ .reg .b32 %r<9>, %a, %x, %n, %s; .reg .b64 %d; .reg .f32 %f<5>; .reg .pred %p; .shared .align 128 .b8 s[32768];
 ld.param.u64 %d, [p]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mov.u32 %s, s; {made}
 setp.gt.f32 %p, %f1, 0f3F800000; @!%p bra END; mad.lo.u32 %a, %x, 128, %s; mov.u32 %r1, 0;
 L: atom.global.add.u32 %r2, [%d], %r1; st.shared.u32 [%a], %r2; add.u32 %a, %a, 4; add.u32 %r1, %r1, 1;
 setp.lt.u32 %p, %r1, %n; @%p bra L; END: ret; }}
"""


@pytest.mark.parametrize("made", MATRICES)
def test_matrix_fragments_differ_between_lanes(made):
    """The value read for it is uniform; a branch on the lane's own part still diverges."""
    sites = ptxaudit.audit(from_ptx(OF_A_PART.format(made=MATRICES[made]))).sites
    stores = [site for site in sites if site.access == "store"]
    assert stores and all((site.per_request.low, site.per_request.high) == (1, 32) for site in stores)


# --- values that differ between warps ---

OF_SOME_WARPS = """mov.u32 %r2, %x; shr.u32 %r3, %r2, 5; mov.u32 %r4, 0; mov.u32 %r5, 0; ld.param.u32 %r1, [n];
 setp.ge.u32 %p, %r3, 1; @!%p bra A; shl.b32 %r6, %r3, 1; add.u32 %r6, %r6, 3; {first}
 A: setp.le.u32 %p, %r3, 1; @!%p bra B; shl.b32 %r6, %r3, 1; add.u32 %r6, %r6, 5; {second}
 B: setp.eq.u32 %p, %r3, 1; @!%p ret; sub.u32 %r6, %r5, %r4; mov.u32 %r7, %laneid; mul.lo.u32 %r7, %r7, %r6;
 shl.b32 %r7, %r7, 2; and.b32 %r7, %r7, 0xfffc; mov.u32 %a, s; add.u32 %a, %a, %r7; ld.shared.u32 %z, [%a];"""
MADE_OF_N = {
    "an unknown of bits": "and.b32 {to}, %r1, %r6;",
    "a minimum": "min.u32 {to}, %r1, %r6;",
    "a quotient": "div.u32 {to}, %r1, %r6;",
    "bits below the last": "add.u32 {to}, %r6, %r1; xor.b32 {to}, {to}, 6;",
    "a wrap": "add.u32 {to}, %r6, %r1; cvt.u64.u32 %d, {to}; shr.u64 %d, %d, 4; cvt.u32.u64 {to}, %d;",
}


@pytest.mark.parametrize("made", MADE_OF_N)
def test_swapping_warps_values_does_not_merge_their_unknowns(made):
    """Warps 1 and 2 hold 5 and 7, then warps 0 and 1: the number that warp 1 computes from n differs."""
    body = OF_SOME_WARPS.format(first=MADE_OF_N[made].format(to="%r4"), second=MADE_OF_N[made].format(to="%r5"))
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u32 n", body=body)
    content = content.replace(".reqntid 32, 1, 1", "")

    def site(n):
        launch = ptxaudit.Launch("k", grid=(1,), block=(96,), params=[n])
        return ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=[launch]).sites[0]

    anything = site(None)
    assert all(may_take(anything, site(n).wavefronts) for n in (0, 2, 6, 7, 11, 0xFFFFFFFA))


# --- rules of individual operations ---


def test_shift_right_of_a_difference_does_not_wrap_its_base():
    u = Uniform("u", 32, 0, 0, 255, key="u")
    value = apply(Op("sub", (), (), 32), (constant(0x7FFFFFFE, 32), unknown(u)))
    out = apply(Op("shr.u", (), (), 32), (value, constant(2, 32)))
    assert all(c.size == 1 for _, c in out.terms)
    assert int(out.base.flat[0]) + sum(int(c.flat[0]) for _, c in out.terms if c.flat[0] > 1 << 31) < 1 << 31


def test_and_with_masks_that_differ_between_warps_keeps_all_bits():
    masks = Value(np.array([[4], [128]], np.uint32))
    out = apply(Op("and", (), (), 32), (unknown(Uniform("n", 32, key="n")), masks))
    ((u, _),) = out.terms
    assert u.zeros <= 2 and u.high >= 128


def test_predicate_with_alternatives_is_not_equal_to_its_negation():
    axis = Axis(2, True)

    def predicate(*outcomes):
        bases = np.array(outcomes)[:, None, None]
        return Value(bases[0], poison=np.ones((1, 1), bool), alternatives=Alternatives((axis,), bases, None))

    p, q, again = (as_unknown(predicate(*outcomes)) for outcomes in ((True, False), (False, True), (True, False)))
    assert p.terms[0][0] != q.terms[0][0] and p.terms[0][0] == again.terms[0][0]


def test_carry_of_three_addends_may_be_2():
    op = Op("add3.carry", (), (), 32)
    numbers = [unknown(Uniform(name, 32, key=name)) for name in "abc"]
    no = constant(0, 1)
    one, two = apply(op, (*numbers, no, no))[1:]
    assert isinstance(one, Carry) and isinstance(two, Carry) and not one.alone
    assert carried(tuple(numbers), one, no) is None and carried(tuple(numbers), two, no) is None
    assert isinstance(apply(op, (*numbers[:2], constant(0, 32), no, no))[1], Carry)
    yes = constant(1, 1)
    assert not apply(op, (*numbers[:2], constant(0, 32), yes, yes))[1].alone


def test_rejoined_halves_add_coefficients_of_parameter_and_its_lower_half():
    whole = Uniform("p", 64, 0, None, None, "pointer", ("param", 0, 64), address=True)
    half = Uniform("p[0:4]", 32, 0, 0, 100, "parameter", ("param", 0, 32))
    one, three = np.ones((1, 1), np.uint64), np.full((1, 1), 3, np.uint64)
    high = UpperHalf(Value(np.zeros((1, 1), np.uint64), ((whole, one), (half, three))))
    low = lambda factor: Value(np.zeros((1, 1), np.uint32), ((half, np.full((1, 1), factor, np.uint32)),))
    assert rejoined(low(3), high) is None and rejoined(low(4), high) is not None


def test_sign_extension_of_a_predicate_is_0_or_minus_1():
    q = Uniform("q", 1, 0, 0, 1, "choice", key="q")
    out = apply(Op("sext", (), (), 32), (unknown(q),))
    ((u, factor),) = out.terms
    assert (u.low, u.high, int(factor.flat[0])) == (0, 1, 0xFFFFFFFF)
    lost = Value(np.zeros((1, 1), bool), poison=np.ones((1, 1), bool), why=Reason(Kind.LOADED))
    assert apply(Op("sext", (), (), 32), (lost,)).poison is not None


# --- operations across lanes ---


@pytest.mark.parametrize(("lane", "known"), [(15, True), (16, False)])
def test_shuffle_from_a_lane_that_does_not_exist_is_not_uniform(lane, known):
    """Its result is undefined in every lane, which does not make it the same in all of them."""
    body = f"ld.param.u64 %d, [g]; ld.global.u32 %r0, [%d]; shfl.sync.idx.b32 %r1, %r0, {lane}, 31, -1; {AT_A_ROW}"
    (site,) = audited(body, ".param .u64 g", (48,), [None])
    assert (site.wavefronts == 2) == known and may_take(site, 1) and may_take(site, 16) != known


@pytest.mark.parametrize("behind", ("bar.sync 0", "bar.warp.sync -1"))
def test_requests_after_a_loop_with_a_warp_barrier_are_unknown_in_ptx(behind):
    """Whether they wait for others behind the loop is up to ptxas, and so is which of them are together after a barrier:
    at -O0, the second load is one request.
    """
    body = f"""mov.u32 %r0, 0; mov.u32 %a, s; LOOP: bar.warp.sync -1; add.u32 %r0, %r0, 4; setp.lt.u32 %p, %r0, %x;
     @%p bra LOOP; ld.shared.u32 %z, [%a]; {behind}; ld.shared.u32 %z, [%a];"""
    assert [site.requests for site in audited(body, ".param .u32 n", (32,), [0])] == [None, None]
