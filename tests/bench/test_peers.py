"""Peers: input in the format of each program, output read back, and objectives computed by one function."""

import json
import stat
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from semisvm import CCCPTSVM, S3VM, SVM
from semisvm.bench import DataFolder
from semisvm.bench.peers import (
    ESTIMATORS,
    PROGRAMS,
    Case,
    KernelModel,
    LinearModel,
    PeerFailure,
    cases,
    compare_peers,
    comparison,
    program,
    run_peer,
    table_lines,
)
from semisvm.bench.peers import formulations as known
from semisvm.bench.peers.comparison import two_gaussians
from semisvm.datasets import make_two_gaussians


@pytest.fixture(scope="module")
def case():
    """60 samples of which 20 have labels; the last feature never occurs."""
    X, y = make_two_gaussians(60, 4, 0.8, random_state=0)
    X = np.c_[X, np.zeros(60)]
    y = 2.0 * y - 3.0
    signs = y.copy()
    for sign in (1.0, -1.0):
        signs[np.flatnonzero(y == sign)[10:]] = 0.0
    return Case("toy", X, signs, y, X, y, C=2.0, gamma=0.3)


# A program in the format of each peer; what it "learns" is computed from the files it was given.
READ = """
import pathlib, sys
import numpy as np
options = dict(zip(sys.argv[1:-2:2], sys.argv[2:-2:2]))
rows = [line.split() for line in open(sys.argv[-2])]
"""
FAKES = {
    "svmlin": READ
    + """
labels = np.loadtxt(sys.argv[-1])
assert labels.shape == (60,) and set(labels) <= {1, -1, 0}
X = np.zeros((60, 4))
for i, row in enumerate(rows):
    for pair in row:
        index, value = pair.split(":"); X[i, int(index) - 1] = float(value)
w = labels @ X * float(options["-W"])
pathlib.Path("samples.weights").write_text("".join(f"{v:g}\\n" for v in [*w, 0.25]))
pathlib.Path("samples.outputs").write_text("")
pathlib.Path(r"%s").write_text(repr(options))
""",
    "svmlight": READ
    + """
targets = [int(row[0]) for row in rows]
assert len(rows) == 60 and set(targets) <= {1, -1, 0}
pathlib.Path(options["-a"]).write_text("".join(f"{0.5 * t:.18g}\\n" for t in targets))
head = "SVM-light Version V6.02\\n2 # kernel type\\n60 # number of training documents\\n"
pathlib.Path("model").write_text(head + "0.25 # threshold b, each following line is a SV (starting with alpha*y)\\n")
pathlib.Path(r"%s").write_text(repr(options))
""",
    "universvm": READ
    + """
targets = [int(row[0]) for row in rows]
assert set(targets) == {1, -1, -3}
known = [row for row in rows if row[0] != "-3"]
lines = ["b0 0.25", "kernel_type rbf", "kgamma 0.3", "degree 3", "coef0 0", "alpha0 2", f"total_sv {len(known)}", "SV"]
lines += [f"{0.5 * int(row[0])}  " + "  ".join(row[1:]) + " " for row in known]
lines += ["0  " + " ".join(row[1:]) for row in rows if row[0] == "-3"]
pathlib.Path("model").write_text("\\n".join(lines) + "\\n")
pathlib.Path(r"%s").write_text(repr(options))
""",
}


def executable(path, source):
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def fake(tmp_path):
    """The peers of a fake program, and the file with the options of its last call."""

    def make(name):
        seen = tmp_path / "options.txt"
        return PROGRAMS[name](executable(tmp_path / name, FAKES[name] % seen)), seen

    return make


# ------------------------------------------------------------------ programs


@pytest.mark.parametrize("number", [0, 1, 2])
def test_svmlin(case, fake, number):
    peers, seen = fake("svmlin")
    peer = peers[number]
    row = run_peer(peer, case)
    assert row.failure == ""
    options = eval(seen.read_text())
    signs = case.y if number == 0 else case.signs
    lam = 1 / (2 * 2.0) if number == 0 else 1 / (2 * 2.0 * 20)
    assert options["-A"] == str(number + 1)
    assert float(options["-W"]) == pytest.approx(lam)
    w, b = lam * signs @ case.X, 0.25
    f = case.X @ w + b
    expected = 0.5 * (w @ w + b**2) + 2.0 * (np.maximum(0, 1 - signs * f) ** 2)[signs != 0].sum()
    if number:
        assert float(options["-U"]) == pytest.approx(2 * 40 * 1.0 / (4.0 * 20))  # C* = C l/u = 1
        assert float(options["-R"]) == 0.5
        labels = np.sign(f)
        if number == 1:  # half of the unlabeled samples are positive
            labels = np.where(f > np.median(f[signs == 0]), 1.0, -1.0)
        expected += (np.maximum(0, 1 - labels * f) ** 2)[signs == 0].sum()
    assert row.objective == pytest.approx(expected, rel=1e-5)
    assert row.error == pytest.approx(100 * np.mean((f > 0) != (case.y > 0)))
    assert row.seconds > 0


@pytest.mark.parametrize("number", [0, 1])
def test_svm_light(case, fake, number):
    peers, seen = fake("svmlight")
    row = run_peer(peers[number], case)
    assert row.failure == ""
    options = eval(seen.read_text())
    assert (options["-t"], float(options["-g"]), float(options["-c"])) == ("2", 0.3, 2.0)
    assert options.get("-p") == (None if number == 0 else "0.5")
    signs = case.y if number == 0 else case.signs
    K = np.exp(-0.3 * ((case.X[:, None] - case.X) ** 2).sum(axis=2))
    f = K @ (0.5 * signs) - 0.25
    labels = np.where(signs != 0, signs, np.where(f > np.median(f[case.unlabeled]), 1.0, -1.0))
    expected = 0.125 * signs @ K @ signs + 2.0 * np.maximum(0, 1 - labels * f).sum()
    assert row.objective == pytest.approx(expected)


def test_universvm_with_the_multiplier_of_its_balance(case, fake):
    peers, seen = fake("universvm")
    row = run_peer(peers[0], case)
    assert row.failure == ""
    options = eval(seen.read_text())
    assert (float(options["-c"]), float(options["-z"]), float(options["-w"])) == (2.0, 1.0, 0.0)
    coef = np.where(case.unlabeled, 2.0 / 40, 0.5 * case.signs)
    K = np.exp(-0.3 * ((case.X[:, None] - case.X) ** 2).sum(axis=2))
    f = K @ coef + 0.25
    hinges = np.maximum(0, 1 - case.signs * f)[~case.unlabeled].sum()
    ramps = np.minimum(0.7, np.maximum(0, 1 - abs(f)))[case.unlabeled].sum()
    assert row.objective == pytest.approx(0.5 * coef @ K @ coef + 2.0 * hinges + ramps)


QN = """
import pathlib
from numpy import *
class QN_S3VM_Dense:
    def __init__(self, X_l, L_l, X_u, random_generator, **options):
        assert len(X_l) == len(L_l) == 20 and len(X_u) == 40 and random_generator.random() < 1
        self.__Xreg, self.__X_u_subset, self.__L = mat(X_l + X_u).tolist(), X_u[: min(30, len(X_u))], L_l
        pathlib.Path(r"%s").write_text(repr(options))
    def train(self):
        self.__c = mat([0.5 * sign for sign in self.__L] + [0.0] * 40 + [0.25]).T
class QN_S3VM:
    def __init__(self, *arguments, **options):
        self.__model = QN_S3VM_Dense(*arguments, **options)
    def train(self):
        self.__model.train()
"""


def test_qn_s3vm_whose_samples_are_centered(case, tmp_path):
    seen, source = tmp_path / "options.txt", tmp_path / "qns3vm.py"
    source.write_text(QN % seen)
    row = run_peer(PROGRAMS["qns3vm"](source)[0], case)
    assert row.failure == ""
    options = eval(seen.read_text())
    assert options["lam"] == pytest.approx(1 / (2 * 2.0 * 20))
    assert (options["lamU"], options["estimate_r"], options["kernel_type"]) == (1.0, 0.0, "RBF")
    K = np.exp(-((case.X[:, None] - case.X) ** 2).sum(axis=2) / (2 * options["sigma"] ** 2))
    drawn = np.flatnonzero(case.unlabeled)[:30]
    from_mean = K - K[:, drawn].mean(axis=1, keepdims=True)
    centered = from_mean - from_mean[drawn].mean(axis=0)
    c = 0.5 * case.signs
    f = centered @ c + 0.25
    hinges = np.maximum(0, 1 - case.signs * f)[~case.unlabeled].sum()
    expected = 0.5 * c @ centered @ c + 2.0 * hinges + np.exp(-3 * f**2)[case.unlabeled].sum()
    assert row.objective == pytest.approx(expected)
    assert row.error == pytest.approx(100 * np.mean((f > 0) != (case.y > 0)))


def test_a_module_without_qn_s3vm(case, tmp_path):
    source = tmp_path / "other.py"
    source.write_text("")
    row = run_peer(PROGRAMS["qns3vm"](source)[0], case)
    assert row.failure == "QN-S3VM ended with code 1: AttributeError: module 'qns3vm' has no attribute 'QN_S3VM'."


def test_sparse_samples_are_written_alike(case, fake):
    (peer, *_), _ = fake("universvm")
    thin = case._replace(X=sparse.csr_array(case.X), X_test=sparse.csr_array(case.X_test))
    assert run_peer(peer, thin).objective == pytest.approx(run_peer(peer, case).objective)


def test_svm_light_refuses_unequal_classes(case, fake):
    (_, peer), _ = fake("svmlight")
    y = np.where(np.arange(60) < 50, 1.0, -1.0)
    row = run_peer(peer, case._replace(y=y))
    assert row.failure == "SVM-light has another objective where classes are unequal, as in toy."


@pytest.mark.parametrize(
    "source, message",
    [
        ("import sys; print('bad file'); print('no memory.'); sys.exit(3)", "SVMlin ended with code 3: no memory."),
        ("pass", "SVMlin ended without writing samples.weights."),
        ("open('samples.weights', 'w').write('1\\ntwo\\n')", "cannot be read (could not convert string"),
        ("open('samples.weights', 'w').write('1\\nnan\\n')", "cannot be read (a number is not finite)."),
        ("open('samples.weights', 'w').write('1\\n' * 9)", "cannot be read (9 weights for 5 features)."),
        ("import time; time.sleep(60)", "SVMlin was stopped after 1 seconds."),
    ],
)
def test_failures_are_one_sentence(case, tmp_path, monkeypatch, source, message):
    monkeypatch.setattr(program, "TIME_LIMIT", 1.0 if "sleep" in source else 60.0)
    peer = PROGRAMS["svmlin"](executable(tmp_path / "svmlin", source))[0]
    row = run_peer(peer, case)
    assert message in row.failure
    assert row.failure.endswith(".")
    assert row.objective is None
    assert any(row.failure in line for line in table_lines([row]))


@pytest.mark.parametrize(
    "name, files, message",
    [
        (
            "svmlight",
            {"alphas": "1\n"},
            "SVM-light wrote a file alphas that cannot be read (1 multipliers for 60 samples).",
        ),
        ("svmlight", {"alphas": "0\n" * 60, "model": "?\n"}, "(no line of the threshold b)"),
        ("universvm", {"model": "b0 1\n"}, "UniverSVM wrote a file model that cannot be read"),
        ("universvm", {"model": "b0 1\nalpha0 1\ntotal_sv 3\nSV\n1 1:2\n"}, "(1 of 3 support vectors)"),
    ],
)
def test_unreadable_models(case, tmp_path, name, files, message):
    source = f"import pathlib\nfor name, text in {files!r}.items(): pathlib.Path(name).write_text(text)"
    row = run_peer(PROGRAMS[name](executable(tmp_path / name, source))[0], case)
    assert message in row.failure


def test_a_program_that_is_gone(case, tmp_path):
    peer = PROGRAMS["svmlin"](tmp_path / "nosuch")[0]
    with pytest.raises(PeerFailure, match=r"SVMlin cannot be started: .*nosuch"):
        peer.run(case, tmp_path)


# ------------------------------------------------------------------ estimators


def test_objectives_are_those_of_fitted_estimators(case):
    svm = SVM(2.0, gamma=0.3, tol=1e-6).fit(case.X, case.y > 0)
    model = KernelModel(case.X[svm.support_], svm.dual_coef_[0], 0.3, svm.intercept_[0])
    assert known.HINGE_SVM.objective(case, model) == pytest.approx(svm.objective_, rel=1e-6)
    linear = {"kernel": "linear", "fit_intercept": "regularized", "C": 2.0}
    newton = S3VM("squared_hinge", None, solver="finite_newton", **linear).fit(case.X, case.y > 0)
    model = LinearModel(newton.coef_[0], newton.intercept_[0])
    assert known.SQUARED_HINGE_SVM.objective(case, model) == pytest.approx(newton.objective_, rel=1e-6)
    labels = np.where(case.signs > 0, 1, np.where(case.signs < 0, 0, -1))
    ramp = CCCPTSVM(2.0, C_unlabeled=1.0, gamma=0.3, balance=0.5).fit(case.X, labels)
    model = KernelModel(case.X[ramp.support_], ramp.dual_coef_[0], 0.3, ramp.intercept_[0])
    assert known.RAMP_TSVM.objective(case, model) == pytest.approx(ramp.objective_, rel=1e-6)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_fit_and_have_models(case, name):
    peer = ESTIMATORS[name]
    fitted = peer.estimator(case).fit(case.X, peer.targets(case))
    model = peer.model(fitted, case)
    objective = None if model is None else peer.formulation.objective(case, model)
    assert (objective is None) == (peer.formulation is known.NO_OBJECTIVE)
    if model is not None:
        predicted = np.where(fitted.predict(case.X) == 1, 1.0, -1.0)
        assert np.mean(predicted == np.sign(model.scores(case.X))) == 1.0
    if peer.program == "semisvm" and objective is not None:
        assert objective == pytest.approx(fitted.objective_, rel=0.02)


def test_scikit_learn_minimizes_the_same(case):
    found = {}
    for name, model in (("SVC", SVC(C=2.0, gamma=0.3, tol=1e-6)), ("LinearSVC", LinearSVC(C=2.0, tol=1e-8))):
        peer = ESTIMATORS[name]
        found[name] = peer.formulation.objective(case, peer.model(model.fit(case.X, peer.targets(case)), case))
    linear = {"kernel": "linear", "fit_intercept": "regularized", "C": 2.0}
    ours = S3VM("squared_hinge", None, solver="finite_newton", **linear).fit(case.X, case.y > 0)
    assert found["SVC"] == pytest.approx(SVM(2.0, gamma=0.3, tol=1e-6).fit(case.X, case.y > 0).objective_, rel=1e-6)
    assert found["LinearSVC"] == pytest.approx(ours.objective_, rel=1e-5)


def test_an_estimator_runs_in_a_process_of_its_own(case):
    row = run_peer(ESTIMATORS["SVC"], case)
    assert row.failure == ""
    assert row.objective == pytest.approx(SVM(2.0, gamma=0.3).fit(case.X, case.y > 0).objective_, rel=1e-3)
    assert row.peak_mib is None or row.peak_mib > 10


def test_a_failing_estimator_is_one_sentence(case):
    row = run_peer(ESTIMATORS["LinearSVC"], case._replace(X=np.full((60, 5), np.nan)))
    assert row.failure.startswith("LinearSVC ended with code 1: ")
    assert "\n" not in row.failure


# ------------------------------------------------------------------ cases and the table


def test_cases(tmp_path):
    one = two_gaussians(101)
    assert one.unlabeled.sum() == 102
    assert (one.share, (one.signs > 0).sum(), (one.signs < 0).sum()) == (0.5, 25, 25)
    X = sparse.random_array((30, 6), density=0.5, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "text.X.npz", sparse.csr_matrix(X))
    np.save(tmp_path / "text.y.npy", np.arange(30) % 2)
    rows = np.arange(30)[None]
    np.savez(tmp_path / "text.splits.npz", idx_labs=rows[:, :10], idx_unls=rows[:, 10:])
    found = list(cases([20], DataFolder(tmp_path)))
    assert [case.name for case in found] == ["two Gaussians, u = 20", "text, u = 15"]
    assert found[1].kernels == ("linear",)
    assert (found[1].X.shape, found[1].X_test.shape) == ((25, 6), (5, 6))
    assert list(found[1].signs[:3]) == [-1, 1, -1]


def test_ours_alone_are_left_out(case, monkeypatch):
    def known_row(peer, case):
        return comparison.Row("toy", peer.formulation.name, peer.name, peer.program, 0.5, objective=2.0)

    monkeypatch.setattr(comparison, "ESTIMATORS", {name: ESTIMATORS[name] for name in ("SVM", "SVC", "CCCPTSVM")})
    monkeypatch.setattr(comparison, "run_peer", known_row)
    seen = []
    rows = compare_peers([], iter([case]), seen.append)
    assert [row.method for row in rows] == ["SVC", "SVM"]
    assert seen == ["toy: SVC", "toy: SVM"]
    lines = table_lines(rows)
    assert lines[0].split()[:4] == ["case", "method", "program", "seconds"]
    assert lines[2].startswith("SVM, hinge, rbf: 1/2 |w|^2 + C sum (1 - y f)_+")
    assert json.loads(json.dumps([row.as_dict() for row in rows]))[0]["objective"] == 2.0
