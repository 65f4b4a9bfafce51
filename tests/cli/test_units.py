"""Units of the command line: output files and methods."""

import pytest

from semisvm.cli import InputError, TerminationSignal
from semisvm.cli.methods import find_method, methods, short_name
from semisvm.cli.writing import atomic_file
from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS


@pytest.mark.parametrize("error", [TerminationSignal(15), ValueError("broken"), OSError(28, "no space")], ids=repr)
def test_output_file_is_complete_or_unchanged(tmp_path, error):
    path = tmp_path / "out.csv"
    path.write_text("before")
    with pytest.raises((type(error), InputError)), atomic_file(path, force=True) as file:  # noqa: PT012
        file.write(b"half")
        file.flush()
        assert len(list(tmp_path.iterdir())) == 2
        raise error
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "before")]


def test_output_created_by_another_program_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(InputError, match="created by another program"), atomic_file(path, force=False) as file:  # noqa: PT012
        file.write(b"ours")
        path.write_text("theirs")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "theirs")]


def test_methods_are_those_of_the_registry():
    assert set(methods().values()) == {*ENSEMBLES.values(), *ESTIMATORS.values(), *WRAPPERS.values()}
    assert {"semi", "cccp", "svm", "ramp", "self-training", "help-training"} <= set(methods())
    planned = (
        "SVM RampSVM LSSVM SparseLSSVM CCCPTSVM SwitchingTSVM MultiSwitchTSVM AnnealingTSVM SDPTSVM SwitchingLSSVM "
        "DCLSSVM LocalSearchRLSC SelfTraining S3VM SemiSVM"
    )
    assert " ".join(map(short_name, planned.split())) == (
        "svm ramp ls sparse-ls cccp switching multi-switch annealing sdp switching-ls dc-ls local-search-rlsc "
        "self-training s3vm semi"
    )
    for name, cls in (ENSEMBLES | ESTIMATORS | WRAPPERS).items():
        assert find_method(name) is cls
    assert find_method("CCCP-TSVM") is ESTIMATORS["CCCPTSVM"]
    with pytest.raises(InputError, match="--method nosuch is not known; pass one of semi, svm, ramp, ls"):
        find_method("nosuch")
