"""
Class shares
============

A transductive SVM could put all unlabeled samples on one side, so it holds the share of the classes. What share that
is matters more than any other parameter. Here one sample in five is positive, and :class:`~semisvm.SwitchingTSVM`,
which keeps the share exactly, is given a range of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisvm import SwitchingTSVM
from semisvm.datasets import hide_labels

rng = np.random.default_rng(0)
y = (rng.random(400) < 0.2).astype(int)
X = rng.standard_normal((400, 10)) + 0.75 * (2 * y - 1)[:, None]
shares = np.linspace(0.05, 0.5, 10)
errors, estimated, supervised = [], [], []
for draw in range(4):
    partly = hide_labels(y, 20, random_state=draw)
    hidden = partly == -1

    def error(labels, hidden=hidden):
        return 100 * np.mean(labels[hidden] != y[hidden])

    errors.append([error(SwitchingTSVM(balance=share).fit(X, partly).transduction_) for share in shares])
    default = SwitchingTSVM().fit(X, partly)
    estimated.append([default.share_.asked[1], error(default.transduction_)])
    supervised.append(error(default.supervised_.predict(X)))

# %%
# By default (``balance="auto"``) the share is estimated from the labels and from predictions at the unlabeled
# samples; ``share_`` holds what was asked for and what was reached.

print(default.share_)

# %%
figure, ax = plt.subplots(figsize=(6.6, 3.8), layout="constrained")
ax.plot(shares, np.mean(errors, axis=0), "o-", label="balance = the share on the axis")
ax.plot(*np.transpose(estimated), "s", color="#c8553d", label='balance="auto", one draw of the labels each')
ax.axhline(np.mean(supervised), color="0.5", linestyle="--", label="supervised")
ax.axvline(y.mean(), color="0.8", zorder=0)
ax.annotate("true share", (y.mean(), 0), (4, 4), textcoords="offset points", color="0.4")
ax.set(xlabel="share of the positive class", ylabel="error on the unlabeled samples, %", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
