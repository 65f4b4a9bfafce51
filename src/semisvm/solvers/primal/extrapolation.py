"""Extrapolation of the alternation of annealing at one temperature.

Soft labels and solves in turn decrease the free energy

    1/2 ||w||^2 + losses at the soft labels - T sum of cost times entropy

and converge linearly: of two steps of theta, d before and d' now, the second is about rho d with rho = d'd / ||d||^2,
and what is left to go is rho / (1 - rho) d'. If rho is large enough to matter the point is moved that far, which needs
no product with the data as f is linear in theta, and the move is kept if the free energy at the best soft labels there
is less.

References
----------
A. C. Aitken, "On Bernoulli's numerical solution of algebraic equations", Proceedings of the Royal Society of Edinburgh
46, 1926. https://doi.org/10.1017/S0370164600022070
"""

from __future__ import annotations

import numpy as np

from .newton import sum_of_losses
from .newton_search import NewtonSearch
from .operator import Iterate
from .soft_labels import free_losses, loss_differences, soft_labels

TINY = np.finfo(float).tiny
MIN_RATIO, MAX_FACTOR = 0.3, 8.0  # rho from which on a move is tried, and the longest one in steps


class Extrapolation:
    """The last points of an alternation.

    Parameters
    ----------
    search : NewtonSearch
        Whose point is moved.
    share : float or None
        The mean of the soft labels; None for no condition.
    """

    def __init__(self, search: NewtonSearch, share: float | None):
        self._search, self._share = search, share
        self._before: Iterate | None = None
        self._step: np.ndarray | None = None
        self._nu: float | None = None  # multiplier of the soft labels, much the same from one point to the next

    def restart(self) -> None:
        """Forget the points: the temperature changes."""
        self._before = self._step = None

    def next_labels(self, temperature: float) -> np.ndarray:
        """The best soft labels at the point of the search, which is moved before where that gains."""
        now, before, last_step = self._search.iterate, self._before, self._step
        p, energy = self._free_energy(now, temperature)
        self._before = now
        if before is None:
            return p
        self._step = step = now.theta - before.theta
        ratio = 0.0 if last_step is None else float(step @ last_step) / max(float(last_step @ last_step), TINY)
        if ratio <= MIN_RATIO:
            return p
        factor = min(ratio / (1.0 - ratio), MAX_FACTOR) if ratio < 1.0 else MAX_FACTOR
        moved = Iterate(now.theta + factor * step, now.f + factor * (now.f - before.f), now.violation, now.is_solution)
        new_p, new_energy = self._free_energy(moved, temperature)
        if not new_energy < energy:
            return p
        self._search.iterate = self._before = moved
        self._step = None
        return new_p

    def _free_energy(self, iterate: Iterate, temperature: float) -> tuple[np.ndarray, float]:
        """The best soft labels at a point, and the free energy there."""
        search, f = self._search, iterate.f[self._search.searched]
        labels = soft_labels(loss_differences(f), temperature, self._share, search.weights, self._nu)
        self._nu = labels.nu
        value = search.operator.half_norm2(iterate.theta) + sum_of_losses(iterate.f, *search.labeled_costs)
        return labels.p, value + free_losses(f, labels.p, search.searched_cost, temperature)
