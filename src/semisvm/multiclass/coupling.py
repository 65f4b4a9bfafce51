"""Pairwise coupling: five ways to combine the pairwise probabilities of one-vs-one.

p_ij is the probability of class i for a sample that belongs to i or j. Class i gets

    P_i = 2/(k (k - 1)) sum over j of sigma(p_ij),     then divided by the sum over the classes,

with sigma one of

=====  =================================  ==============================================
pwc1   1 if x > 1/2 else 0                votes
pwc2   x                                  sums of probabilities; the P_i sum to one by themselves
pwc3   1/(1 + exp(-12 (x - 1/2)))         a soft vote
pwc4   1 if x > 1/2 else x                losers keep their probability
pwc5   x if x > 1/2 else 0                winners keep theirs
=====  =================================  ==============================================

At x = 1/2 both classes of a pair count x.

References
----------
.. [1] T. Hastie and R. Tibshirani, "Classification by pairwise coupling", The Annals of Statistics 26, 1998.
   https://doi.org/10.1214/aos/1028144844
.. [2] M. M. Adankon and M. Cheriet, "Model selection for the LS-SVM. Application to handwriting recognition", Pattern
   Recognition 42, 2009: the table of the functions PWC1 to PWC5. https://doi.org/10.1016/j.patcog.2008.10.023
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .schemes import pairs

COUPLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pwc1": lambda x: np.where(x > 0.5, 1.0, np.where(x < 0.5, 0.0, x)),
    "pwc2": lambda x: x,
    "pwc3": lambda x: 1.0 / (1.0 + np.exp(-12.0 * (x - 0.5))),
    "pwc4": lambda x: np.where(x > 0.5, 1.0, x),
    "pwc5": lambda x: np.where(x >= 0.5, x, 0.0),
}


def couple(p: np.ndarray, k: int, coupling: str) -> np.ndarray:
    """Probabilities of k classes.

    Parameters
    ----------
    p : array of shape (n, k (k - 1)/2)
        Probability of the second class of each pair, in the order of ``schemes.pairs``.
    k : int
        Number of classes.
    coupling : str
        A key of ``COUPLINGS``.

    Returns
    -------
    array of shape (n, k)
        Rows sum to one.
    """
    sigma = COUPLINGS[coupling]
    first, second = np.array(pairs(k)).T
    won, lost = sigma(p), sigma(1.0 - p)
    total = np.column_stack([won[:, second == c].sum(axis=1) + lost[:, first == c].sum(axis=1) for c in range(k)])
    return total / total.sum(axis=1, keepdims=True)
