"""Compares the lane engine with the interpreter twin on many random kernels, or on the samples.

    python bench/fuzz.py --seeds 1000 [--start 0] [-j 2]       everything specified: exact answers are the twin's
    python bench/fuzz.py --seeds 1000 --not-told               parameters, or the launch with its block or without, not
                                                            specified: ranges contain the twin's
    python bench/fuzz.py --seeds 300 --machine-code            ptxas's code for them: the engine finds the twin's
                                                            requests in it
    python bench/fuzz.py --samples                             the kernels of samples/ with their launches, few blocks
    python bench/fuzz.py --seeds 1 --start 42 --print          the text of one kernel
    --seconds N stops after N seconds

Prints every disagreement, and how often the engine's answer was not exact, by reason. Exits with status 1 after a
disagreement.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from twin import compare, generate, of_samples  # noqa: E402
from twin.run import TooLong  # noqa: E402

STEPS = 60_000  # warp instructions of one kernel that the twin executes
TOGETHER = 10  # kernels per call of the disassembler
SLOW = 10.0  # limit of the engine's time for one kernel


def kernel(seed: int, **options) -> generate.Kernel:
    """The kernel of a seed. Two of three are small, so that more fit into a second."""
    return generate.kernel(seed, small=seed % 3 > 0, **options)


def one(seed: int, told: bool) -> compare.Verdict | None:
    """The verdict on one kernel; None if it takes the twin too long."""
    k, verdict = kernel(seed), compare.Verdict()
    try:
        if told:
            compare.told(k, verdict, most_steps=STEPS)
        else:
            compare.not_told(seed, k, verdict, most_steps=STEPS)
    except TooLong:
        return None
    except Exception:  # a crash is a finding; the other kernels continue
        verdict.wrong.append(f"seed {seed} crashed: {traceback.format_exc(limit=-3)}")
    if verdict.seconds > SLOW:
        verdict.wrong.append(f"seed {seed}: the engine took {verdict.seconds:.1f} s")
    return verdict


def machine_code(start: int) -> compare.Verdict | None:
    """Compares ten kernels, assembled and disassembled together."""
    from twin import machine

    kernels = (kernel(seed, straight=seed % 4 == 0, loaded=False) for seed in range(start, start + TOGETHER))
    kept = [k for k in kernels if machine.settled(k)]
    try:
        return machine.compared(kept) if kept else None
    except Exception:
        return compare.Verdict(
            wrong=[f"seeds {start} to {start + TOGETHER - 1} crashed: {traceback.format_exc(limit=-3)}"]
        )


def sample(folder: Path) -> compare.Verdict:
    """Compares all kernels of one sample, with the first launch of each."""
    total, too_long = of_samples.sample(folder)
    for name in too_long:
        print(f"{folder.name}: {name} takes the twin too long", flush=True)
    total.wrong = [f"{folder.name}: {w}" for w in total.wrong]
    return total


def _options() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=200)
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--not-told", action="store_true")
    arguments.add_argument("--samples", action="store_true")
    arguments.add_argument("--machine-code", action="store_true")
    arguments.add_argument("--print", action="store_true")
    arguments.add_argument("-j", "--jobs", type=int, default=2)
    arguments.add_argument("--seconds", type=float, help="stop after so long")
    return arguments.parse_args()


def main() -> int:
    options = _options()
    seeds = range(options.start, options.start + options.seeds)
    if options.print:
        for seed in seeds:
            k = kernel(seed)
            print(f"// seed {seed} grid {k.grid} block {k.block} params {k.params}\n{k.text}")
        return 0
    begin = time.perf_counter()
    work = (
        (sample, of_samples.folders())
        if options.samples
        else (
            (machine_code, seeds[::TOGETHER])
            if options.machine_code
            else (partial(one, told=not options.not_told), seeds)
        )
    )
    kernels = sites = exact = wrong = too_long = 0
    others: Counter = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for verdict in pool.map(work[0], work[1]):
            if options.seconds and time.perf_counter() - begin > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
            if verdict is None:
                too_long += 1
                continue
            kernels, sites, exact, wrong = (
                kernels + 1,
                sites + verdict.sites,
                exact + verdict.exact,
                wrong + len(verdict.wrong),
            )
            others.update((status, str(reason).split(":")[0][:90]) for status, reason in verdict.others)
            for sentence in verdict.wrong:
                print(sentence, flush=True)
            for sentence in verdict.unchecked:
                print(f"not checked: {sentence}", flush=True)
    print(
        f"{kernels} {'samples' if options.samples else 'tens' if options.machine_code else 'kernels'} in"
        f" {time.perf_counter() - begin:.0f} s, {too_long} too long; {sites} sites, {exact}"
        f" {'exact or invariant' if options.not_told else 'exact'}; {wrong} disagreements"
    )
    for (status, reason), count in others.most_common(25):
        print(f"{count:6} {status}: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
