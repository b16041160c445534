"""The dataflow graph of one access, as text and as Graphviz DOT (`ptxaudit explain --show graph`, `--dot`).

         %tid.x
         tile
      5  mov.u32 %r2, %tid.x            [input <- %tid.x]
     17  mov.u32 %r11, tile             [input <- tile]
     23  mad.lo.s32 %r15, %r2, 68, %r11 [%r11 <- 17; %r2 <- 5]
>    26  ld.shared.f32 %f2, [%r15]      [%r15 <- 23]
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx

from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Address, Const, Function, Reg, Special
from ptxaudit.ir.operands import control_reads, reads


def picture(function: Function, graph: Graph, site: int) -> nx.DiGraph[int | str]:
    """The dataflow graph of one access: instructions, φ nodes for joins of definitions, branches.

    Nodes carry `text` and `kind` ("site" | "op" | "phi" | "branch" | "input"); edges carry `register` ("" for control
    dependence).
    """
    part = graph.slice([site], follow_loads=True)
    out: nx.DiGraph[int | str] = nx.DiGraph()
    instructions = function.instructions

    def node(index: int) -> int:
        i = instructions[index]
        kind = "site" if index == site else "branch" if i.control and index in part.branches else "op"
        out.add_node(index, text=i.text.strip(), kind=kind, place=i.place)
        return index

    def link(reg: Reg, index: int) -> None:
        definitions = sorted(graph.reaching(reg.name, index))
        if len(definitions) > 1:
            phi = f"φ {reg.name} @{index}"
            out.add_node(phi, text=f"φ({reg.name})", kind="phi")
            out.add_edge(phi, index, register=reg.name)
            for d in definitions:
                out.add_edge(node(d), phi, register=reg.name)
        for d in definitions if len(definitions) == 1 else ():
            out.add_edge(node(d), index, register=reg.name)

    for index in sorted(part.instructions | part.branches):
        node(index)
        i = instructions[index]
        for reg in {r.name: r for r in reads(i, True) + control_reads(i)}.values():
            link(reg, index)
        for op in i.ops:
            for s in op.src:
                if (
                    isinstance(s, (Special, Address))
                    or op.name == "load"
                    and op.space == "param"
                    and isinstance(s, Const)
                ):
                    name = str(s) if not isinstance(s, Const) else f"param+{s.value + op.offset}"
                    out.add_node(name, text=name, kind="input")
                    out.add_edge(name, index, register="")
        for controller in graph.controllers.get(graph.block_of[index], ()):
            last = graph.ends[controller] - 1
            if last in part.branches and last != index:
                out.add_edge(node(last), index, register="", control=True)
    return out


def as_text(nodes: nx.DiGraph[int | str]) -> str:
    """The slice as text, inputs first, one node per line with what it reads."""
    lines = []
    order = sorted(
        nodes.nodes,
        key=lambda n: (
            (0, 0, str(n))
            if isinstance(n, str) and not n.startswith("φ")
            else (1, int(str(n).rsplit("@", 1)[-1]) if isinstance(n, str) else n, not isinstance(n, str))
        ),
    )
    for n in order:
        data = nodes.nodes[n]
        reads = []
        for p, _, e in nodes.in_edges(n, data=True):
            what = "control" if e.get("control") else e.get("register") or "input"
            reads.append(f"{what} <- {p}")
        label = f"{n:>6}" if isinstance(n, int) else f"{'':>6}"
        mark = {"site": ">", "branch": "?", "phi": " ", "input": " ", "op": " "}[data["kind"]]
        lines.append(f"{mark}{label}  {data['text']}" + (f"    [{'; '.join(sorted(reads))}]" if reads else ""))
    return "\n".join(lines)


def as_dot(nodes: nx.DiGraph[int | str]) -> str:
    """Graphviz DOT of a slice."""
    shape = {"site": "box3d", "branch": "diamond", "phi": "circle", "input": "plaintext", "op": "box"}
    quote: Callable[[int | str], str] = lambda s: '"' + str(s).replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines = ["digraph slice {", '  node [fontname="monospace", fontsize=10];']
    for n, data in nodes.nodes(data=True):
        lines.append(f"  {quote(n)} [label={quote(data['text'])}, shape={shape[data['kind']]}];")
    for a, b, e in nodes.edges(data=True):
        style = ', style="dashed"' if e.get("control") else ""
        lines.append(f"  {quote(a)} -> {quote(b)} [label={quote(e.get('register', ''))}{style}];")
    return "\n".join(lines + ["}"])
