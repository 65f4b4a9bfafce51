"""What an ensemble tried, what the unlabeled samples brought, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .fitting import FittedSeparator
from .hedging import Evidence, average_weight
from .supervised import SupervisedChoice

FEW_LABELS = 15  # below, held-out samples tell next to nothing


@dataclass(frozen=True)
class SeparatorReport:
    """A separator: its name, held-out error, instability and weight in the average."""

    name: str
    error: float
    instability: float
    weight: float


@dataclass(frozen=True)
class Report:
    """The outcome of a fit in numbers and in one sentence; ``print`` shows a table.

    Attributes
    ----------
    n_labels, n_unlabeled : int
        Samples with and without a label.
    supervised : str
        The supervised model.
    supervised_error, average_error : float or None
        Held-out errors of the supervised model and of the average; None where nothing could be held out.
    agreement : float or None
        Share of unlabeled samples on which the separators agree with their average; None if there are none.
    change : float or None
        Share of unlabeled samples on which the average and the supervised model differ.
    evidence : Evidence or None
        What decides the weight of the average; see :mod:`semisvm.ensemble.hedging`.
    average_weight : float
        The weight of the average in the model, between 0 and 1; the rest is the weight of the supervised model.
    conclusion : str
        One sentence.
    separators : list of SeparatorReport
        The separators, by decreasing weight.
    """

    n_labels: int
    n_unlabeled: int
    supervised: str
    supervised_error: float | None
    average_error: float | None
    agreement: float | None
    change: float | None
    evidence: Evidence | None
    average_weight: float
    conclusion: str
    separators: list[SeparatorReport] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.n_labels} labels, {self.n_unlabeled} samples without one",
            f"held-out error: {_percent(self.supervised_error)} supervised ({self.supervised}), "
            f"{_percent(self.average_error)} average of {len(self.separators)} separators",
        ]
        if self.agreement is not None and self.change is not None:
            lines.append(
                f"the separators agree with their average on {_percent(self.agreement)} of the unlabeled samples; it "
                f"differs from the supervised model on {_percent(self.change)}"
            )
        lines.append(self.conclusion)
        if self.separators:
            lines.append(f"{'separator':36s} error  unstable  weight")
            lines += [
                f"{one.name:36s} {_percent(one.error):>5s}  {_percent(one.instability):>8s}  {one.weight:6.3f}"
                for one in self.separators
            ]
        return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def report_supervised(choice: SupervisedChoice, codes: np.ndarray, n_unlabeled: int, reason: str) -> Report:
    """The report of a fit without separators, for a reason."""
    conclusion = f"The model is the supervised one: {reason}."
    error, n_labels = choice.error, int((codes >= 0).sum())
    return Report(n_labels, n_unlabeled, _describe(choice), error, None, None, None, None, 0.0, conclusion)


def report_average(
    choice: SupervisedChoice,
    codes: np.ndarray,
    n_unlabeled: int,
    fitted: list[FittedSeparator],
    weights: np.ndarray,
    evidence: Evidence,
    safety: str,
) -> Report:
    """The report of a fit with separators, of these weights.

    Parameters
    ----------
    choice : SupervisedChoice
        The supervised model.
    codes : int array of shape (n,)
        Positions of the classes, -1 for unlabeled samples.
    n_unlabeled : int
        Number of unlabeled samples, of which the separators may have seen a part.
    fitted, weights : list of FittedSeparator, and array
        The separators and their weights.
    evidence : Evidence
        What speaks for the average.
    safety : {"safe", "bold", "none"}
        The rule for the weight of the average.
    """
    n_labels = int((codes >= 0).sum())
    supervised_error = choice.error
    is_checked = n_labels >= FEW_LABELS and supervised_error is not None
    checked = f"held-out accuracy {100 * evidence.gain:+.1f} points" if is_checked else "too few labels to check it"
    weight = average_weight(evidence, safety)
    rows = [
        SeparatorReport(one.separator.name, one.error, one.instability, float(v)) for one, v in zip(fitted, weights)
    ]
    return Report(
        n_labels,
        n_unlabeled,
        _describe(choice),
        supervised_error,
        None if supervised_error is None else evidence.error,
        evidence.agreement,
        evidence.change,
        evidence,
        weight,
        _conclude(weight, len(fitted), checked),
        sorted(rows, key=lambda row: -row.weight),
    )


def _conclude(weight: float, n_separators: int, checked: str) -> str:
    """The outcome in one sentence."""
    if weight == 1.0:
        return f"The unlabeled samples are used: the model is an average of {n_separators} separators ({checked})."
    if weight == 0.0:
        return f"The unlabeled samples were not seen to help ({checked}): the model is the supervised one."
    said = "are used in part" if weight >= 0.5 else "were hardly seen to help"
    return (
        f"The unlabeled samples {said} ({checked}): {100 * weight:.0f}% of the model is the average of {n_separators} "
        f"separators and {100 * (1 - weight):.0f}% the supervised one."
    )


def _describe(choice: SupervisedChoice) -> str:
    kernel, C = choice.candidate
    gamma = f", gamma={kernel.gamma:.3g}" if kernel.name == "rbf" else ""
    return f"SVM({C:.3g}, kernel={kernel.name!r}{gamma}), {'tuned' if choice.is_tuned else 'fixed'}"
