"""Draw ``docs/two_moons.svg``, the picture of the README, and print the errors that stand below it; ``make picture``.

Two moons of 300 samples, 20 of which have a label, ten draws. The picture shows the first draw and its errors on the
unlabeled samples; means over all ten are printed.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semisvm import SemiSVM
from semisvm.datasets import hide_labels, make_two_moons
from semisvm.plots import DecisionBoundaryDisplay
from semisvm.plots.svg import figure_svg, svg_settings

PICTURE = Path(__file__).with_suffix(".svg")
N_SAMPLES, N_LABELS, N_DRAWS = 300, 20, 10


def fit(draw: int) -> tuple[SemiSVM, np.ndarray, np.ndarray, list[float]]:
    """The model, the samples, the labels as they are shown to it, and the errors of `supervised_` and the model."""
    X, y = make_two_moons(N_SAMPLES, noise=0.12, random_state=draw)
    y_partial = hide_labels(y, N_LABELS, random_state=draw, marker=None)
    hidden = np.equal(y_partial, None)
    model = SemiSVM(random_state=0).fit(X, y_partial)
    predictions = model.supervised_.predict(X[hidden]), model.transduction_[hidden]
    return model, X, y_partial, [100 * float(np.mean(labels != y[hidden])) for labels in predictions]


def draw_boundary(ax: Axes, estimator: object, X: np.ndarray, y_partial: np.ndarray, title: str) -> None:
    """Regions, boundary and labeled samples over the unlabeled ones."""
    ax.scatter(*X[np.equal(y_partial, None)].T, s=7, color="0.45", linewidths=0)
    display = DecisionBoundaryDisplay.from_estimator(estimator, X, y_partial, density=False, grid_resolution=80, ax=ax)
    for part in (ax.get_legend(), display.margin_):
        if part is not None:
            part.remove()
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    ax.set_title(title, fontsize=11)


def main() -> None:
    """Write the picture and print the errors."""
    errors = []
    for draw in range(N_DRAWS):
        model, X, y_partial, both = fit(draw)
        errors.append(both)
        if draw == 0:
            with svg_settings():
                figure = Figure(figsize=(8.4, 3.0), layout="constrained")
                left, right = figure.subplots(1, 2)
                draw_boundary(left, model.supervised_, X, y_partial, f"SVM, {N_LABELS} labels: {both[0]:.1f} % wrong")
                title = f"SemiSVM, {N_SAMPLES - N_LABELS} more without labels: {both[1]:.1f} % wrong"
                draw_boundary(right, model, X, y_partial, title)
                PICTURE.write_text(figure_svg(figure, "Boundaries of SVM and SemiSVM on two moons"), encoding="utf-8")
    supervised, semi_supervised = np.mean(errors, axis=0)
    print(f"mean over {N_DRAWS} draws: SVM {supervised:.1f} %, SemiSVM {semi_supervised:.1f} % wrong")
    print(f"SemiSVM is worse in {sum(semi > supervised for supervised, semi in errors)} draws")


if __name__ == "__main__":
    main()
