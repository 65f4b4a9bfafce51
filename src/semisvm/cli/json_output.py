"""The results of commands as JSON, for ``--json``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.files import display_name
from .comparing import CompareResult
from .evaluation import Estimate, Evaluation
from .labeling import LabelResult
from .modeling import FitResult, PredictResult
from .suggesting import NextResult
from .training import TrainingTable


def training_content(training: TrainingTable) -> dict[str, Any]:
    """What was read."""
    return {
        "source": display_name(training.options.source),
        "target": training.target,
        "rows": training.n_rows,
        "labels": {str(c): n for c, n in training.labels.given.most_common()},
        "repeated_rows": training.n_repeated,
        "columns": [
            {"name": one.name, "kind": one.kind, "reason": one.reason or None, "note": one.note or None}
            for one in training.columns
        ],
    }


def _estimate(one: Estimate) -> dict[str, Any]:
    return {"name": one.name, "error": one.error, "interval": list(one.interval), "rows": one.n}


def _evaluation(evaluation: Evaluation | None) -> dict[str, Any]:
    if evaluation is None:
        return {"held_out": [], "conclusion": None}
    return {"held_out": [_estimate(one) for one in evaluation.estimates], "conclusion": evaluation.conclusion}


def label_content(result: LabelResult) -> dict[str, Any]:
    """The result of ``semisvm label``."""
    return training_content(result.training) | {
        "method": None if result.estimator is None else type(result.estimator).__name__,
        "filled": {str(c): n for c, n in result.filled.most_common()},
        "median_confidence": result.confidences.by_class,
        **_evaluation(result.evaluation),
        "supervised_differs": result.n_different,
        "notes": result.notes,
        "output": str(result.output),
        "report": None if result.report is None else str(result.report),
        "cluster": result.cluster,
    }


def fit_content(result: FitResult) -> dict[str, Any]:
    """The result of ``semisvm fit``."""
    more = {"method": type(result.estimator).__name__, **_evaluation(result.evaluation)}
    return training_content(result.training) | more | {"notes": result.notes, "output": str(result.output)}


def predict_content(result: PredictResult) -> dict[str, Any]:
    """The result of ``semisvm predict``."""
    return {
        "source": display_name(result.source),
        "rows": len(result.labels),
        "predicted": {str(c): n for c, n in result.counts.most_common()},
        "column": result.column,
        "median_confidence": float(np.median(result.confidence)),
        "known_labels": result.n_known,
        "known_labels_predicted": result.n_right,
        "model": result.model.summary,
        "notes": result.notes,
        "output": str(result.output),
    }


def compare_content(result: CompareResult) -> dict[str, Any]:
    """The result of ``semisvm compare``."""
    methods = [_estimate(one) | {"seconds": result.seconds[one.name]} for one in result.estimates]
    more = {"methods": methods, "failures": result.failures, "conclusion": result.conclusion, "notes": result.notes}
    return training_content(result.training) | more


def next_content(result: NextResult) -> dict[str, Any]:
    """The result of ``semisvm next``."""
    return training_content(result.training) | {
        "next": [row._asdict() for row in result.rows],
        "expected_gain": vars(result.gain),
        "notes": result.notes,
        "output": None if result.output is None else str(result.output),
    }
