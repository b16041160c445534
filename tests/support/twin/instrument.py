"""A generated kernel that logs what it does: before every site, each thread stores site, address and active mask.

    @%p1 st.shared.u32 [%r7+8], %r1;        ->    log (site's line, whether %p1 holds, %r7 + 8, activemask)
    @ok st.volatile.shared.u32 [%r7+8], %r1;

Accesses outside the block's shared memory, or to the table from which threads read indices, are only recorded; so are
ldmatrix, stmatrix and cp.async. Loads become stores, except those of that table: what they load decides no address.

The log is the module's array `g_log`: for each thread of the grid its number of events, and then, 16 bytes each, {2 *
line + acts, address, active lanes, 0}. Lines from SYMBOL on have the addresses of the shared variables.
"""

from __future__ import annotations

import re

EVENT = 16  # bytes
SYMBOL = 60_000  # line of the first shared variable
TABLE = "s_slots"
TABLE_BYTES = 1024
RESERVED = 1024  # bytes at the start of the window
WIDEST = 16

SITE = re.compile(r"^\t(?P<guard>@!?%p\d+ )?(?P<op>(?:ld|st|atom|red|ldmatrix|stmatrix|cp)\.[\w.:]+) (?P<rest>.*);$")
PLACE = re.compile(r"\[(?P<base>%\w+)(?:\+(?P<offset>\d+))?\]")
SHARED_VARIABLE = re.compile(r"\.shared \.align \d+ \.b8 (?P<name>\w+)\[(?P<size>\d*)\];")
NOT_SITES = re.compile(r"\.(local|global|param|const)\b")

REGISTERS = ["\t.reg .b32 %g<12>;", "\t.reg .b64 %gd<6>;", "\t.reg .pred %gp<8>;"]


def prologue(events: int) -> list[str]:
    """%gd1 = this thread's part of the log."""
    return [
        "\tmov.u32 %g1, %ctaid.z;",
        "\tmov.u32 %g2, %nctaid.y;",
        "\tmov.u32 %g3, %ctaid.y;",
        "\tmad.lo.u32 %g1, %g1, %g2, %g3;",
        "\tmov.u32 %g2, %nctaid.x;",
        "\tmov.u32 %g3, %ctaid.x;",
        "\tmad.lo.u32 %g1, %g1, %g2, %g3;",
        "\tmov.u32 %g2, %ntid.z;",
        "\tmov.u32 %g3, %tid.z;",
        "\tmad.lo.u32 %g1, %g1, %g2, %g3;",
        "\tmov.u32 %g2, %ntid.y;",
        "\tmov.u32 %g3, %tid.y;",
        "\tmad.lo.u32 %g1, %g1, %g2, %g3;",
        "\tmov.u32 %g2, %ntid.x;",
        "\tmov.u32 %g3, %tid.x;",
        "\tmad.lo.u32 %g1, %g1, %g2, %g3;",
        "\tmov.u64 %gd1, g_log;",
        f"\tmad.wide.u32 %gd1, %g1, {EVENT * (1 + events)}, %gd1;",
    ]


def log(line: int, events: int, guard: str = "") -> list[str]:
    """Writes {2 * line + acts, %g2, %g4}; %g4 was set before."""
    return [
        f"\tmov.u32 %g5, {2 * line};",
        f"\t{guard}mov.u32 %g5, {2 * line + 1};",
        "\tld.volatile.global.u32 %g6, [%gd1];",
        f"\tmin.u32 %g7, %g6, {events - 1};",
        f"\tmad.wide.u32 %gd2, %g7, {EVENT}, %gd1;",
        f"\tst.volatile.global.v4.u32 [%gd2+{EVENT}], {{%g5, %g2, %g4, %g4}};",
        "\tadd.u32 %g6, %g6, 1;",
        "\tst.volatile.global.u32 [%gd1], %g6;",
    ]


def written(op: str, rest: str) -> list[str]:
    """Zeros for the registers that a load would write if it were executed."""
    if not op.startswith(("ld", "atom")):
        return []
    first = re.match(r"\{([^}]*)\}|(%\w+)", rest)
    names = [n.strip() for n in (first[1] or first[2]).split(",")]
    return [f"\tmov.b{64 if n.startswith('%rd') else 32} {n}, 0;" for n in names]


def site(line: int, guard: str, op: str, rest: str, events: int, size: int, has_table: bool) -> list[str]:
    place = PLACE.search(rest)
    base, offset = place["base"], int(place["offset"] or 0)
    out = ["\tactivemask.b32 %g4;"]
    generic = base.startswith("%rd")
    own = guard.strip()
    if generic:
        out += [
            f"\tadd.u64 %gd3, {base}, {offset};",
            "\tisspacep.shared %gp1, %gd3;",
            "\tcvta.to.shared.u64 %gd4, %gd3;",
            "\tcvt.u32.u64 %g2, %gd4;",
        ]
        out += _both(own, "%gp1", "%gp2")
        acts = "@%gp2 "
    else:
        out += [f"\tadd.u32 %g2, {base}, {offset};"]
        acts = guard
    out += log(line, events, acts)
    table_site = f"// {TABLE}" in rest
    if "matrix" in op or op.startswith("cp"):
        return out + written(op, rest)
    out += [
        f"\tsub.u32 %g8, %g2, {RESERVED};",
        "\tand.b32 %g8, %g8, 0xffffff;",
        f"\tsetp.le.u32 %gp3, %g8, {size - WIDEST};",
    ]
    if has_table and not table_site:
        out += [
            f"\tmov.u32 %g9, {TABLE};",
            "\tsub.u32 %g9, %g2, %g9;",
            f"\tadd.u32 %g9, %g9, {WIDEST};",
            f"\tsetp.ge.and.u32 %gp3, %g9, {TABLE_BYTES + WIDEST}, %gp3;",
        ]
    if generic:
        out += ["\tnot.pred %gp4, %gp1;", "\tor.pred %gp3, %gp3, %gp4;"]
    out += _both(own, "%gp3", "%gp5")
    zeros = written(op, rest) if not guard else []
    access = f"{op} {rest}"
    if op.startswith("ld") and not table_site:
        zeros, access = stored(op, rest)
    if not generic and not op.startswith(("atom", "red")):
        access = access.replace(".shared", ".volatile.shared", 1)
    return out + zeros + [f"\t@%gp5 {access};"]


def _both(guard: str, other: str, out: str) -> list[str]:
    """out = guard and other."""
    if not guard:
        return [f"\tmov.pred {out}, {other};"]
    if guard.startswith("@!"):
        return [f"\tnot.pred %gp7, {guard[2:]};", f"\tand.pred {out}, %gp7, {other};"]
    return [f"\tand.pred {out}, {guard[1:]}, {other};"]


def match(line: str) -> re.Match | None:
    """The access to shared or generic memory in a line."""
    found = SITE.match(line)
    return None if found is None or NOT_SITES.search(found["op"]) and not found["op"].startswith("cp.") else found


def sites(text: str) -> list[tuple[int, re.Match]]:
    """(line, its match) of every access."""
    return [(number, found) for number, line in enumerate(text.splitlines(), 1) if (found := match(line))]


def stored(op: str, rest: str) -> tuple[list[str], str]:
    """A load as a store of zeros to the same address.

    ptxas moves loads with unused results past an exit, but never stores.
    """
    registers, _, place = rest.rpartition(", ")
    zeros = written(op, rest)
    return zeros, f"{op.replace('ld.', 'st.', 1)} {place}, {registers}"


def shared_variables(text: str) -> list[tuple[str, int]]:
    """(name, bytes; 0 for the dynamic one) in text order."""
    return [(m["name"], int(m["size"] or 0)) for m in SHARED_VARIABLE.finditer(text)]


def instrumented(text: str, threads: int, events: int, dynamic: int) -> str:
    """The kernel with its log. threads: those of the grid; events: the capacity of a thread's part of the log."""
    variables = shared_variables(text)
    size = sum(n or dynamic for _, n in variables)
    has_table = any(name == TABLE for name, _ in variables)
    lines = text.splitlines()
    slots = table_sites(text)
    out: list[str] = []
    depth, started, is_entry = 0, False, False
    for number, line in enumerate(lines, 1):
        words = line.strip()
        if line.startswith((".visible .entry", ".func")):
            is_entry, depth, started = ".entry" in line, 0, False
        if words == "{" and not line.startswith("\t"):
            out += [line, *REGISTERS]
            depth, started = 1, False
            continue
        if depth and not started and words and not words.startswith("."):
            started = True
            out += prologue(events)
            if is_entry:
                out.append("\tactivemask.b32 %g4;")
                for k, (name, _) in enumerate(variables):
                    out += [f"\tmov.u32 %g2, {name};", *log(SYMBOL + k, events)]
        found = match(line)
        if not depth or found is None:
            out.append(line)
        else:
            rest = found["rest"] + (f" // {TABLE}" if number in slots else "")
            emitted = site(number, found["guard"] or "", found["op"], rest, events, size, has_table)
            out += [e.replace(f" // {TABLE};", ";") for e in emitted]
    at = next(k for k, line in enumerate(out) if line.startswith(".address_size"))
    out.insert(at + 1, f".visible .global .align 16 .b8 g_log[{threads * EVENT * (1 + events)}];")
    return "\n".join(out) + "\n"


def table_sites(text: str) -> set[int]:
    """Lines of the accesses to the table from which threads read indices."""
    lines = text.splitlines()
    return {number for number, _ in sites(text) if _of_table(lines, number)}


def _of_table(lines: list[str], number: int) -> bool:
    """Whether a line accesses the table from which threads read indices.

    The base register of such an access is computed from the table's address alone.
    """
    found = SITE.match(lines[number - 1])
    if found is None or ".shared" not in found["op"]:
        return False
    base = PLACE.search(found["rest"])["base"]
    for line in reversed(lines[: number - 1]):
        made = re.match(rf"\tmad\.lo\.u32 {base}, %r\d+, 4, (%r\d+);", line)
        if made:
            return any(x == f"\tmov.u32 {made[1]}, {TABLE};" for x in lines)
        if re.match(rf"\t\S+ {base}, ", line):
            return False
    return False


def origins(text: str) -> dict[int, int]:
    """Line of an access in the instrumented text -> its line in the original."""
    out, line = {}, 0
    for number, words in enumerate(text.splitlines(), 1):
        logged = re.match(r"\tmov\.u32 %g5, (\d+);", words)
        if logged:
            line = int(logged[1]) // 2
        elif words.startswith("\t@%gp5 "):
            out[number] = line
    return out


def in_range(text: str, dynamic: int, symbols: dict[str, int]):
    """f(line, {lane: address}) -> the lanes whose access the instrumented kernel executes."""
    size, of_table = sum(n or dynamic for _, n in shared_variables(text)), table_sites(text)

    def executed(line: int, addresses: dict[int, int]) -> dict[int, int]:
        out = {}
        for lane, address in addresses.items():
            runs = (address - RESERVED & 0xFFFFFF) <= size - WIDEST
            if TABLE in symbols and line not in of_table:
                runs &= (address - symbols[TABLE] + WIDEST & 0xFFFFFFFF) >= TABLE_BYTES + WIDEST
            if runs:
                out[lane] = address
        return out

    return executed
