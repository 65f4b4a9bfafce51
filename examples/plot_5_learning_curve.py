"""
How many labels are enough
==========================

:class:`~semisvm.plots.LearningCurveDisplay` hides labels of a set that has all of them, fits estimators to what is
left and draws their errors. Dashed are the supervised counterparts: the distance between the two is what the
unlabeled samples are worth, and it shrinks as labels are added.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from semisvm import CCCPTSVM, SwitchingLSSVM
from semisvm.plots import LearningCurveDisplay

X, y = load_digits(return_X_y=True)
X, y = X[y < 4][:400], y[y < 4][:400]

display = LearningCurveDisplay.from_estimators(
    {"CCCPTSVM": CCCPTSVM(), "SwitchingLSSVM": SwitchingLSSVM()},
    X,
    y,
    n_labels=[8, 16, 32, 64],
    n_draws=4,
    supervised=True,
    random_state=0,
)
plt.show()

# %%
# The numbers behind the picture are in ``errors`` and ``supervised_errors``, a row per number of labels and a column
# per draw.

for n_labels, errors in zip(display.n_labels, display.errors["CCCPTSVM"]):
    print(f"{n_labels:3d} labels: {errors.mean():.1f} % (draws from {errors.min():.1f} to {errors.max():.1f})")
