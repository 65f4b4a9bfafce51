"""The tables and figures that can be measured again: one file each, and one line here."""

from ..protocol import Protocol
from . import (
    adankon_s2ls,
    collobert_1_3,
    gieseke_1,
    gieseke_1_realistic,
    help_training,
    methods_accuracy_time,
    shim_4_1,
    solvers_objective_time,
)

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        collobert_1_3.PROTOCOL,
        collobert_1_3.DEFAULTS,
        adankon_s2ls.PROTOCOL,
        help_training.PROTOCOL,
        help_training.TUNED,
        gieseke_1.PROTOCOL,
        gieseke_1_realistic.PROTOCOL,
        shim_4_1.PROTOCOL,
        methods_accuracy_time.PROTOCOL,
        solvers_objective_time.PROTOCOL,
    )
}
