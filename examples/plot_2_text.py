"""
Text with few labels
====================

Documents on two subjects share most of their words, and twenty labels show only a part of those that do not.
Unlabeled documents connect the others: words that occur together belong to one subject. The documents here are
generated, so that the example needs no download; ``docs/results`` has the Text set of the literature.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from semisvm import MultiSwitchTSVM
from semisvm.datasets import hide_labels

rng = np.random.default_rng(0)
common = [f"word{i}" for i in range(200)]
subjects = [[f"{name}{i}" for i in range(120)] for name in ("billing", "network")]
y = rng.permutation(np.arange(1000) % 2)
documents = [" ".join([*rng.choice(common, 20), *rng.choice(subjects[label], 5)]) for label in y]
topics = np.array(["billing", "network"])[y]

# %%
# Unlabeled documents are marked by ``None``. The vectorizer is fitted to all documents, labeled or not: that is one
# more use of them.

for_the_picture = []
for n_labels in (10, 20, 50, 100, 200):
    errors = []
    for draw in range(2):
        partly = hide_labels(topics, n_labels, random_state=draw, marker=None)
        hidden = np.array([label is None for label in partly])
        model = make_pipeline(TfidfVectorizer(), MultiSwitchTSVM(kernel="linear")).fit(documents, partly)
        tsvm, features = model[-1], model[0].transform(documents)
        predictions = tsvm.supervised_.predict(features), tsvm.transduction_
        errors.append([100 * np.mean(labels[hidden] != topics[hidden]) for labels in predictions])
    for_the_picture.append(np.mean(errors, axis=0))
    supervised, transductive = for_the_picture[-1]
    print(f"{n_labels:4d} labels: supervised {supervised:5.1f} %, MultiSwitchTSVM {transductive:5.1f} %")

# %%
# ``semisvm label tickets.csv --target topic`` does the same for a table with a column of text.

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for curve, label, style in zip(np.transpose(for_the_picture), ("supervised", "MultiSwitchTSVM"), ("o--", "o-")):
    ax.plot((10, 20, 50, 100, 200), curve, style, label=label)
ax.set(xscale="log", xlabel="labels, of 1,000 documents", ylabel="error on the others, %", ylim=(0, None))
ax.set_xticks((10, 20, 50, 100, 200), labels=("10", "20", "50", "100", "200"), minor=False)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
