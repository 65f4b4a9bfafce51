"""
Two moons: what unlabeled samples are good for
==============================================

Two labels say little about two interleaved half circles. The unlabeled samples show where the classes are dense, and
a boundary that passes between them follows the shape. Here the labels with the lowest objective are searched with a
proof (:class:`~semisvm.BranchBoundTSVM`), so what is drawn is what the objective prefers and not where a heuristic
stopped.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisvm import BranchBoundTSVM
from semisvm.datasets import hide_labels, make_two_moons

X, y = make_two_moons(120, noise=0.08, random_state=1)
y_partial = hide_labels(y, 2, random_state=1)
hidden = y_partial == -1

model = BranchBoundTSVM(C=10, C_unlabeled=10, gamma=2.0, balance=0.5).fit(X, y_partial)
error = np.mean(model.transduction_[hidden] != y[hidden])
print(f"objective {model.objective_:.2f}, gap to the best possible {model.certificate_.gap:.3f}")
print(f"error on the {hidden.sum()} unlabeled samples: {100 * error:.1f} %")

# %%
# The supervised counterpart of every semi-supervised estimator is at hand as ``supervised_``: the same loss and
# kernel, fitted to the two labels alone.

grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.2, 1.7, 200)), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, shown, title in zip(axes, (model.supervised_, model), ("2 labels alone", "with 118 unlabeled samples")):
    f = shown.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*grid.transpose(2, 0, 1), f, levels=[-np.inf, 0, np.inf], colors=["#dbe9f4", "#fbe3d6"])
    ax.contour(
        *grid.transpose(2, 0, 1), f, levels=[-1, 0, 1], colors="0.35", linestyles=["--", "-", "--"], linewidths=1
    )
    ax.scatter(*X[hidden].T, s=14, color="0.45")
    for label, color in zip(model.classes_, ("#2a6f97", "#c8553d")):
        ax.scatter(*X[y_partial == label].T, s=130, color=color, edgecolor="black", zorder=3)
    wrong = np.mean(shown.predict(X[hidden]) != y[hidden])
    ax.set(title=f"{title}: {100 * wrong:.0f} % wrong", xticks=[], yticks=[])
plt.show()
