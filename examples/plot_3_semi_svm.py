"""
Choosing with SemiSVM
=====================

No single method is safe with a handful of labels. :class:`~semisvm.SemiSVM` averages separators of three methods in
five spaces and blends the average with a supervised SVM; how much weight the average gets depends on what held-out
labels and the agreement of the separators say. Its report tells what was tried.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

from semisvm import SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians

X, y = make_two_gaussians(400, random_state=0)
model = SemiSVM(random_state=0).fit(X, hide_labels(y, 30, random_state=0))
print(model.report_)

# %%
# On other data less speaks for the unlabeled samples, and the weight of the average is smaller. The last set has no
# clusters: its boundary runs through samples of even density, and whatever the unlabeled samples say of it is
# misleading. Thirty labels do not always show that. How often it happens on real sets is measured in
# :doc:`/howto/safety`.

digits, numbers = load_digits(return_X_y=True)
pair = np.isin(numbers, (3, 8))
table, diagnosis = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
no_clusters = rng.uniform(-1, 1, (300, 5))
problems = {
    "two Gaussians": (X, y),
    "digits 3 and 8": (digits[pair], numbers[pair]),
    "breast cancer": (scale(table)[:300], diagnosis[:300]),
    "uniform samples,\nno clusters": (no_clusters, (no_clusters.sum(axis=1) > 0).astype(int)),
}
rows = []
for samples, labels in problems.values():
    partly = hide_labels(labels, 30, random_state=0)
    hidden = partly == -1
    fitted = SemiSVM(random_state=0).fit(samples, partly)
    both = fitted.supervised_.predict(samples), fitted.predict(samples)
    rows.append([*(100 * np.mean(p[hidden] != labels[hidden]) for p in both), fitted.average_weight_])

# %%
supervised, semi, weights = np.transpose(rows)
figure, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
places = np.arange(len(problems))
ax.barh(places - 0.19, supervised, 0.36, label="supervised_", color="0.7")
ax.barh(places + 0.19, semi, 0.36, label="SemiSVM", color="#2a6f97")
for place, weight, longest in zip(places, weights, np.maximum(supervised, semi)):
    ax.annotate(f" weight of the average {weight:.2f}", (longest, place), va="center", fontsize=9, color="0.3")
ax.set_yticks(places, labels=problems)
ax.set(xlabel="error on the unlabeled samples with 30 labels, %", xlim=(0, 1.6 * max(supervised.max(), semi.max())))
ax.invert_yaxis()
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
