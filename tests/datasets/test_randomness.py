"""What all generators have in common: seeds and arguments."""

import inspect

import numpy as np
import pytest

from semisvm import datasets

GENERATORS = {name: getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")}


def test_nothing_is_left_out():
    assert len(GENERATORS) == 10


@pytest.mark.parametrize("name", GENERATORS)
def test_results_depend_on_the_seed_alone(name):
    first, again, other = (GENERATORS[name](40, random_state=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert not np.array_equal(first[0], other[0])
    without = [GENERATORS[name](40)[0] for _ in range(2)]
    assert not np.array_equal(*without)


@pytest.mark.parametrize("name", GENERATORS)
def test_shapes_and_dtypes(name):
    X, y, *_ = GENERATORS[name](41, random_state=0)
    assert X.shape[0] == len(y) == 41
    if name == "make_messages":
        assert all(isinstance(text, str) and text.endswith((".", "?", "!", "regards")) for text in X)
        assert set(y) == {"payment", "delivery", "account"}
        return
    assert X.dtype == np.float64
    assert y.dtype == int
    assert set(y) == ({1, 2, 3} if name == "make_waveform" else {1, 2})


@pytest.mark.parametrize("name", GENERATORS)
def test_the_default_number_of_samples_is_used(name):
    default = inspect.signature(GENERATORS[name]).parameters["n_samples"].default
    assert len(GENERATORS[name](random_state=0)[1]) == default


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True])
@pytest.mark.parametrize("name", GENERATORS)
def test_other_seeds_are_refused(name, seed):
    with pytest.raises(ValueError, match=r"random_state=.* takes a whole number of 0 or more or None"):
        GENERATORS[name](10, random_state=seed)


NUMBERS = [
    (name, argument)
    for name, make in GENERATORS.items()
    for argument in inspect.signature(make).parameters
    if argument != "random_state"
]


@pytest.mark.parametrize(("name", "argument"), NUMBERS)
def test_other_numbers_are_refused(name, argument):
    for value in ("many", None, -1 if argument != "shift" else float("nan"), True):
        with pytest.raises(ValueError, match=f"{argument}=.* is not allowed; {argument} takes "):
            GENERATORS[name](**{argument: value})
