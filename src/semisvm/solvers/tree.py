"""The compiled walk of branch and bound: down the cheaper label, back to the dearer one where it is not cut off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit
from ..linalg import sweeps

SHORT = 1e-9  # of the margin: less is not short of it


class Tree(NamedTuple):
    """The path from the root to the present node, and the best leaf.

    Attributes
    ----------
    free, weight : arrays of shape (u,)
        The rows whose labels are sought, and their weights in the balance.
    band : array of two floats
        Between which sums the weight of positive rows has to be.
    row, label, later, bound : arrays of shape (u,)
        Per level: the row that got a label, the label, whether the other one is still to be tried, and its bound.
    depth : array of one int
        Levels above the present node.
    now : array of one float
        A bound on the present node.
    best, best_y : arrays of one float and of shape (u,)
        The incumbent.
    cut : array of one float
        1 minus the relative gap at which a node is not worth a look.
    """

    free: np.ndarray
    weight: np.ndarray
    band: np.ndarray
    row: np.ndarray
    label: np.ndarray
    later: np.ndarray
    bound: np.ndarray
    depth: np.ndarray
    now: np.ndarray
    best: np.ndarray
    best_y: np.ndarray
    cut: np.ndarray


@jit()
def _sums(table, tree):
    """Weight of the positive rows, and of those without a label."""
    positive, open_ = 0.0, 0.0
    for t in range(tree.free.size):
        y = table.y[tree.free[t]]
        if y > 0.0:
            positive += tree.weight[t]
        elif y == 0.0:
            open_ += tree.weight[t]
    return positive, open_


@jit()
def _costs(table, j):
    """Twice what row j would cost with label +1 and with label -1, while the support set stays."""
    f, p = table.g[j], table.S[j, j]
    return max(1.0 - f, 0.0) ** 2 / p, max(1.0 + f, 0.0) ** 2 / p


@jit()
def _choose(table, tree, forced):
    """The next row, its likely label, and whether every row left has its margin; only ``forced`` labels if not 0."""
    pick, most, likely, content = -1, -1.0, 1.0, True
    for j in tree.free:
        if table.y[j] != 0.0:
            continue
        up, down = _costs(table, j)
        content = content and min(up, down) == 0.0
        score = min(up, down) if forced == 0.0 else (up if forced > 0.0 else down)
        if score > most:
            pick, most = j, score
            likely = forced if forced != 0.0 else (1.0 if up <= down else -1.0)
    return pick, likely, content


@jit()
def _complete(table, tree, cost, value):
    """Labels by rank of f on the rows left, if that machine is better than the incumbent as it stands."""
    open_ = np.array([t for t in range(tree.free.size) if table.y[tree.free[t]] == 0.0])
    positive, _ = _sums(table, tree)
    f = np.array([table.g[tree.free[t]] for t in open_])
    order = np.argsort(-f)
    total, best, most = value, np.inf, -1
    for t in range(f.size):
        total += cost[open_[t]] * max(1.0 + f[t], 0.0) ** 2
    for k in range(f.size + 1):
        if tree.band[0] <= positive <= tree.band[1] and total < best:
            best, most = total, k
        if k < f.size:
            t = order[k]
            total += cost[open_[t]] * (max(1.0 - f[t], 0.0) ** 2 - max(1.0 + f[t], 0.0) ** 2)
            positive += tree.weight[open_[t]]
    if best < tree.best[0]:
        tree.best[0] = best
        for t in range(tree.free.size):
            tree.best_y[t] = table.y[tree.free[t]]
        for k in range(f.size):
            tree.best_y[open_[order[k]]] = 1.0 if k < most else -1.0


@jit()
def dive(table, tree, cost, tilt):
    """Label the surest row, the one whose other label would cost most, train, and so on to a leaf; then take all back.

    ``tilt`` are factors on how sure the rows are. The incumbent becomes the best completion on the way.
    """
    for _ in range(tree.free.size):
        _complete(table, tree, cost, sweeps.settle(table, SHORT, np.inf))
        positive, open_ = _sums(table, tree)
        pick, most = -1, -1.0
        for t in range(tree.free.size):
            j = tree.free[t]
            up, down = _costs(table, j)
            after = positive + (tree.weight[t] if up <= down else 0.0)
            rest = positive + open_ - (tree.weight[t] if up > down else 0.0)
            fits = after <= tree.band[1] and rest >= tree.band[0]
            if table.y[j] == 0.0 and fits and tilt[t] * max(up, down) > most:
                pick, most = j, tilt[t] * max(up, down)
        if pick < 0:
            break
        up, down = _costs(table, pick)
        table.y[pick] = 1.0 if up <= down else -1.0
    for j in tree.free:
        sweeps.anchored(table)
        sweeps.forget(table, j)


@jit()
def _back(table, tree):
    """To the next node whose other label is still to be tried; False if there is none."""
    sweeps.anchored(table)
    while tree.depth[0] > 0:
        level = tree.depth[0] - 1
        row = tree.row[level]
        sweeps.forget(table, row)
        if tree.later[level] and tree.bound[level] < tree.best[0] * tree.cut[0]:
            tree.later[level] = False
            tree.label[level] = -tree.label[level]
            table.y[row] = tree.label[level]
            tree.now[0] = tree.bound[level]
            return True
        tree.depth[0] = level
        sweeps.anchored(table)
    return False


@jit()
def explore(table, tree, cost, nodes):
    """Look at so many nodes; True once there is nothing left to look at."""
    for _ in range(nodes):
        value = max(sweeps.settle(table, SHORT, tree.best[0] * tree.cut[0]), tree.now[0])
        positive, open_ = _sums(table, tree)
        low, high = tree.band[0], tree.band[1]
        if value >= tree.best[0] * tree.cut[0] or positive > high or positive + open_ < low:
            if not _back(table, tree):
                return True
            continue
        _complete(table, tree, cost, value)
        least = np.inf
        for t in range(tree.free.size):
            if table.y[tree.free[t]] == 0.0:
                least = min(least, tree.weight[t])
        forced = -1.0 if positive + least > high else (1.0 if positive + open_ - least < low else 0.0)
        row, likely, content = _choose(table, tree, forced)
        if row < 0 or (content and tree.best[0] <= value):
            if not _back(table, tree):
                return True
            continue
        level = tree.depth[0]
        tree.later[level] = False
        if forced == 0.0:
            table.y[row] = -likely
            other = max(sweeps.settle(table, SHORT, tree.best[0] * tree.cut[0]), value)
            sweeps.anchored(table)
            sweeps.forget(table, row)
            tree.later[level], tree.bound[level] = other < tree.best[0] * tree.cut[0], other
        table.y[row] = likely
        tree.row[level], tree.label[level], tree.now[0] = row, likely, value
        tree.depth[0] = level + 1
    return False
