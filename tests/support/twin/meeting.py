"""Where the lanes of a warp that diverge at a branch reconverge: the branch's nearest post-dominator.

Computes sets of post-dominators as in a textbook, without paths that only lead to the end (`without_ends`): no lane
waits for lanes that return early.
"""

from __future__ import annotations

from collections import defaultdict

from .code import Code

END = -1


def followers(code: Code, at: int) -> list[int]:
    """Positions that may follow a step."""
    step = code.steps[at]
    base = step.opcode.split(".")[0]
    after = at + 1 if at + 1 < len(code.steps) else END
    place = lambda name: code.labels[name] if code.labels[name] < len(code.steps) else END
    if base == "bra":
        out = [place(step.operands[0].name)]
    elif base == "brx":
        out = [place(t) for t in code.tables[step.operands[1].name]]
    elif base in ("ret", "exit", "trap"):
        out = [END]
    else:
        return [after]
    return out + [after] if step.guard is not None else out


def graph_of(code: Code) -> dict[int, set[int]]:
    """step -> the steps that may follow; an endless loop gets an exit, so that there are post-dominators."""
    count = len(code.steps)
    follow = {at: set(followers(code, at)) for at in range(count)}
    coming = reverse(follow)
    ends = reached({END}, coming)
    for at in reversed(range(count)):
        if at not in ends:
            follow[at].add(END)
            coming[END].add(at)
            ends = reached({END}, coming)
    return follow


def reverse(follow) -> dict[int, set[int]]:
    coming = defaultdict(set)
    for a, bs in follow.items():
        for b in bs:
            coming[b].add(a)
    return coming


def reached(start, follow, stop=lambda at: False) -> set[int]:
    """Everything that can be reached, including `start`."""
    seen, todo = set(start), list(start)
    while todo:
        for b in follow.get(todo.pop(), ()):
            if b not in seen and not stop(b):
                seen.add(b)
                todo.append(b)
    return seen


def without_ends(code: Code, follow) -> dict[int, set[int]]:
    """The graph without edges to paths that only lead to the end and that no other step leads into.

    Every step keeps a path to the end: the edges with the fewest steps behind them are removed first.
    """
    coming = reverse(follow)
    is_end = lambda at: (
        at == END or code.steps[at].guard is None and code.steps[at].opcode.split(".")[0] in ("ret", "exit", "trap")
    )
    possible = reached({0}, follow)
    ends = []
    for u, ways in follow.items():
        if len(ways) < 2 or u not in possible:
            continue
        ending = []
        for v in ways:
            behind = set() if is_end(v) else reached({v}, follow, is_end)
            alone = all(p in behind or at == v and p == u for at in behind for p in coming[at])
            if u not in behind and alone:
                ending.append((len(behind), u, v))
        if len(ending) < len(ways):
            ends += ending
    out = {u: set(ways) for u, ways in follow.items()}
    for _, u, v in sorted(ends):
        out[u].discard(v)
        if END not in reached({u}, out):
            out[u].add(v)
    return out


def meeting(code: Code, early_ends: bool = True) -> list[int]:
    """For each step, the nearest step on every path to the end. early_ends: ignore paths that only lead there."""
    follow = graph_of(code)
    parts = {at: len(ways) for at, ways in follow.items()}
    if early_ends:
        follow = without_ends(code, follow)
    count = len(code.steps)
    order = list(range(count)) + [END]
    coming = reverse(follow)
    bit = {at: 1 << i for i, at in enumerate(order)}
    everything = (1 << len(order)) - 1
    sets = dict.fromkeys(range(count), everything)
    sets[END] = bit[END]
    todo, queued = list(range(count)), set(range(count))
    while todo:
        at = todo.pop()
        queued.discard(at)
        new = everything
        for b in follow[at]:
            new &= sets[b]
        new |= bit[at]
        if new != sets[at]:
            sets[at] = new
            for p in coming[at]:
                if p not in queued:
                    queued.add(p)
                    todo.append(p)
    out = []
    for at in range(count):
        best, most = END, -1
        strict = sets[at] & ~bit[at] if parts[at] > 1 else 0
        while strict:  # the nearest one is post-dominated by all others
            low = strict & -strict
            node = order[low.bit_length() - 1]
            strict ^= low
            size = sets[node].bit_count()
            if size > most:
                best, most = node, size
        out.append(best)
    return out
