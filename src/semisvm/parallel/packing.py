"""Vectors over samples as they travel: without the digits that many samples share.

Curvatures of squared hinges take a few values, and what changes from one Newton step to the next is zero at most
samples. Values that are common are sent as one byte per sample, or none if there is one such value, and all others with
their positions. What arrives has the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SMALL = 2**12  # values, or less, are sent as they are
N_LOOKED_AT = 1024  # values among which the common ones are searched
COMMON = 0.02  # of them
MAX_SIZE = 0.5  # of the values themselves: what is larger is not worth its time


@dataclass(frozen=True)
class Packed:
    """An array of float64, packed.

    Attributes
    ----------
    shape : tuple of int
        Of the array.
    common : array of int64
        The bits of the common values, ascending.
    codes : array of uint8 or None
        For every value the position of a common one; None if there is one alone.
    positions, values : int array, array
        Of the values that are none of them.
    """

    shape: tuple[int, ...]
    common: np.ndarray
    codes: np.ndarray | None
    positions: np.ndarray
    values: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (self.common, self.codes, self.positions, self.values)
        return sum(one.nbytes for one in arrays if one is not None)

    def unpack(self) -> np.ndarray:
        """The array."""
        if self.codes is None:
            bits = np.full(int(np.prod(self.shape)), self.common[0])
        else:
            bits = self.common[self.codes]
        out = bits.view(np.float64)
        out[self.positions] = self.values
        return out.reshape(self.shape)


def pack(values: Any) -> Any:
    """An array packed, if it is one of float64 with few values; anything else as it is."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.size <= SMALL:
        return values
    flat = np.ascontiguousarray(values).ravel()
    bits = flat.view(np.int64)
    looked_at = bits[np.linspace(0, bits.size - 1, N_LOOKED_AT).astype(int)]
    found, counts = np.unique(looked_at, return_counts=True)
    common = found[counts > COMMON * N_LOOKED_AT]
    if not len(common) or counts[counts > COMMON * N_LOOKED_AT].sum() < MAX_SIZE * N_LOOKED_AT:
        return values
    codes = np.zeros(bits.size, dtype=np.uint8)
    for bound in common[1:]:
        codes += bits >= bound
    positions = np.flatnonzero((common[codes] if len(common) > 1 else common) != bits)
    packed = Packed(values.shape, common, codes if len(common) > 1 else None, positions, flat[positions])
    return packed if packed.nbytes <= MAX_SIZE * values.nbytes else values


def unpack(value: Any) -> Any:
    """What was packed."""
    return value.unpack() if isinstance(value, Packed) else value
