"""Programs of convergence barriers (bench/convergence) as the engine takes them, and their measurements on a GPU.

function, launch = as_kernel(program, lanes)      every record is a store of one word to shared memory
"""

from __future__ import annotations

from machine_code import STATED

from ptxaudit.engine.answer.result import SiteResult
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir

WORD, LEFT, PLACE, P, MORE = ir.Reg("R8", 32), ir.Reg("R9", 32), ir.Reg("R0", 32), ir.Reg("P0", 1), ir.Reg("P1", 1)
T, U, ADDRESS = ir.Reg("R2", 32), ir.Reg("R3", 32), ir.Reg("R4", 32)
CHOSEN = ir.Reg("R5", 32)
BYTES_A_LANE = 8


class _Kernel:
    def __init__(self) -> None:
        self.out: list[ir.Instruction] = []

    def put(self, text: str, *ops: ir.Op, **more) -> None:
        index = len(self.out)
        self.out.append(ir.Instruction(index, 16 * index, text.split()[0], text, None, ops, **more))


def _guard(when: bool | None) -> ir.Guard | None:
    return None if when is None else ir.Guard(P, not when)


def _instructions(step, k: _Kernel, targets: dict[int, int]) -> None:
    guard, barrier = _guard(step.when), ir.Reg(f"B{step.number}", 32)
    kept = ir.Reg(f"R{24 + step.register}", 32)
    to = lambda place: (targets.get(place, 0),)
    match step.kind:
        case "record":
            k.put(
                "STS [R4], RZ",
                ir.Op("store", (), (ADDRESS, ir.Const(0)), 32, space="shared"),
                site=with_access(ir.Site("STS", ADDRESS), ()),
            )
            k.put(
                "IADD3 R9, R9, -0x1, RZ",
                ir.Op("add", (LEFT,), (LEFT, ir.Const(0xFFFFFFFF))),
                ir.Op("setp.ne", (MORE,), (LEFT, ir.Const(0)), 32),
            )
            k.put("@!P1 BRA end", control=ir.Control("branch", to(-1), ir.Guard(MORE, True)))
        case "decide":
            k.put(
                "decide",
                ir.Op("and", (T,), (WORD, ir.Const(1))),
                ir.Op("setp.ne", (P,), (T, ir.Const(0)), 32),
                ir.Op("shr.u", (T,), (WORD, ir.Const(1))),
                ir.Op("shl", (U,), (WORD, ir.Const(31))),
                ir.Op("or", (WORD,), (T, U)),
            )
        case "branch":
            k.put("BRA", control=ir.Control("branch", to(step.target), guard))
        case "jump":
            k.put(
                "BRX",
                ir.Op("select", (T,), (ir.Const(1), ir.Const(0), P)),
                control=ir.Control("switch", (*to(step.target), *to(step.other)), selector=T),
            )
        case "switch":
            k.put(
                "choose",
                ir.Op("and", (CHOSEN,), (WORD, ir.Const(len(step.targets) - 1))),
                ir.Op("shr.u", (T,), (WORD, ir.Const(step.bits))),
                ir.Op("shl", (U,), (WORD, ir.Const(32 - step.bits))),
                ir.Op("or", (WORD,), (T, U)),
            )
            places = tuple(place for target in step.targets for place in to(target))
            k.put("BRX", control=ir.Control("switch", places, selector=CHOSEN))
        case "open" | "sync" | "leave":
            k.put(
                {"open": "BSSY", "sync": "BSYNC", "leave": "BREAK"}[step.kind],
                control=ir.Control(step.kind, (), guard, barrier),
            )
        case "save" | "clear":
            clear = (ir.Op("barrier.clear", (), (barrier,)),) if step.kind == "clear" else ()
            k.put("BMOV", ir.Op("barrier.save", (kept,), (barrier,)), *clear)
        case "restore":
            k.put("BMOV", ir.Op("barrier.restore", (), (barrier, kept)))
        case "yield" | "nop":
            k.put(step.kind, **({"control": ir.Control("yield")} if step.kind == "yield" else {}))
        case "warpsync" | "warpsync_all":
            k.put(
                "WARPSYNC",
                control=ir.Control("warpsync", selector=ir.Const(step.number) if step.kind == "warpsync" else None),
            )
        case "exit":
            k.put("EXIT", control=ir.Control("exit", guard=guard))


def as_kernel(program, lanes: list[tuple[int, int]]) -> tuple[ir.Function, Launch, dict[int, int]]:
    """(kernel, launch of one warp, site -> the number of its record). lanes: (word, records) of each."""
    targets: dict[int, int] = {}
    for _final in (False, True):  # the first pass finds the positions of the steps
        k = _Kernel()
        k.put(
            "S2R R0, SR_TID.X",
            ir.Op("mov", (PLACE,), (ir.Special("tid.x"),)),
            ir.Op("mul", (PLACE,), (PLACE, ir.Const(BYTES_A_LANE))),
        )
        k.put("LDC R8", ir.Op("load", (WORD,), (PLACE,), 32, (32,), space="param"))
        k.put("LDC R9", ir.Op("load", (LEFT,), (PLACE,), 32, (32,), space="param", offset=4))
        k.put("MOV R4, RZ", ir.Op("mov", (ADDRESS,), (ir.Const(0),)))
        numbers = {}
        for place, step in enumerate(program):
            targets[place] = len(k.out)
            if step.kind == "record":
                numbers[len(k.out)] = step.number
            _instructions(step, k, targets)
        targets[len(program)] = targets[-1] = len(k.out)
        k.put("EXIT", control=ir.Control("exit"))
    data = b"".join(n.to_bytes(4, "little") for lane in lanes for n in lane)
    function = ir.Function(
        "program",
        "sass",
        "sm_90",
        tuple(k.out),
        shared_static=1024,
        parameters=(ir.Parameter("lanes", 0, len(data)),),
        **STATED,
    )
    return function, Launch("program", grid=(1,), block=(len(lanes),), param_bytes=data), numbers


def claims(program, lanes: list[tuple[int, int]]) -> dict[int, SiteResult]:
    """The engine's result for each record."""
    function, launch, numbers = as_kernel(program, lanes)
    result = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90"))
    return {numbers[site.index]: site for site in result.sites}
