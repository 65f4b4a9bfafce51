"""Accuracy of the most confident predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._validation import check_choice
from .axes import COLORS, add_legend, axes_of, by_name, remove_frame
from .fitted import check_finite, check_fitted, class_codes, decision_scores, score_confidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

CONFIDENCES = ("score", "probability")
ROUNDING = 1e-9  # by which a mean of ones may be above one


class ConfidenceCurveDisplay:
    """Accuracy against the share of samples that are kept, the most confident ones first.

    It answers how many samples can be labeled at a given accuracy if the others are left to a person; the curve is
    also called an accuracy-rejection or risk-coverage curve. Make it with `from_estimators` or `from_predictions`;
    `plot` draws the numbers again.

    Parameters
    ----------
    curves : mapping of str to array-like of shape (n_points, 2)
        Share of samples kept and accuracy of these, both between 0 and 1, by name; may be empty.
    estimated : mapping of str to array-like of shape (n_points, 2), default=None
        The same with accuracies estimated by probabilities, which become dashed lines.

    Attributes
    ----------
    curves, estimated : dict
        As passed, as arrays.
    ax_, figure_ : matplotlib Axes, Figure
        Where the curves were drawn.
    lines_, estimated_lines_ : dict
        The curves by name.

    References
    ----------
    R. El-Yaniv and Y. Wiener, "On the foundations of noise-free selective classification", Journal of Machine Learning
    Research 11, 2010. https://jmlr.org/papers/v11/el-yaniv10a.html

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import SVM, CCCPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.plots import ConfidenceCurveDisplay
    >>> X, y = make_two_gaussians(200, random_state=0)
    >>> shown = hide_labels(y, 20, random_state=0)
    >>> X_test, y_test = make_two_gaussians(200, random_state=1)
    >>> fitted = [SVM().fit(X, shown), CCCPTSVM().fit(X, shown)]
    >>> display = ConfidenceCurveDisplay.from_estimators(fitted, X_test, y_test)
    >>> accuracy_of_all = display.curves["SVM"][-1, 1]
    >>> bool(abs(accuracy_of_all - fitted[0].score(X_test, y_test)) < 1e-12)
    True
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Any]
    estimated_lines_: dict[str, Any]

    def __init__(self, curves: Mapping[str, Any], estimated: Mapping[str, Any] | None = None):
        self.curves, self.estimated = _check_curves(curves), _check_curves(estimated or {})
        by_name([*self.curves, *self.estimated], "curves")

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: Any = None,
        *,
        confidence: str = "score",
        estimated: bool = False,
        ax: Axes | None = None,
    ) -> ConfidenceCurveDisplay:
        """Draw the accuracy of fitted estimators on samples with known labels, or their estimates of it.

        Parameters
        ----------
        estimators : estimator, list or mapping of str to estimator
            Fitted classifiers.
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The samples; use others than those of ``fit``.
        y : array-like of shape (n_samples,), default=None
            True labels; samples that are marked as unlabeled are skipped. None if there are none: the accuracies are
            then the estimated ones.
        confidence : {"score", "probability"}, default="score"
            What sorts the samples: abs(f), with several classes the difference of the two largest scores; or the
            probability of the predicted class.
        estimated : bool, default=False
            Whether to draw also the estimated accuracies: the means of the probability of the predicted class.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        ConfidenceCurveDisplay
        """
        check_choice("confidence", confidence, CONFIDENCES)
        needs_probability = confidence == "probability" or estimated or y is None
        methods = (["decision_function"] if confidence == "score" else []) + ["predict_proba"] * needs_probability
        curves, estimates = {}, {}
        for name, model in by_name(estimators, "estimators").items():
            check_fitted(model, cls.__name__, *methods)
            check_finite(X)
            known = np.arange(_num_samples(X))
            codes = known if y is None else class_codes(model, len(known), y)
            known = known[codes >= 0]
            samples = _safe_indexing(X, known)
            probability = model.predict_proba(samples).max(axis=1) if needs_probability else None
            sorting = probability if confidence == "probability" else score_confidence(decision_scores(model, samples))
            if y is not None:
                curves[name] = confidence_curve(sorting, model.predict(samples) == model.classes_[codes[known]])
            if y is None or estimated:
                estimates[name] = confidence_curve(sorting, probability)
        return cls(curves, estimates).plot(ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, confidence: Any, *, name: str = "classifier", ax: Axes | None = None
    ) -> ConfidenceCurveDisplay:
        """Draw the accuracy of predictions, as of cross-validation.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        confidence : array-like of shape (n_samples,)
            Confidences, the larger the surer.
        name : str, default="classifier"
            The name of the curve.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        ConfidenceCurveDisplay
        """
        y_true, y_pred, confidence = np.asarray(y_true), np.asarray(y_pred), np.asarray(confidence, dtype=float)
        if not y_true.shape == y_pred.shape == confidence.shape or y_true.ndim != 1:
            raise ValueError(
                f"y_true, y_pred and confidence have the shapes {y_true.shape}, {y_pred.shape} and {confidence.shape}; "
                "pass one number per sample in each."
            )
        return cls({name: confidence_curve(confidence, y_true == y_pred)}).plot(ax)

    def plot(self, ax: Axes | None = None) -> ConfidenceCurveDisplay:
        """Draw the curves in percent.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        ConfidenceCurveDisplay
            This object.
        """
        self.ax_, is_new = axes_of(self, ax), ax is None
        self.figure_ = self.ax_.figure
        names = list(dict.fromkeys([*self.curves, *self.estimated]))
        colors = {name: COLORS[number % len(COLORS)] for number, name in enumerate(names)}
        self.lines_ = {
            name: self.ax_.plot(*(100.0 * curve.T), color=colors[name], label=name)[0]
            for name, curve in self.curves.items()
        }
        self.estimated_lines_ = {
            name: self.ax_.plot(*(100.0 * curve.T), "--", color=colors[name], label=f"{name}, estimated")[0]
            for name, curve in self.estimated.items()
        }
        words = "accuracy in percent" if self.curves else "estimated accuracy in percent"
        self.ax_.set(xlabel="most confident samples that are kept, in percent", ylabel=words, xlim=(0.0, 100.0))
        self.ax_.set_ylim(top=min(self.ax_.get_ylim()[1], 100.5))
        remove_frame(self.ax_)
        add_legend(self.ax_, outside=is_new)
        return self


def confidence_curve(confidence: Any, correct: Any) -> np.ndarray:
    """Shares of samples kept and means of ``correct`` over them, shape (n_points, 2).

    Samples of equal confidence are kept or left together, so that the curve does not depend on their order.
    """
    confidence, correct = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if not len(confidence):
        raise ValueError("there are no samples; pass at least one.")
    if not np.isfinite(confidence).all():
        raise ValueError("confidences hold NaN or infinity; pass a finite number for each sample.")
    order = np.argsort(-confidence, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(confidence[order])), len(order) - 1)
    return np.column_stack([(ends + 1) / len(order), np.cumsum(correct[order])[ends] / (ends + 1)])


def _check_curves(curves: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Curves as arrays of shares and accuracies."""
    found = {str(name): np.asarray(curve, dtype=float) for name, curve in curves.items()}
    for name, curve in found.items():
        if curve.ndim != 2 or curve.shape[1] != 2 or not np.all((curve >= -ROUNDING) & (curve <= 1 + ROUNDING)):
            raise ValueError(
                f"the curve of {name} is not an array of the shape (number of points, 2) of shares and accuracies "
                "between 0 and 1; pass both as shares, not in percent."
            )
    return found
