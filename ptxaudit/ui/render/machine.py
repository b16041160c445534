"""Writes machine records: the list of all, or the rule table of one with its evidence."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ptxaudit.hardware.banks.ptx_opcodes import ATOMICS
from ptxaudit.hardware.machine_model import Counted, Machine, Rule

SCHEMA = "ptxaudit/machine/1"
_NAMED = 5  # opcodes of a rule in the table; JSON has all
_GENERIC = "banks=…,word=…,threads=…,broadcast=any|one|none"

# operation -> (machine instruction, PTX)
INSTRUCTIONS = {
    "load": ("LDS", "ld.shared"),
    "generic load": ("LD", "ld"),
    "store": ("STS", "st.shared"),
    "atomic": ("ATOMS (ADD, EXCH, …)", "atom/red.shared"),
    "count": ("ATOMS.POPC.INC", "red.shared.add.u32 1"),
    "cas": ("ATOMS.CAS", "atom.shared.cas"),
    "cast": ("ATOMS.CAST.SPIN", "one pass of a loop"),
    "loop": ("", "atom.shared loops"),
    "ldmatrix": ("LDSM", "ldmatrix m8n8"),
    "stmatrix": ("STSM", "stmatrix m8n8"),
    "matrix": ("LDSM, STSM", "other matrix shapes"),
    "cp.async": ("LDGSTS", "cp.async.ca"),
    "cp.async.bypass": ("LDGSTS.BYPASS", "cp.async.cg"),
}


def list_view(machines: list[Machine]) -> RenderableType:
    """One line per machine."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for machine in machines:
        evidence = f"{len(requests)} opcodes measured" if (requests := machine.measurements.requests) else "by rule"
        table.add_row(Text(machine.name, "bold"), Text(machine.title, no_wrap=True), f"{machine.banks} banks", evidence)
    table.add_row(Text(_GENERIC, "bold"), "the abstract machine", "", "by definition")
    return table


def machine_view(machine: Machine) -> RenderableType:
    """The rule table of one machine."""
    rows: list[RenderableType] = [
        Text(machine.title, "bold"),
        Text(
            f"{machine.banks} banks, words of {machine.word} bytes, {machine.lanes} lanes; bank = (address /"
            f" {machine.word}) mod {machine.banks}"
        ),
    ]
    for note in (
        *machine.notes,
        f"Machine code is not scored: {machine.machine_code}." if machine.machine_code else "",
    ):
        if note:
            rows.append(Text(note))
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("instruction", no_wrap=True)
    table.add_column("bits", justify="right", no_wrap=True)
    table.add_column("wavefronts of one request", ratio=1)
    table.add_column("shift", justify="right", no_wrap=True)
    table.add_column("evidence")
    for rule in machine.rules:
        table.add_row(
            instruction(machine, rule),
            ", ".join(str(8 * w) for w in rule.widths),
            rule.says,
            str(rule.shift),
            Text(evidence(machine, rule), "green" if measured_opcodes(machine, rule) else ""),
        )
    rows += [Text(), table]
    if not machine.machine_code:
        rows.append(Text(special_functions(machine), "dim"))
    for operation, reason in machine.refused.items():
        if not any(rule.operation == operation for rule in machine.rules):
            rows.append(Text(f"not scored: {' / '.join(filter(None, INSTRUCTIONS[operation]))}: {reason}", "dim"))
    loops = ", ".join(sorted({f"{op}.{type_}" for (op, type_), (kind, *_) in ATOMICS.items() if kind == "loop"}))
    if any(rule.operation == "loop" for rule in machine.rules):
        rows.append(Text(f"atom.shared loops: {loops}", "dim"))
    rows.append(
        Text(
            "shift: bytes by which all addresses may move together without changing any figure (of cp.async the"
            " destinations; its sources by 128)",
            "dim",
        )
    )
    for key in source_keys(machine):
        source = machine.sources[key]
        rows.append(Padding(Text(f"{key}: {source.text}{' ' + source.url if source.url else ''}", "dim"), (0, 0, 0, 0)))
    return Group(*rows)


def special_functions(machine: Machine) -> str:
    """What is known about MUFU results."""
    measured = machine.measurements.special.measured
    if not measured:
        return "special functions (MUFU): one of the numbers that documents allow, followed through"
    return f"special functions (MUFU): {', '.join(sorted(name.upper() for name in measured))} measured for every input"


def instruction(machine: Machine, rule: Rule) -> str:
    """The machine instruction, or the PTX if the machine's code is not scored or has no such instruction."""
    sass, ptx = INSTRUCTIONS[rule.operation]
    return ptx if machine.machine_code or not sass else sass


def measured_opcodes(machine: Machine, rule: Rule) -> dict[str, int]:
    """{opcode: requests} for the measured opcodes that this rule counts."""
    from ptxaudit.hardware.banks import classify

    requests = machine.measurements.requests
    return {opcode: n for opcode, n in requests.items() if machine.rule(classify(opcode)) is rule}


def evidence(machine: Machine, rule: Rule) -> str:
    """ "measured: LDS.U8 83, LDS.U16 89" or "by rule (H200)"; only the first of many opcodes."""
    found = measured_opcodes(machine, rule)
    if found:
        named = [f"{opcode} {n}" for opcode, n in found.items()]
        how = "timed" if rule.count.what is Counted.LINES else "measured"
        more = len(named) - _NAMED
        return (
            f"{how}: "
            + ", ".join(named[:_NAMED] if more > 1 else named)
            + (f" and {more} more opcodes, {sum(found.values()):,} requests in all" if more > 1 else "")
        )
    return f"by rule ({rule.source})"


def source_keys(machine: Machine) -> list[str]:
    """Keys of the sources of the machine's rules, and of its own measurements."""
    own = [machine.measurements.name] if machine.measurements.name else []
    return list(dict.fromkeys([*(rule.source for rule in machine.rules), *own]))


def list_dict(machines: list[Machine]) -> dict[str, Any]:
    """The list as JSON."""
    return {
        "schema": "ptxaudit/machines/1",
        "machines": [
            {
                "name": m.name,
                "title": m.title,
                "banks": m.banks,
                "word": m.word,
                "lanes": m.lanes,
                "archs": list(m.archs),
                "measured": sorted(m.measurements.requests),
                "machine_code": not m.machine_code,
            }
            for m in machines
        ],
    }


def machine_dict(machine: Machine) -> dict[str, Any]:
    """One machine with its rules as JSON."""
    return {
        "schema": SCHEMA,
        "name": machine.name,
        "title": machine.title,
        "banks": machine.banks,
        "word": machine.word,
        "lanes": machine.lanes,
        "archs": list(machine.archs),
        "notes": list(machine.notes),
        "machine_code": not machine.machine_code,
        "machine_code_refused": machine.machine_code or None,
        "special_functions_measured": sorted(machine.measurements.special.measured),
        "rules": [
            {
                "operation": rule.operation,
                "sass": INSTRUCTIONS[rule.operation][0] or None,
                "ptx": INSTRUCTIONS[rule.operation][1],
                "widths": list(rule.widths),
                "counted": rule.count.what.value,
                "group": rule.count.lanes,
                "merged_group": rule.count.paired or None,
                "factor": rule.count.factor,
                "split": rule.split,
                "exact": not rule.uncertainty and rule.count.what in (Counted.WORDS, Counted.LANES),
                "why_range": rule.why or None,
                "says": rule.says,
                "invariant_shift": rule.shift,
                "source": rule.source,
                "measured": measured_opcodes(machine, rule),
            }
            for rule in machine.rules
        ],
        "refused": {o: r for o, r in machine.refused.items() if not any(rule.operation == o for rule in machine.rules)},
        "sources": {
            key: {"text": machine.sources[key].text, "url": machine.sources[key].url or None}
            for key in source_keys(machine)
        },
    }
