"""The compiled depth-first search of branch and bound: the likely label first, the other one later unless it is pruned.

``explore`` and ``dive`` change a ``Tree`` and the ``Tableau`` of the present node in place. ``branch_bound`` states the
method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit
from . import active_set

# A sample whose margin is below 1 by less than this stays out of the support set: it is the size of the rounding errors
# in f, and entering on one would let samples enter and leave in turn without an increase of the value.
MARGIN_TOL = 1e-9


class Tree(NamedTuple):
    """The path from the root to the present node, and the incumbent.

    Attributes
    ----------
    samples, weights : arrays of shape (u,)
        Positions in the tableau of the samples whose labels are searched, and their weights in the balance.
    band : array of two floats
        Lowest and highest weight of positive samples.
    sample, label, is_pending, pending_bound : arrays of shape (u,)
        Per level: the sample that got a label, the label, whether the other label has still to be explored, and the
        lower bound of that child.
    depth : array of one int
        Number of levels above the present node.
    node_bound : array of one float
        A lower bound on the present node.
    incumbent, incumbent_y : arrays of one float and of shape (u,)
        The smallest objective found, and its labels.
    prune_factor : array of one float
        1 minus the relative gap: a node is pruned if its bound is at least this times the incumbent.
    """

    samples: np.ndarray
    weights: np.ndarray
    band: np.ndarray
    sample: np.ndarray
    label: np.ndarray
    is_pending: np.ndarray
    pending_bound: np.ndarray
    depth: np.ndarray
    node_bound: np.ndarray
    incumbent: np.ndarray
    incumbent_y: np.ndarray
    prune_factor: np.ndarray


def new_tree(samples: np.ndarray, weights: np.ndarray, band: tuple[float, float], tol: float) -> Tree:
    """A tree at its root, without an incumbent."""
    u = len(samples)
    return Tree(
        samples=samples,
        weights=weights,
        band=np.array(band),
        sample=np.zeros(u, int),
        label=np.zeros(u),
        is_pending=np.zeros(u, np.bool_),
        pending_bound=np.zeros(u),
        depth=np.zeros(1, int),
        node_bound=np.zeros(1),
        incumbent=np.array([np.inf]),
        incumbent_y=np.zeros(u),
        prune_factor=np.array([1.0 - tol]),
    )


@jit()
def _label_weights(tableau, tree):
    """Weight of the samples with a positive label, and of those without a label."""
    positive, unassigned = 0.0, 0.0
    for t in range(tree.samples.size):
        y = tableau.y[tree.samples[t]]
        if y > 0.0:
            positive += tree.weights[t]
        elif y == 0.0:
            unassigned += tree.weights[t]
    return positive, unassigned


@jit()
def _label_costs(tableau, j):
    """Twice the increase of the optimum by sample j with label +1 and with label -1, the support set unchanged."""
    f, p = tableau.g[j], tableau.S[j, j]
    return max(1.0 - f, 0.0) ** 2 / p, max(1.0 + f, 0.0) ** 2 / p


@jit()
def _branching_sample(tableau, tree, forced):
    """The sample to branch on, its likely label, and whether every sample without a label has a margin of 1.

    Where ``forced`` is not 0, the balance leaves only this label.
    """
    found, largest, likely, all_margins = -1, -1.0, 1.0, True
    for j in tree.samples:
        if tableau.y[j] != 0.0:
            continue
        positive_cost, negative_cost = _label_costs(tableau, j)
        all_margins = all_margins and min(positive_cost, negative_cost) == 0.0
        label = forced if forced != 0.0 else (1.0 if positive_cost <= negative_cost else -1.0)
        increase = positive_cost if label > 0.0 else negative_cost
        if increase > largest:
            found, largest, likely = j, increase, label
    return found, likely, all_margins


@jit()
def _round_node(tableau, tree, cost, value):
    """Label the other samples by the rank of f, and keep the labels if f with them is better than the incumbent."""
    unassigned = np.flatnonzero(tableau.y[tree.samples] == 0.0)
    f = tableau.g[tree.samples[unassigned]]
    order = np.argsort(-f)
    positive, _ = _label_weights(tableau, tree)
    total, best, n_positive = value, np.inf, -1
    for k in range(f.size):
        total += cost[unassigned[k]] * max(1.0 + f[k], 0.0) ** 2
    for k in range(f.size + 1):
        if tree.band[0] <= positive <= tree.band[1] and total < best:
            best, n_positive = total, k
        if k < f.size:
            t = order[k]
            total += cost[unassigned[t]] * (max(1.0 - f[t], 0.0) ** 2 - max(1.0 + f[t], 0.0) ** 2)
            positive += tree.weights[unassigned[t]]
    if best < tree.incumbent[0]:
        tree.incumbent[0] = best
        for i in range(tree.samples.size):
            tree.incumbent_y[i] = tableau.y[tree.samples[i]]
        for k in range(f.size):
            tree.incumbent_y[unassigned[order[k]]] = 1.0 if k < n_positive else -1.0


@jit()
def dive(tableau, tree, cost, factors):
    """Label the most certain sample, the one whose other label costs most, solve, and so on to a leaf; then undo all.

    ``factors`` multiply the certainty of the samples. The best rounding on the way becomes the incumbent if it is
    better.
    """
    for _ in range(tree.samples.size):
        _round_node(tableau, tree, cost, active_set.solve(tableau, MARGIN_TOL, np.inf))
        positive, unassigned = _label_weights(tableau, tree)
        found, largest, label = -1, -1.0, 1.0
        for t in range(tree.samples.size):
            j = tree.samples[t]
            positive_cost, negative_cost = _label_costs(tableau, j)
            is_positive = positive_cost <= negative_cost
            lowest = positive + (tree.weights[t] if is_positive else 0.0)
            highest = positive + unassigned - (0.0 if is_positive else tree.weights[t])
            feasible = lowest <= tree.band[1] and highest >= tree.band[0]
            certainty = factors[t] * max(positive_cost, negative_cost)
            if tableau.y[j] == 0.0 and feasible and certainty > largest:
                found, largest, label = j, certainty, 1.0 if is_positive else -1.0
        if found < 0:
            break
        tableau.y[found] = label
    for j in tree.samples:
        active_set.remove(tableau, j)


@jit()
def _backtrack(tableau, tree):
    """Go to the next child that is pending and not pruned; False if there is none."""
    while tree.depth[0] > 0:
        level = tree.depth[0] - 1
        j = tree.sample[level]
        active_set.remove(tableau, j)
        if tree.is_pending[level] and tree.pending_bound[level] < tree.incumbent[0] * tree.prune_factor[0]:
            tree.is_pending[level] = False
            tree.label[level] = -tree.label[level]
            tableau.y[j] = tree.label[level]
            tree.node_bound[0] = tree.pending_bound[level]
            return True
        tree.depth[0] = level
    return False


@jit()
def _descend(tableau, tree, j, likely, forced, value):
    """Go down to the likely label of sample j; the child of the other one, if allowed, is bounded and maybe pending."""
    level = tree.depth[0]
    tree.is_pending[level] = False
    if forced == 0.0:
        tableau.y[j] = -likely
        cutoff = tree.incumbent[0] * tree.prune_factor[0]
        bound = max(active_set.solve(tableau, MARGIN_TOL, cutoff), value)
        active_set.remove(tableau, j)
        tree.is_pending[level], tree.pending_bound[level] = bound < cutoff, bound
    tableau.y[j] = likely
    tree.sample[level], tree.label[level], tree.node_bound[0] = j, likely, value
    tree.depth[0] = level + 1


@jit()
def _branch(tableau, tree, cost):
    """Bound the present node and go down to a child; False where it is pruned or its best labels are known."""
    low, high = tree.band[0], tree.band[1]
    cutoff = tree.incumbent[0] * tree.prune_factor[0]
    value = max(active_set.solve(tableau, MARGIN_TOL, cutoff), tree.node_bound[0])
    positive, unassigned = _label_weights(tableau, tree)
    if value >= cutoff or positive > high or positive + unassigned < low:
        return False
    _round_node(tableau, tree, cost, value)
    smallest = np.inf
    for t in range(tree.samples.size):
        if tableau.y[tree.samples[t]] == 0.0:
            smallest = min(smallest, tree.weights[t])
    forced = -1.0 if positive + smallest > high else (1.0 if positive + unassigned - smallest < low else 0.0)
    j, likely, all_margins = _branching_sample(tableau, tree, forced)
    if j < 0 or (all_margins and tree.incumbent[0] <= value):
        return False
    _descend(tableau, tree, j, likely, forced, value)
    return True


@jit()
def explore(tableau, tree, cost, n_nodes):
    """Explore so many nodes; True once none is left."""
    for _ in range(n_nodes):
        has_next = _branch(tableau, tree, cost) or _backtrack(tableau, tree)
        if not has_next:
            return True
    return False
