"""Where the elements of matrices are: in the rows of 16 bytes that lanes address, and in the registers of a warp.

    stmatrix.x2 [row of matrix 0 in lanes 0-7, of matrix 1 in lanes 8-15], {r0, r1}       matrix i is in register ri

Row r of a matrix of 8 x 8 elements of 16 bits: its elements 2 c and 2 c + 1 are in lane 4 r + c. Transposed, memory
has its columns as rows. Source: PTX ISA, "ldmatrix" and "stmatrix", the figures of their fragments.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.hardware.machine_model import MATRIX_ROW_BYTES, MATRIX_ROWS

WORD = 4  # bytes of a register
ELEMENT = 2  # bytes


def rows_of(registers: np.ndarray, transposed: bool) -> np.ndarray:
    """The rows that lanes address, from the registers of all lanes: (n, LANES, 4 x matrices) to (n, LANES, 16).

    Lanes that address no row get zeros.
    """
    matrices = registers.shape[2] // WORD
    lane, byte = np.arange(MATRIX_ROWS * matrices)[:, None], np.arange(MATRIX_ROW_BYTES)[None, :]
    matrix, row = np.divmod(lane, MATRIX_ROWS)
    of_lane, of_byte = _held(row, byte, transposed)
    out = np.zeros((len(registers), LANES, MATRIX_ROW_BYTES), registers.dtype)
    out[:, : len(lane)] = registers[:, of_lane, matrix * WORD + of_byte]
    return out


def registers_of(rows: np.ndarray, matrices: int, transposed: bool) -> np.ndarray:
    """The registers of all lanes, from the rows that lanes address: (n, LANES, 16) to (n, LANES, 4 x matrices)."""
    row, byte = np.arange(MATRIX_ROWS)[:, None], np.arange(MATRIX_ROW_BYTES)[None, :]
    of_lane, of_byte = _held(row, byte, transposed)
    out = np.zeros((len(rows), LANES, matrices * WORD), rows.dtype)
    for matrix in range(matrices):
        out[:, of_lane, matrix * WORD + of_byte] = rows[:, MATRIX_ROWS * matrix + row, byte]
    return out


def _held(row: np.ndarray, byte: np.ndarray, transposed: bool) -> tuple[np.ndarray, np.ndarray]:
    """(the lane that holds a byte of a row in memory, the byte of its register)."""
    column, part = np.divmod(byte, ELEMENT)
    if transposed:
        row, column = np.broadcast_arrays(column, row)
    lanes, elements = LANES // MATRIX_ROWS, WORD // ELEMENT  # of a row, of a register
    return row * lanes + column // elements, column % elements * ELEMENT + part
