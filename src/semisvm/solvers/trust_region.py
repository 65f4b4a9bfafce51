"""Newton steps in a trust region, which take curvature of any sign, for smooth machines of the primal.

A walk asks for its passes over the table by ``yield``, so that the walks of several classes can be led side by side
(``lead``): the passes that they ask for at the same time are made as one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from ..passes import Table
from .plane import Plane
from .preconditioner import Preconditioner, heavy_rows


class Pass(NamedTuple):
    """A pass over the table: the name of a method of ``Table``, and its arguments for one column."""

    kind: str
    arguments: tuple


Walk = Generator[Pass, Any, Any]


def lead(table: Table, walks: list[Walk]) -> list:
    """Lead walks to their ends; returns what each of them returns. Ctrl-C is handed to every walk."""
    ends: dict[int, Any] = {}
    asked: dict[int, Pass] = {}

    def go_on(number: int, move: Callable, *given) -> None:
        asked.pop(number, None)
        try:
            asked[number] = move(*given)
        except StopIteration as end:
            ends[number] = end.value

    for number, walk in enumerate(walks):
        go_on(number, next, walk)
    while asked:
        try:
            for kind in {step.kind for step in asked.values()}:
                numbers = [number for number, step in asked.items() if step.kind == kind]
                for number, answer in zip(numbers, _made(table, kind, [asked[n].arguments for n in numbers])):
                    go_on(number, walks[number].send, answer)
        except KeyboardInterrupt:
            for number in list(asked):
                go_on(number, walks[number].throw, KeyboardInterrupt)
    return [ends[number] for number in range(len(walks))]


def _made(table: Table, kind: str, arguments: list[tuple]) -> list:
    """The answers to passes of one kind, made as one."""
    if len(arguments) == 1:
        return [getattr(table, kind)(*arguments[0])]
    columns = [np.stack(parts, axis=-1) for parts in zip(*arguments)]
    answers = getattr(table, kind)(*columns)
    if isinstance(answers, tuple):
        return list(zip(*(np.moveaxis(answer, -1, 0) for answer in answers)))
    return list(answers.T)


def product(plane: Plane, v: np.ndarray) -> Walk:
    """A v, by a walk."""
    w, b = plane.along(v)
    return (yield Pass("product", (w,))) + b


def adjoint(plane: Plane, pull: np.ndarray) -> Walk:
    """A'pull, by a walk."""
    return plane.lifted((yield Pass("adjoint", (pull,))), pull.sum())


def preconditioner(plane: Plane, weights: np.ndarray, labeled: np.ndarray) -> Walk:
    """M for these weights, by a walk."""
    rows = heavy_rows(plane, weights, labeled)
    rest = weights.copy()
    rest[rows] = 0.0
    return Preconditioner(plane, weights, rows, (yield Pass("squares", (rest,))))


def curved(plane: Plane, v: np.ndarray, weights: np.ndarray) -> Walk:
    """(N + A' diag(weights) A) v, by a walk."""
    w, b = plane.along(v)
    return plane.norm_product(v) + plane.lifted(*(yield Pass("curved", (w, b, weights))))


class Spot(NamedTuple):
    """theta, and f there."""

    theta: np.ndarray
    f: np.ndarray


class Level(NamedTuple):
    """A smooth sum of losses: functions of the scores of all rows, costs included; and which rows are labeled."""

    value: Callable[[np.ndarray], float]
    slope: Callable[[np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray], np.ndarray]
    labeled: np.ndarray


def joined(known: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """One array over all rows from those of labeled rows and of the others."""
    out = np.empty(len(known))
    out[known], out[~known] = own, others
    return out


def descend(plane: Plane, level: Level, start: Spot, tol: float, max_steps: int, stop: Callable[[], bool]) -> Walk:
    """Minimise 1/2 ||w||^2 + level(f) by Newton steps in a trust region (Steihaug's conjugate gradients).

    Parameters
    ----------
    plane, level : Plane, Level
        f and its losses.
    start : Spot
        Where to start.
    tol : float
        Stop at a gradient of tol (||gradient of the losses at 0|| + ||theta||).
    max_steps : int
        Largest number of Newton steps.
    stop : callable
        Asked before every step whether time is over.

    Returns
    -------
    spot, violation, done
        Where it ended, its gradient in the same measure, and whether that reached tol.
    """
    theta, f = start
    first = level.slope(np.broadcast_to(plane.split(np.zeros_like(theta))[1], f.shape))
    pull = float(np.linalg.norm((yield from adjoint(plane, first))))
    rounding = float(plane.rounding(first))

    def off() -> float:
        """The gradient, measured by what the losses pull with at w = 0 and by w."""
        measure = max(pull + float(np.linalg.norm(theta)), rounding, np.finfo(float).tiny)
        return float(np.linalg.norm(gradient)) / measure

    value = plane.half_norm2(theta) + level.value(f)
    gradient = plane.norm_slope(theta) + (yield from adjoint(plane, level.slope(f)))
    M = yield from preconditioner(plane, np.abs(level.curvature(f)), level.labeled)

    def size() -> float:
        """What counts as far in the measure of M."""
        return float(np.sqrt(gradient @ M.solve(gradient))) + M.norm(theta)

    radius = size()
    for _ in range(max_steps):
        violation = off()
        if violation <= tol or stop():
            break
        share = max(min(0.1, np.sqrt(violation)), 0.1 * tol / violation)
        step, predicted = yield from _steihaug(plane, level.curvature(f), gradient, M, radius, share)
        trial, g = theta + step, f + (yield from product(plane, step))
        reached = plane.half_norm2(trial) + level.value(g)
        ratio = (value - reached) / predicted if predicted > 0 else 0.0
        length = M.norm(step)
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = 2.0 * radius
        blind = predicted <= 1e-13 * abs(value)  # a fall that rounding hides: the gradient decides
        if blind or (ratio > 1e-4 and reached < value):
            after = plane.norm_slope(trial) + (yield from adjoint(plane, level.slope(g)))
            if blind and not np.linalg.norm(after) < np.linalg.norm(gradient):
                break
            theta, f, value, gradient = trial, g, reached, after
        if radius <= 1e-14 * size():
            break
    return Spot(theta, f), off(), off() <= tol


def _steihaug(
    plane: Plane, weights: np.ndarray, gradient: np.ndarray, M: Preconditioner, radius: float, share: float
) -> Walk:
    """Conjugate gradients on the quadratic model, to a small residual, the edge of the region or negative curvature.

    Lengths are those of M: ``long`` of the step, ``cross`` of step and direction, ``wide`` of the direction. Returns
    the step and the fall of the model.
    """
    step, residual, fall = np.zeros_like(gradient), -gradient, 0.0
    direction = M.solve(residual)
    square = float(residual @ direction)
    goal = share**2 * square
    long, cross, wide = 0.0, 0.0, square
    for _ in range(max(20, 2 * plane.size)):
        bent = yield from curved(plane, direction, weights)
        bend = float(direction @ bent)
        t = square / bend if bend > 0 else np.inf
        if bend <= 0 or long + 2.0 * t * cross + t * t * wide >= radius**2:
            edge = (-cross + np.sqrt(max(cross**2 + wide * (radius**2 - long), 0.0))) / wide
            return step + edge * direction, fall + edge * square - 0.5 * edge**2 * bend
        step, residual = step + t * direction, residual - t * bent
        fall += t * square - 0.5 * t**2 * bend
        long += 2.0 * t * cross + t * t * wide
        solved = M.solve(residual)
        new = float(residual @ solved)
        if new <= goal:
            break
        ratio = new / square
        direction, square = solved + ratio * direction, new
        cross, wide = ratio * (cross + t * wide), new + ratio**2 * wide
    return step, fall
