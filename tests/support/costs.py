"""What accesses to 32-bit words of one array cost, by the rules for requests given by hand.

cost("ld.shared.b32", [0, 32, 5])   ->   2
"""

from __future__ import annotations

from collections.abc import Sequence

import ptxaudit

LANES = 32


def cost(opcode: str, words: Sequence[int]) -> int:
    """Wavefronts on an sm_90: thread i accesses word words[i], a warp each 32 threads; the last may have fewer."""
    return sum(_of_warp(opcode, words[first : first + LANES]) for first in range(0, len(words), LANES))


def _of_warp(opcode: str, words: Sequence[int]) -> int:
    addresses = [4 * int(word) for word in words] + [0] * (LANES - len(words))
    return ptxaudit.score_request(opcode, addresses, active=(1 << len(words)) - 1, arch="sm_90").wavefronts
