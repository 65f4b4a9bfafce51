"""
Pictures of a model
===================

``semisvm.plots`` draws what a fitted model does. A semi-supervised SVM should have its boundary where few samples are;
:class:`~semisvm.plots.DecisionBoundaryDisplay` shows whether it does.
"""

import matplotlib.pyplot as plt

from semisvm import CCCPTSVM
from semisvm.datasets import hide_labels, make_two_moons
from semisvm.plots import ConfidenceCurveDisplay, DecisionBoundaryDisplay, MarginHistogramDisplay

X, y = make_two_moons(400, noise=0.15, random_state=0)
y_partial = hide_labels(y, 20, random_state=0)
model = CCCPTSVM().fit(X, y_partial)
DecisionBoundaryDisplay.from_estimator(model, X, y_partial)
plt.show()

# %%
# A boundary can be drawn in the plane of two features, margins for any number of them. Where many unlabeled samples are
# inside the margin, the boundary passes through them, and there is reason to doubt it.

MarginHistogramDisplay.from_estimator(model, X, y_partial)
plt.show()

# %%
# How accurate are the samples that a model is most confident about? Here on new samples, whose labels are known; the
# dashed line is what the model itself expects.

X_new, y_new = make_two_moons(400, noise=0.15, random_state=1)
ConfidenceCurveDisplay.from_estimators(model, X_new, y_new, estimated=True)
plt.show()
