"""Weights and other metadata of the samples, as the classifier in the rounds and the helper get them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.utils.validation import has_fit_parameter

from .._validation import check_sample_weight
from ..model_selection.scoring import of_samples

NOTHING: Mapping[str, Any] = MappingProxyType({})


class FitMetadata(NamedTuple):
    """What the ``fit`` of one model gets besides samples and labels.

    ``weights`` are its factors on the costs of all samples, 0 where a sample is no part of the fit. Where scikit-learn
    routes metadata, ``params`` are those that the model asked for, by name, and the weights are 1 unless it asked.
    """

    weights: np.ndarray
    params: Mapping[str, Any] = NOTHING
    is_routed: bool = False

    @classmethod
    def routed(cls, params: Mapping[str, Any], weights: np.ndarray) -> FitMetadata:
        """Metadata by request; ``weights``, those of the whole fit, say which samples are part of it."""
        part = weights > 0
        asked = params.get("sample_weight")
        if asked is None:
            return cls(part.astype(np.float64), params, True)
        own = check_sample_weight(asked, len(weights))
        if (own[part] == 0).any():
            raise ValueError(
                f"the weights that the estimator asks for are 0 at {int((own[part] == 0).sum())} samples of positive "
                "sample_weight; a sample is left out by sample_weight=0, or pass weights above 0."
            )
        return cls(np.where(part, own, 0.0), params, True)

    def take(self, samples: np.ndarray) -> FitMetadata:
        """The metadata of some samples."""
        n = len(self.weights)
        params = {name: of_samples(value, samples, n) for name, value in self.params.items()}
        return FitMetadata(self.weights[samples], params, self.is_routed)

    @property
    def is_weighted(self) -> bool:
        """Whether samples of the fit have other weights than 1."""
        return not ((self.weights == 1.0) | (self.weights == 0.0)).all()

    def takes_weights(self, model: Any) -> bool:
        """Whether a model can be fitted with them; where they are routed, that is its own request."""
        return self.is_routed or not self.is_weighted or has_fit_parameter(model, "sample_weight")

    def fit(self, model: Any, *data: Any) -> Any:
        """Fit a model to samples of positive weight, ``data``, whose metadata these are."""
        params = dict(self.params)
        if not self.is_routed and self.is_weighted:
            params = {"sample_weight": self.weights}
        return self._fit(model, data, params)

    def fit_all(self, model: Any, *data: Any) -> Any:
        """Fit an estimator of this library, which leaves out samples of weight 0 itself."""
        params = {name: value for name, value in self.params.items() if name != "sample_weight"}
        if not (self.weights == 1.0).all():
            params["sample_weight"] = self.weights
        return self._fit(model, data, params)

    def _fit(self, model: Any, data: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
        with config_context(enable_metadata_routing=self.is_routed):  # as it was in ``fit``, in which this may not be
            return model.fit(*data, **params)
