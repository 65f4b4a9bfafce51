"""Solutions: a status never says more than the certificate."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from semisvm.solution import STATUSES, Certificate, Solution, gap_certificate, with_gap, without_bound


def solution(status="converged", certificate=None, objective=2.0):
    certificate = certificate or Certificate("kkt", 0.0)
    return Solution(np.zeros(2), 0.0, np.zeros(2), np.ones(2), objective, certificate, status, 1, np.zeros(2))


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("value", "tol"), [(0.1, 0.2), (0.2, 0.2), (0.3, 0.2), (0.3, None), (1e-300, 0.0)])
def test_converged_above_the_tolerance_is_stalled(status, value, tol):
    found = solution(status, Certificate("kkt", value, tol=tol)).status
    above = tol is not None and value > tol
    assert found == ("stalled" if above and status == "converged" else status)


def test_a_nan_certificate_is_not_converged():
    assert solution("converged", Certificate("kkt", np.nan, tol=1e-3)).status == "stalled"


def test_replace_applies_the_rule_again():
    bad = Certificate("kkt", 1.0, tol=0.1)
    assert replace(solution(), certificate=bad).status == "stalled"
    stopped = solution("stopped", bad)
    assert stopped.status == "stopped"
    assert replace(stopped, status="converged").status == "stalled"
    assert replace(stopped, status="converged", certificate=Certificate("kkt", 0.1, tol=0.1)).status == "converged"


@pytest.mark.parametrize("status", STATUSES)
def test_limits_callback_and_interrupt_end_early(status):
    assert solution(status).ended_early == (status in ("max_iter", "max_time", "stopped", "interrupted"))


def test_solutions_and_certificates_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        solution().status = "stalled"
    with pytest.raises(FrozenInstanceError):
        Certificate("kkt", 0.0).value = 1.0


def test_trace_and_details_are_not_shared():
    first, second = solution(), solution()
    first.trace.append({})
    first.details["x"] = 1.0
    assert (second.trace, second.details) == ([], {})


@pytest.mark.parametrize(("bound", "gap"), [(1.5, 0.5), (2.0, 0.0), (2.1, 0.0)])
def test_gap_is_the_distance_to_the_bound_and_not_negative(bound, gap):
    assert gap_certificate(2.0, bound, 0.1) == Certificate("gap", gap, bound, gap, 0.1)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("bound", "within"), [(1.95, True), (1.0, False), (2.5, True)])
def test_with_gap_decides_anew_what_has_converged(status, bound, within):
    found = with_gap(solution(status, Certificate("kkt", 5.0, tol=1e-3)), bound, tol=0.1)
    assert found.certificate == gap_certificate(2.0, min(bound, 2.0), 0.1)
    assert found.certificate.lower_bound <= found.objective
    early = status in ("max_iter", "max_time", "stopped", "interrupted")
    assert found.status == (status if early else "converged" if within else "stalled")


def test_with_gap_promises_nothing_without_a_tolerance():
    found = with_gap(solution("stalled"), 0.0)
    assert found.certificate.gap == 2.0
    assert found.status == "converged"


@pytest.mark.parametrize(("kind", "left", "tol"), [("kkt", "stationary", 0.1), ("gap", "none", None)])
def test_without_a_bound_a_certificate_proves_no_more_than_it_can(kind, left, tol):
    certificate = without_bound(solution(certificate=Certificate(kind, 0.05, 1.0, 1.0, 0.1))).certificate
    assert certificate == Certificate(left, 0.05, None, None, tol)
