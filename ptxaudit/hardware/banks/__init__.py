"""The cost of requests: wavefronts of shared memory, exact or as a range, for thousands of requests at once.

Theory. A *request* is one warp executing one shared-memory instruction once: one address per lane and a mask of
active lanes. Shared memory is `banks` columns of words; a *wavefront* is one pass of the data stage, in which every
bank serves one word. The hardware cuts the request into *groups* of consecutive lanes, each of which would fit into
one wavefront if no two of its words shared a bank, and serves the groups one after the other:

    wavefronts = sum over groups of  max over banks of  what is counted in that bank

Counted are the distinct words (loads, stores, matrices: lanes on equal words are served together), or the lanes
(atomics, cp.async.ca: equal words serialise). Wide accesses have fewer lanes per group: 16 for 64 bits, 8 for 128
bits, so that a group's bytes are one row of the banks. Wide loads also *merge*: if lane i and i^1 agree for all
active lanes, or i and i^2 do, a group is twice as long. This is decided for the whole warp before it is cut, from the
addresses and the mask.

    ideal  = groups with an active lane, after the merge decision (times 2 for CAS; x for a matrix access)
    excess = wavefronts - ideal, never negative
    ways   = the most wavefronts that any one group needs, before CAS's doubling

A uniform shift of all addresses by whole words rotates the banks and changes nothing: this is the rule's *invariant
shift*. The numbers of lanes, banks and bytes are in the machine's record (`ptxaudit.hardware.machines`); this package
only counts (`machine_model.Counted` has the kinds).

    classify(opcode) -> Access              decodes an opcode
    score(machine, access, addresses, active, sources) -> Scores     requests as rows of arrays
    bounds(machine, access, lanes_low, lanes_high)                   without addresses
    groups(machine, access, addresses, active), reasons(…)           one request in detail
"""

from typing import Any

from ptxaudit.hardware.banks.opcodes import classify
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.machines import get as get_machine
from ptxaudit.ir.access import Access

__all__ = [
    "Access",
    "Group",
    "Machine",
    "Scores",
    "bounds",
    "classify",
    "get_machine",
    "groups",
    "passes",
    "reasons",
    "score",
]

_LATER = {
    "Scores": "count",
    "score": "count",
    "passes": "count",
    "bounds": "limits",
    "Group": "anatomy",
    "groups": "anatomy",
    "reasons": "anatomy",
}


def __getattr__(name: str) -> Any:
    """Imports the counting, which needs numpy, only on first use, so that decoding opcodes does not wait for it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
