"""A stopped and resumed run equals an uninterrupted one."""

import json
import os
import signal
import time
import warnings
from dataclasses import replace

import pytest
from toy import ERRORS, KNOWN, TOY, known_error, protocol

from semisvm.bench import (
    Cell,
    DamagedResults,
    DataFolder,
    Measured,
    Printed,
    ResultsExist,
    Setup,
    read_records,
    run_protocol,
    run_task,
)
from semisvm.bench.runner import seconds_left
from semisvm.bench.selection import best_on_test

SETUP = Setup(DataFolder())
SECOND = Cell("second", "known", Printed(5.0, test_size=100), known_error, draws=2)
TABLE = protocol(KNOWN, SECOND)


def without_times(records):
    plain = [replace(result, seconds=0.0, cpu_seconds=0.0) for result in records.results]
    return sorted(plain, key=lambda result: result.key)


@pytest.fixture
def complete(tmp_path):
    return without_times(run_protocol(TABLE, SETUP, tmp_path / "complete.jsonl"))


def test_results_of_a_run(complete):
    assert [(r.row, r.draw, r.value) for r in complete] == [
        *(("first", draw, error) for draw, error in enumerate(ERRORS)),
        *(("second", draw, ERRORS[draw]) for draw in range(2)),
    ]
    assert (complete[1].seed, complete[1].objective, complete[1].chosen) == (1, 1 / 7, {"C": 10})


@pytest.mark.parametrize("n_done", range(7))
def test_a_run_stopped_after_any_task_and_resumed(tmp_path, complete, n_done):
    path = tmp_path / "stopped.jsonl"

    def stop(progress):
        if progress.done == n_done:
            raise KeyboardInterrupt

    if n_done < 6:
        with pytest.raises(KeyboardInterrupt):
            run_protocol(TABLE, SETUP, path, on_progress=stop)
        assert len(read_records(path).results) == n_done
    seen = []
    resumed = run_protocol(TABLE, SETUP, path, resume=True, on_progress=lambda p: seen.append((p.done, p.total)))
    assert without_times(resumed) == complete
    assert seen == [(done, 6) for done in range(n_done if n_done < 6 else 0, 6)]


@pytest.mark.parametrize("n_bytes", [1, 40])
def test_a_truncated_last_line_is_run_again(tmp_path, complete, n_bytes):
    path = tmp_path / "complete.jsonl"
    path.write_bytes(path.read_bytes()[:-n_bytes])
    assert len(read_records(path).results) == 5
    assert without_times(run_protocol(TABLE, SETUP, path, resume=True)) == complete
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_complete_file_is_left_as_it_is(tmp_path, complete):
    before = (tmp_path / "complete.jsonl").read_bytes()
    run_protocol(TABLE, SETUP, tmp_path / "complete.jsonl", resume=True)
    assert (tmp_path / "complete.jsonl").read_bytes() == before


def test_more_draws_are_added(tmp_path, complete):
    few = run_protocol(TABLE, SETUP, tmp_path / "few.jsonl", draws=1)
    assert [result.key for result in few.results] == [("first", "known", 0), ("second", "known", 0)]
    assert without_times(run_protocol(TABLE, SETUP, tmp_path / "few.jsonl", resume=True)) == complete


def test_results_are_never_mixed(tmp_path, complete):
    path = tmp_path / "complete.jsonl"
    with pytest.raises(ResultsExist, match="pass --resume to go on"):
        run_protocol(TABLE, SETUP, path)
    with pytest.raises(ResultsExist, match="measured without --quick"):
        run_protocol(TABLE, SETUP._replace(quick=True), path, resume=True)
    path.write_text(path.read_text().replace('"row"', '"rows"'))
    with pytest.raises(DamagedResults, match="line 2 of"):
        run_protocol(TABLE, SETUP, path, resume=True)


def test_the_header_says_where_it_was_measured(tmp_path, complete):
    header = read_records(tmp_path / "complete.jsonl").headers[0]
    needed = {"protocol", "quick", "semisvm", "commit", "python", "numpy", "scipy", "scikit-learn", "numba"}
    assert needed | {"cores", "processor", "system", "time", "command"} <= set(header)


def test_failed_tasks_are_run_again_and_others_go_on(tmp_path):
    broken = [True]

    def measure(setup, draw):
        if broken and draw == 1:
            raise ValueError("broken")
        return Measured(ERRORS[draw])

    table = protocol(Cell("first", "known", KNOWN.printed, measure))
    done = run_protocol(table, SETUP, tmp_path / "r.jsonl")
    assert [result.value for result in done.results] == [4.0, None, 8.0, 6.0]
    broken.clear()
    done = run_protocol(table, SETUP, tmp_path / "r.jsonl", resume=True)
    assert {key[2]: result.value for key, result in done.by_task.items()} == dict(enumerate(ERRORS))


def test_an_error_that_is_no_number_is_a_failure():
    table = protocol(Cell("first", "nan", KNOWN.printed, lambda setup, draw: Measured(float("nan"))))
    assert run_task(table, SETUP, table.tasks(SETUP)[0]).failure == "the error is nan"


def test_warnings_are_counted():
    def measure(setup, draw):
        for _ in range(3):
            warnings.warn("not converged", UserWarning, stacklevel=1)
        return Measured(1.0)

    table = protocol(Cell("first", "warns", KNOWN.printed, measure))
    assert run_task(table, SETUP, table.tasks(SETUP)[0]).warnings == {"UserWarning": 3}


@pytest.fixture
def ordinary_interrupts():
    """Ctrl-C as Python handles it, whatever a test before has left."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ordinary_interrupts")
def test_ctrl_c_that_a_solver_answers_with_its_best_model_is_not_a_result(tmp_path):
    def measure(setup, draw):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10.0)
        except KeyboardInterrupt:
            return Measured(50.0)

    table = protocol(Cell("first", "interrupted", KNOWN.printed, measure))
    with pytest.raises(KeyboardInterrupt):
        run_protocol(table, SETUP, tmp_path / "r.jsonl")
    assert read_records(tmp_path / "r.jsonl").results == ()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_to_run_still_has_a_header(tmp_path):
    done = run_protocol(protocol(*TOY.cells[1:]), SETUP, tmp_path / "r.jsonl")
    assert (len(done.headers), done.results) == (1, ())


def test_time_left_takes_the_seconds_of_the_same_cell():
    tasks = TABLE.tasks(SETUP)
    first, second = ("first", "known"), ("second", "known")
    assert seconds_left({}, tasks) is None
    assert seconds_left({(*first, 0): 3.0}, tasks) == 18.0
    assert seconds_left({(*first, 0): 3.0, (*second, 0): 1.0}, tasks[2:]) == 3 * 3.0 + 1.0


def test_the_best_on_the_test_samples():
    found = best_on_test({"C": [1, 10], "gamma": [0.5, 2.0]}, lambda C, gamma: abs(C - 10) + gamma)
    assert found.errors == (9.5, 11.0, 0.5, 2.0)
    assert (found.value, found.chosen) == (0.5, {"C": 10.0, "gamma": 0.5})
    assert found.axes == {"C": [1.0, 10.0], "gamma": [0.5, 2.0]}
