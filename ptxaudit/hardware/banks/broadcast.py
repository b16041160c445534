"""Counts steps with one broadcast word: the minimum and maximum over the choices of words.

A step serves all lanes of one *broadcast word*, and one lane of every other bank that still has some. Which word and
which lanes is not specified. Let bank b of a group have n_b lanes on m_b words.

Minimum. A plan of T steps gives bank b some number k_b of broadcasts, preferably of its words with the most lanes,
and serves one of its lanes in each of the other steps. A broadcast saves the number of lanes of its word, less one.
So take the bank's words in descending order of lanes, and call *left* of a word the steps that the bank takes if the
words before it are broadcast: n_b minus their savings. T steps suffice for the bank, whose m_b must be at most T,
with as many broadcasts as it has words with more than T left; and they suffice for the group if these are at most T
over all banks.

Maximum. While other banks have lanes left, the broadcasts can be spent on them: bank b then loses one lane per step,
preferably of words with several lanes. Once it is alone, each step serves one whole word. If the others can last f
steps, it lasts min(n_b, m_b + f). Taking the banks by ascending n_b gives the maximum: f = 0; f = min(n_b, m_b + f)
for each. (tests/hardware/test_broadcast_steps.py tries all choices.)
"""

from __future__ import annotations

import numpy as np

from ptxaudit.hardware.machine_model import Count

_NOTHING = np.iinfo(np.int64).max


def steps(
    count: Count, addresses: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, groups with an active lane, ways where low == high), (n,) each; addresses (n, lanes)."""
    n, lanes = addresses.shape
    groups = -(-lanes // count.lanes)
    short = groups * count.lanes - lanes  # the last group may have fewer lanes
    addresses = np.pad(addresses, ((0, 0), (0, short))).reshape(n * groups, count.lanes)
    active = np.pad(active, ((0, 0), (0, short))).reshape(n * groups, count.lanes)
    lanes, bank = _words(count, addresses, active)
    total, words = _per_bank(count, lanes, bank)
    fewest = _fewest(lanes, bank, total, words).reshape(n, groups)
    most = _most(total, words).reshape(n, groups)
    return fewest.sum(1), most.sum(1), active.any(1).reshape(n, groups).sum(1), most.max(1)


def _words(count: Count, addresses: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(its lanes, its bank) for each distinct word, at its first lane in the sorted group; 0 elsewhere."""
    word = np.where(active, addresses // count.unit, _NOTHING)
    word.sort(1)
    begins = np.ones(word.shape, bool)
    begins[:, 1:] = word[:, 1:] != word[:, :-1]
    first = np.flatnonzero(begins)
    lanes = np.zeros(word.size, np.int64)
    lanes[first] = np.diff(first, append=word.size)
    lanes = np.where(word == _NOTHING, 0, lanes.reshape(word.shape))
    return lanes, np.where(lanes > 0, word % count.slots, 0)


def _per_bank(count: Count, lanes: np.ndarray, bank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(lanes, words) of each bank: (groups, banks)."""
    n, size = lanes.shape
    bins = bank + np.arange(n)[:, None] * count.slots
    both = np.where(lanes > 0, lanes * (size + 1) + 1, 0)  # both counted at once
    both = np.bincount(bins.ravel(), both.ravel(), n * count.slots).astype(np.int64).reshape(n, count.slots)
    return both // (size + 1), both % (size + 1)


def _most(total: np.ndarray, words: np.ndarray) -> np.ndarray:
    size = int(total.max(initial=0)) + 1
    key = total * size + words
    key.sort(1)
    steps = np.zeros(len(total), np.int64)
    for bank in key.T:
        steps = np.minimum(bank // size, bank % size + steps)
    return steps


def _fewest(lanes: np.ndarray, bank: np.ndarray, total: np.ndarray, words: np.ndarray) -> np.ndarray:
    size = lanes.shape[1]
    key = bank * (size + 1) + size - lanes  # by bank, words with most lanes first
    key.sort(1)
    bank, lanes = key // (size + 1), size - key % (size + 1)
    saving = np.maximum(lanes - 1, 0)
    saved = saving.cumsum(1) - saving  # by all earlier words, of any bank
    begins = np.ones(bank.shape, bool)
    begins[:, 1:] = bank[:, 1:] != bank[:, :-1]
    saved -= np.maximum.accumulate(np.where(begins, saved, 0), axis=1)
    left = np.where(lanes > 0, np.take_along_axis(total, bank, 1) - saved, 0)
    left.sort(1)
    too_few = (left[:, ::-1] > np.arange(size)).sum(1)  # T where the word after the first T still has more than T left
    result: np.ndarray = np.maximum(words.max(1), too_few)
    return result
