"""What comes from the user: labels, data, weights and parameters, and every message about bad input.

Each message says what came, what is allowed and what to do.
"""

from .classifiers import check_classifier
from .data import KeptSamples, check_kernel_matrix, check_sample_weight, check_X, copy_if_shared
from .labels import Labels, drop_zero_weight, encode_labels, encode_labels_of, find_labeled
from .metadata import is_routing_enabled, route_fit_metadata
from .packages import import_optional
from .parameters import (
    Array,
    Described,
    Instance,
    Integer,
    Options,
    Real,
    Spec,
    check_choice,
    check_integer,
    check_number,
    check_value,
)
from .training import TrainingSet, check_training_set
from .user_warnings import warn_user

__all__ = [
    "Array",
    "Described",
    "Instance",
    "Integer",
    "KeptSamples",
    "Labels",
    "Options",
    "Real",
    "Spec",
    "TrainingSet",
    "check_X",
    "check_choice",
    "check_classifier",
    "check_integer",
    "check_kernel_matrix",
    "check_number",
    "check_sample_weight",
    "check_training_set",
    "check_value",
    "copy_if_shared",
    "drop_zero_weight",
    "encode_labels",
    "encode_labels_of",
    "find_labeled",
    "import_optional",
    "is_routing_enabled",
    "route_fit_metadata",
    "warn_user",
]
