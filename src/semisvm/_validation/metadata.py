"""Metadata of ``fit`` for the estimators inside a meta-estimator, as scikit-learn routes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing


def is_routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def route_fit_metadata(
    meta_estimator: Any, sample_weight: Any, fit_params: Mapping[str, Any], names: Sequence[str]
) -> dict[str, dict[str, Any]] | None:
    """What the ``fit`` of each estimator inside gets besides X and y, by its name in the router.

    None where metadata routing is not enabled; there is no metadata but ``sample_weight`` then.
    """
    if not is_routing_enabled():
        if fit_params:
            raise TypeError(
                f"{type(meta_estimator).__name__}.fit got {', '.join(fit_params)}; without metadata routing it takes "
                "X, y and sample_weight. Leave it out, or enable routing: set_config(enable_metadata_routing=True)."
            )
        return None
    everything = {"sample_weight": sample_weight, **fit_params}
    given = {name: value for name, value in everything.items() if value is not None}
    if not given:
        return {name: {} for name in names}
    routed = process_routing(meta_estimator, "fit", **given)
    return {name: dict(routed[name]["fit"]) for name in names}
