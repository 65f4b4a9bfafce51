r"""When the average is used, and when the supervised model is.

What is decided is whether the average or the supervised model is right on the samples, a share m of the unlabeled ones,
on which they differ. The log odds for the average at such a sample i are

.. math:: z_i = 1.08 + 0.44 \log(s_i + 0.05) - 0.16 \log(t_i + 0.05) + 0.24\, d \sqrt l
   - 0.34 \log\Bigl(\frac{1 - a}{m + 0.01} + 0.05\Bigr) - 2.3\, e + 4.9\, q

with the margins s_i of the average and t_i of the supervised model, squashed alike; the held-out error e of the average
and d, its held-out accuracy minus that of the supervised model; a, the weighted share of the unlabeled samples on which
the separators agree with their average; and q, how far the class shares by the supervised model are outside of what the
labels allow, times 10/l. The coefficients are those of a logistic regression over 500 draws of labels from 29 data
sets, whose errors were estimated by leaving out whole sets. The average is used if the mean of z over these samples
exceeds a threshold, otherwise the supervised model is returned as it is.

Below 15 labels hardly anything can be checked, and the threshold is highest. Where a class is rare among few labels
nothing semi-supervised is safe, and it is high, too. With more than four classes separators agree less with each other
whether they are right or not, and it is lower.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..balance import AskedShares

SAFETIES = ("safe", "bold", "none")
THRESHOLDS = {  # by the number of labels that they hold below
    "safe": ((15.0, 1.2), (30.0, 0.8), (np.inf, 0.7)),
    "bold": ((np.inf, 0.4),),
}
RARE_THRESHOLD = 1.3
MANY_CLASSES, MANY_THRESHOLD = 4, 0.4
RARE_LABELS = 20  # up to so many labels
RARE = 0.2  # of a half of an equal share: a class below is rare


class Evidence(NamedTuple):
    """What speaks for and against the average.

    Attributes
    ----------
    n_labels : float
        Number of labels, l.
    n_classes : int
        Number of classes.
    gain : float
        d, the held-out accuracy of the average minus that of the supervised model.
    error : float
        e, the held-out error of the average.
    agreement : float
        a, the weighted share of unlabeled samples on which the separators agree with their average.
    change : float
        m, the share of unlabeled samples on which the average and the supervised model differ.
    share_excess : float
        How far a class share by the supervised model is outside of the interval of ``share_interval``.
    is_rare : bool
        Whether a class is rare among few labels.
    average_margins, supervised_margins : arrays
        s and t at the samples on which the two differ.
    """

    n_labels: float
    n_classes: int
    gain: float
    error: float
    agreement: float
    change: float
    share_excess: float
    is_rare: bool
    average_margins: np.ndarray
    supervised_margins: np.ndarray


def log_odds(evidence: Evidence) -> float:
    """The mean of z; 0 where the average and the supervised model are the same."""
    if not len(evidence.average_margins):
        return 0.0
    disputed = (1.0 - evidence.agreement) / (evidence.change + 0.01)
    common = 1.08 + 0.24 * evidence.gain * np.sqrt(evidence.n_labels) - 0.34 * np.log(disputed + 0.05)
    common += -2.3 * evidence.error + 4.9 * 10.0 / evidence.n_labels * evidence.share_excess
    single = 0.44 * np.log(evidence.average_margins + 0.05) - 0.16 * np.log(evidence.supervised_margins + 0.05)
    return float(common + single.mean())


def prefers_average(evidence: Evidence, safety: str) -> bool:
    """Whether the average is used, by the rule that ``safety`` names."""
    if safety == "none":
        return True
    threshold = next(value for limit, value in THRESHOLDS[safety] if evidence.n_labels < limit)
    if evidence.n_classes > MANY_CLASSES:
        threshold = min(threshold, MANY_THRESHOLD)
    if evidence.is_rare:
        threshold = max(threshold, RARE_THRESHOLD)
    return log_odds(evidence) > threshold


def has_rare_class(counts: np.ndarray) -> bool:
    """Whether a class is rare among few labels; ``counts`` are the labels of each class."""
    return bool(counts.sum() <= RARE_LABELS and counts.min() * len(counts) / (2.0 * counts.sum()) <= RARE)


def share_excess(found: np.ndarray, counts: np.ndarray, asked: AskedShares) -> float:
    """How far class shares are outside of one standard error around both the counted and the estimated ones.

    Parameters
    ----------
    found : array of shape (k,)
        Shares of the classes among the unlabeled samples.
    counts : array of shape (k,)
        Labels of each class.
    asked : AskedShares
        The estimated shares.
    """
    counted, estimated = counts / counts.sum(), asked.shares
    error_counted = np.sqrt(counted * (1.0 - counted) / counts.sum())
    error_estimated = np.sqrt(estimated * (1.0 - estimated) / asked.n_labels)
    low = np.minimum(counted - error_counted, estimated - error_estimated)
    high = np.maximum(counted + error_counted, estimated + error_estimated)
    return float(np.maximum(np.maximum(low - found, found - high), 0.0).max())
