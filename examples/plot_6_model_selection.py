"""
Model selection with few labels
===============================

An ordinary splitter puts unlabeled samples into the test folds, where a score counts them as wrong.
:class:`~semisvm.model_selection.LabeledKFold` holds out labeled samples only and keeps every unlabeled one in
training. Below, a grid search by such folds, then :class:`~semisvm.model_selection.GradientSearchCV`, which follows
the gradient of a held-out criterion.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from semisvm import CCCPTSVM, KernelCache, SwitchingLSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.model_selection import GradientSearchCV, LabeledKFold

X, y = make_two_gaussians(250, random_state=0)
partly = hide_labels(y, 40, random_state=0)
hidden = partly == -1
grid = {"C": np.logspace(0, 2, 3), "gamma": [0.001, 0.003, 0.01, 0.03]}
search = GridSearchCV(CCCPTSVM(cache=KernelCache()), grid, cv=LabeledKFold(5, shuffle=True, random_state=0))
search.fit(X, partly)


def error(model):
    """Percent error on the unlabeled samples, which the searches do not know."""
    return 100 * np.mean(model.predict(X[hidden]) != y[hidden])


print("grid search:", {name: float(value) for name, value in search.best_params_.items()})
print(f"error {error(search):.1f} %, with the defaults {error(CCCPTSVM().fit(X, partly)):.1f} %")

# %%
# Many cells of a grid hold out equally few wrong labels; a smooth criterion tells them apart. The gradient search
# begins with a coarse grid of its own and descends from its best point; here it searches gamma alone. Forty labels
# choose parameters with a large error of their own, and what is chosen need not be better than the defaults: compare
# both before you trust either.

descent = GradientSearchCV(SwitchingLSSVM(), params=["gamma"], starts=1).fit(X, partly)
print("gradient search:", {name: round(float(value), 4) for name, value in descent.best_params_.items()})
print(f"error {error(descent):.1f} %, with the defaults {error(SwitchingLSSVM().fit(X, partly)):.1f} %")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
scores = 100 * (1 - search.cv_results_["mean_test_score"].reshape(3, 4))
image = left.imshow(scores, cmap="viridis_r")
for (i, j), value in np.ndenumerate(scores):
    left.text(j, i, f"{value:.0f}", ha="center", va="center", color="white" if value > scores.mean() else "black")
left.set_xticks(range(4), labels=grid["gamma"])
left.set_yticks(range(3), labels=[f"{C:g}" for C in grid["C"]])
left.set(xlabel="gamma", ylabel="C", title="CCCPTSVM: held-out error, %")
path = descent.path_
is_grid = path["start"] == -1
right.semilogx(path["param_gamma"][is_grid], path["criterion"][is_grid], "o", color="0.6", label="first grid")
right.semilogx(path["param_gamma"][~is_grid], path["criterion"][~is_grid], ".", label="descent")
right.plot(descent.best_params_["gamma"], descent.best_criterion_, "k*", markersize=14, label="best")
right.set(xlabel="gamma", ylabel="empirical error", title="SwitchingLSSVM: the gradient search")
right.legend(frameon=False, fontsize=8)
plt.show()
