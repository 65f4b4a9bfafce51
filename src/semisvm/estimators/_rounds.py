"""Rows that get their labels in rounds.

A round: the machine of the rows labeled so far; some rows without a label are looked at; those it is sure about get the
class that it gives them, and are labeled rows from then on. No row gets a label twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ._choices import Confident, Helped, Room, Verdict, verdict


@dataclass
class Rounds:
    """What the rounds came to.

    Attributes
    ----------
    codes : int array of shape (n,)
        Class of each row, -1 where none was given.
    step : int array of shape (n,)
        Round in which a row got its label, 0 for given ones, -1 where none was given.
    confidence : array of shape (n,)
        How sure the machine was then; NaN for given labels and rows without.
    status : str
        "all_labeled", "no_change", "max_iter", "max_time", "stopped" or "interrupted".
    trace : list of dict
        A row per round.
    """

    codes: np.ndarray
    step: np.ndarray
    confidence: np.ndarray
    status: str = "all_labeled"
    trace: list[dict[str, Any]] = field(default_factory=list)


class Limit(NamedTuple):
    """What ends the rounds early."""

    rounds: float = np.inf
    deadline: float = np.inf
    callback: Callable[[dict], bool | None] | None = None


def label_in_rounds(
    learner, choice: Confident | Helped, codes: np.ndarray, part: np.ndarray, room: Room | None, limit: Limit
) -> Rounds:
    """Label rows round by round.

    Parameters
    ----------
    learner : learner
        ``add(rows, codes)``, ``scores(rows)``, ``lead``, ``interrupted`` and ``facts()``, as in ``_learners``.
    choice : Confident or Helped
        Which rows are looked at, and which are sure enough.
    codes : int array of shape (n,)
        Given classes, -1 where there is none.
    part : bool array of shape (n,)
        Rows that take part.
    room : Room or None
        How many rows of each class there are; None for no matter.
    limit : Limit
        What ends the rounds early.

    Returns
    -------
    Rounds
    """
    done = Rounds(codes.copy(), np.where(codes >= 0, 0, -1), np.full(len(codes), np.nan))
    open_rows = np.flatnonzero(part & (codes < 0))
    rows = np.flatnonzero(part & (codes >= 0))
    learned = -1  # rounds whose rows a machine was trained with
    try:
        while True:
            choice.learn(rows, done.codes[rows])
            learner.add(rows, done.codes[rows])
            learned += 1
            done.status = _ending(done, learner, open_rows, limit)
            if done.status:
                return done
            here, said = _choose(learner, choice, room, open_rows)
            if not len(here):
                done.status = "no_change"
                return done
            rows = open_rows[here]
            open_rows = np.delete(open_rows, here)
            row = {"step": learned + 1, "labeled": len(rows), "left": len(open_rows)}
            row |= {"threshold": float(choice.threshold), "confidence": float(said.confidence.mean())} | learner.facts()
            done.codes[rows], done.step[rows], done.confidence[rows] = said.codes, learned + 1, said.confidence
            done.trace.append(row)
    except KeyboardInterrupt:
        if learned < 0:
            raise  # there is no machine yet
        torn = done.step > learned
        done.codes[torn], done.step[torn], done.confidence[torn] = -1, -1, np.nan
        del done.trace[learned:]
        done.status = "interrupted"
        return done


def _ending(done: Rounds, learner, open_rows: np.ndarray, limit: Limit) -> str:
    """Why no further round begins; empty if one does."""
    if learner.interrupted:
        return "interrupted"
    if done.trace and limit.callback is not None and limit.callback(done.trace[-1]) and len(open_rows):
        return "stopped"
    if not len(open_rows):
        return "all_labeled"
    if len(done.trace) >= limit.rounds:
        return "max_iter"
    return "max_time" if time.perf_counter() > limit.deadline else ""


def _choose(learner, choice, room: Room | None, rows: np.ndarray) -> tuple[np.ndarray, Verdict]:
    """Positions in ``rows`` of those that get a label now, and what is said of them."""
    if room is not None and np.count_nonzero(room.left) == 1:  # no choice is left
        c = int(np.flatnonzero(room.left)[0])
        scores = learner.scores(rows)
        own = (2 * c - 1) * scores[:, 0] if scores.shape[1] == 1 else scores[:, c]
        return np.arange(len(rows)), Verdict(np.full(len(rows), c), own)
    if room is None:
        looked = choice.candidates(rows)
        said = verdict(learner.scores(rows[looked]), learner.lead)
    else:
        said = verdict(room.moved(learner.scores(rows)), learner.lead)
        looked = choice.candidates(rows)
        said = said.take(looked)
    sure = choice.sure(said.confidence)
    if room is not None and len(sure):
        sure = sure[room.fitting(said.take(sure))]
        room.take(said.codes[sure])
    return looked[sure], said.take(sure)
