r"""How much of the model is the average of the separators, and how much the supervised model.

The scores of the model are :math:`a S + (1 - a) T`, S those of the average and T those of the supervised model,
squashed alike. The weight a depends on whether the average or the supervised model is right on the samples, a share m
of the unlabeled ones, on which they differ. The log odds for the average at such a sample i are

.. math:: z_i = 1.08 + 0.44 \log(s_i + 0.05) - 0.16 \log(t_i + 0.05) + 0.24\, d \sqrt l
   - 0.34 \log\Bigl(\frac{1 - g}{m + 0.01} + 0.05\Bigr) - 2.3\, e + 4.9\, q

with the margins s_i of the average and t_i of the supervised model; the held-out error e of the average and d, its
held-out accuracy minus that of the supervised model; g, the weighted share of the unlabeled samples on which the
separators agree with their average; and q, how far the class shares by the supervised model are outside of what the
labels allow, times 10/l. The coefficients are those of a logistic regression over 500 draws of labels from 29 data
sets, whose errors were estimated by leaving out whole sets.

a rises linearly with the mean of z over these samples, from a small weight where it is low to one where it is high. A
small part of the average hardly ever harms, and more often than not it helps: the samples that it decides are those
about which the supervised model is least sure. The fewer labels, the less can be checked, and the later a rises; where
a class is rare among few labels nothing semi-supervised is safe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..balance import AskedShares

SAFETIES = ("safe", "bold", "none")
RARE_LABELS = 20  # up to so many labels
RARE = 0.2  # of a half of an equal share: a class below is rare


class Ramp(NamedTuple):
    """A weight that rises linearly with z: ``lowest`` up to ``start``, one from ``full`` on."""

    lowest: float
    start: float
    full: float

    def weight(self, z: float) -> float:
        """The weight at z."""
        return self.lowest + (1.0 - self.lowest) * float(np.clip((z - self.start) / (self.full - self.start), 0.0, 1.0))


UNCHECKED = Ramp(0.05, 1.1, 1.5)  # where a class is rare among few labels, whatever ``safety``
SAFE = {15.0: UNCHECKED, 30.0: Ramp(0.1, 0.4, 1.1), np.inf: Ramp(0.15, 0.25, 1.0)}  # by the labels they hold below
BOLD = Ramp(0.5, 0.0, 0.5)


class Evidence(NamedTuple):
    """What speaks for and against the average.

    Attributes
    ----------
    n_labels : float
        Number of labels, l.
    gain : float
        d, the held-out accuracy of the average minus that of the supervised model.
    error : float
        e, the held-out error of the average.
    agreement : float
        g, the weighted share of unlabeled samples on which the separators agree with their average.
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


def average_weight(evidence: Evidence, safety: str) -> float:
    """The weight a of the average, by the rule that ``safety`` names."""
    if safety == "none":
        return 1.0
    ramp = BOLD
    if evidence.is_rare:
        ramp = UNCHECKED
    elif safety == "safe":
        ramp = next(ramp for n_labels, ramp in SAFE.items() if evidence.n_labels < n_labels)
    return ramp.weight(log_odds(evidence))


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
