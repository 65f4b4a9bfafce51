"""No figure of a test stays open."""

import matplotlib
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    pyplot.close("all")
    yield
    pyplot.close("all")
