"""Claims about global and local memory in kernels written by hand, against the counters of a GPU (spaces_sm90)."""

from __future__ import annotations

from collections import Counter

import against_counts
import pytest

from bench.adversary import memory_claims, telling, truth
from bench.adversary.claims import Verdict
from ptxaudit.base.status import Status
from ptxaudit.report.model import Condition, MemorySite, Span

FOLDER = "spaces_sm90"


@pytest.fixture(scope="module")
def measured() -> list[truth.Truth]:
    return against_counts.load(FOLDER)


@pytest.mark.parametrize("how", against_counts.tellings(FOLDER))
def test_no_claim_about_global_and_local_memory_is_wrong(measured: list[truth.Truth], how: str) -> None:
    against_counts.assert_right(FOLDER, how, measured)


OF_UNIT = {
    "LDG": ("global_op_ld", 0),
    "STG": ("global_op_st", 0),
    "LDL": ("local_op_ld", 2),
    "STL": ("local_op_st", 2),
}
OTHERS = ("LD", "ST", "ATOM", "LDGSTS")  # the unit counts them among loads and stores, by memory


def test_sectors_of_instructions_sum_to_the_counters_of_the_unit(measured: list[truth.Truth]) -> None:
    """So that the metric by instruction, which the claims are compared with, is right for these accesses, too."""
    seen: Counter[str] = Counter()
    for one in measured:
        heads = [(counts.text.split()[counts.text.startswith("@")].partition(".")[0], counts) for counts in one.ran]
        if any(head in OTHERS for head, _ in heads):
            continue
        for head, (counter, column) in OF_UNIT.items():
            total = sum(counts.memory[column] for name, counts in heads if name == head)
            assert total == one.entry["sectors"][counter], (str(one), head)
            seen[head] += total > 0
    assert all(seen[head] > 2 for head in OF_UNIT), seen


def test_launches_cover_every_kind_of_access(measured: list[truth.Truth]) -> None:
    ran = Counter(
        counts.text.split()[counts.text.startswith("@")].partition(".")[0] for one in measured for counts in one.ran
    )
    assert {"LDG", "STG", "LDL", "STL", "LD", "ST", "ATOM", "ATOMG", "REDG", "LDGSTS"} <= set(ran)


# --- the comparison ---------------------------------------------------------------------------------


def site(status: Status = Status.EXACT, text: str = "LDG.E R0, [R2.64]", **figures) -> MemorySite:
    exact = {
        "requests": 4,
        "active_requests": 4,
        "sectors": 16,
        "sectors_ideal": 16,
        "tag_requests": 4,
        "bytes_used": 512,
    }
    given = exact if status is Status.EXACT else {}
    opcode = text.split()[text.startswith("@")]
    return MemorySite("k:load", 0x20, None, opcode, text, "load", 4, None, status, space="global", **given | figures)


def counted(warps: int = 4, threads: int = 128, sectors: int = 16, ideal: int = 16, local: int = 0, tags: int = 4):
    return {0x20: truth.Counts("k", 0x20, warps, threads, 0, 0, "LDG.E", (sectors, ideal, local, tags))}


RANGE = {"conditions": (Condition("a", 1, 1), Condition("b", 4, 4)), "per_request": Span(1, 4)}


@pytest.mark.parametrize(
    "one, ran, verdict, kind",
    [
        (site(), counted(), Verdict.EQUAL, ""),
        (site(), counted(sectors=15), Verdict.WRONG, "compare"),
        (site(), counted(sectors=17), Verdict.DISPUTED, ""),  # four tag requests are for 16 sectors at most
        (site(), counted(tags=5), Verdict.WRONG, "compare"),
        (site(), counted(ideal=15), Verdict.WRONG, "ideal"),
        (site(), counted(threads=127), Verdict.WRONG, "lanes"),
        (site(active_requests=3), counted(), Verdict.WRONG, "active"),
        (site(text="LD.E R0, [R2.64]", bytes_used=256), counted(), Verdict.EQUAL, ""),  # the others go elsewhere
        (site(Status.UNREACHED), {}, Verdict.EQUAL, ""),
        (site(Status.UNREACHED), counted(), Verdict.WRONG, "compare"),
        (site(Status.INVARIANT, per_request=Span(4, 4)), counted(), Verdict.WITHIN, ""),
        (site(Status.INVARIANT, per_request=Span(5, 5)), counted(), Verdict.WRONG, "each"),
        (site(Status.CONDITIONAL, **RANGE), counted(sectors=17, tags=5), Verdict.WRONG, "conditions"),
        (site(Status.CONDITIONAL, **RANGE), counted(), Verdict.OPEN, ""),
        (site(Status.UNKNOWN), counted(), Verdict.OPEN, ""),
    ],
    ids=str,
)
def test_memory_claims_are_compared_with_sectors(one: MemorySite, ran, verdict: Verdict, kind: str) -> None:
    (found,) = memory_claims.findings([one], ran)
    assert (found.verdict, found.kind) == (verdict, kind), found


def test_sectors_that_no_site_has_are_wrong() -> None:
    (found,) = memory_claims.findings([], counted(local=3, sectors=0, tags=0))
    assert (found.verdict, found.kind) == (Verdict.WRONG, "unlisted")


def test_measured_pointers_are_multiples_of_256(measured: list[truth.Truth]) -> None:
    assert telling.FACTS["aligned"].aligned == {"*": 256}
    assert all(address % 256 == 0 for one in measured for address in one.entry["addresses"].values())
