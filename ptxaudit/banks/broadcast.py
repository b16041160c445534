"""Counts steps with one broadcast word: the fewest and the most that the choice of words allows.

A step serves all lanes of one *broadcast word*, and one lane of every other bank that still has
some. Which word, and which lanes, is not specified. Let bank b of a group have n_b lanes on m_b words.

Fewest. A plan of T steps gives bank b some number k_b of broadcasts, best on its words with most
lanes, and serves one lane in each of the other steps. With s the lanes saved by a broadcast of a
word (its lanes less one), bank b is done when the k_b largest s sum to at least n_b - T. So T
steps suffice exactly if the smallest such k_b sum to at most T over the banks.

Most. While other banks have lanes left, the broadcasts can be spent on them: bank b then loses
one lane a step, best from words with several. Once it is alone each step takes one whole word. If
the others can last f steps it lasts min(n_b, m_b + f). Taking the banks by ascending n_b gives the
most: f = 0; f = min(n_b, m_b + f) for each. (tests/test_broadcast_steps.py plays every game.)
"""

from __future__ import annotations

import numpy as np

from ptxaudit.machine_model import Count

_NOTHING = np.iinfo(np.int64).max


def steps(count: Count, addresses: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, groups with an active lane, ways where low == high), (n,) each; addresses (n, lanes)."""
    n, lanes = addresses.shape
    groups = -(-lanes // count.lanes)
    short = groups * count.lanes - lanes                     # the last group may have fewer lanes
    addresses = np.pad(addresses, ((0, 0), (0, short))).reshape(n * groups, count.lanes)
    active = np.pad(active, ((0, 0), (0, short))).reshape(n * groups, count.lanes)
    lanes_of_word, bank_of_word = _words(count, addresses, active)
    fewest = _fewest(lanes_of_word, bank_of_word, count).reshape(n, groups)
    most = _most(lanes_of_word, bank_of_word, count).reshape(n, groups)
    return fewest.sum(1), most.sum(1), active.any(1).reshape(n, groups).sum(1), most.max(1)


def _words(count: Count, addresses: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(lanes on it, its bank) of each distinct word, in its first lane's place of the sorted group; 0 elsewhere."""
    word = np.where(active, addresses // count.unit, _NOTHING)
    word.sort(1)
    begins = np.ones(word.shape, bool)
    begins[:, 1:] = word[:, 1:] != word[:, :-1]
    size = word.shape[1]
    ends = np.minimum.accumulate(np.where(begins, np.arange(size), size)[:, ::-1], axis=1)[:, ::-1]      # of the word itself or the next
    following = np.full(word.shape, size)
    following[:, :-1] = ends[:, 1:]
    first = begins & (word != _NOTHING)
    return np.where(first, following - np.arange(size), 0), np.where(first, word % count.slots, 0)


def _per_bank(values: np.ndarray, bank: np.ndarray, count: Count) -> np.ndarray:
    """(groups, banks): the values summed over the words of each bank."""
    n = len(values)
    bins = bank + np.arange(n)[:, None] * count.slots
    return np.bincount(bins.ravel(), values.ravel(), n * count.slots).astype(np.int64).reshape(n, count.slots)


def _most(lanes: np.ndarray, bank: np.ndarray, count: Count) -> np.ndarray:
    total, words = _per_bank(lanes, bank, count), _per_bank(lanes > 0, bank, count)
    size = lanes.shape[1] + 1
    key = total * size + words
    key.sort(1)
    total, words = key // size, key % size
    steps = np.zeros(len(total), np.int64)
    for n_b, m_b in zip(total.T, words.T, strict=True):
        steps = np.minimum(n_b, m_b + steps)
    return steps


def _fewest(lanes: np.ndarray, bank: np.ndarray, count: Count) -> np.ndarray:
    """Tries T, T + 1, … for all groups that are left."""
    # saved[g, i]: lanes saved by broadcasting the word and all words of its bank that save more
    size = lanes.shape[1]
    key = bank * (size + 1) + size - lanes                   # by bank, words with most lanes first
    key.sort(1)
    bank, lanes = key // (size + 1), size - key % (size + 1)
    saving = np.maximum(lanes - 1, 0)
    begins = np.ones(bank.shape, bool)
    begins[:, 1:] = bank[:, 1:] != bank[:, :-1]
    sums = saving.cumsum(1)
    saved = sums - np.maximum.accumulate(np.where(begins, sums - saving, 0), axis=1)
    total, savable = _per_bank(lanes, bank, count), _per_bank(saving, bank, count)
    needed = np.take_along_axis(total, bank, 1)
    steps = _per_bank(lanes > 0, bank, count).max(1)         # no bank is done before all its words are served
    left = np.flatnonzero(steps)
    while len(left):
        # broadcasts that bank b needs: its words whose sum so far is too small, and one more
        t = steps[left, None]
        small = (saved[left] < needed[left] - t) & (lanes[left] > 0)
        broadcasts = _per_bank(small, bank[left], count) + (total[left] > t)
        enough = (savable[left] >= total[left] - t).all(1) & (broadcasts.sum(1) <= steps[left])
        left = left[~enough]
        steps[left] += 1
    return steps
