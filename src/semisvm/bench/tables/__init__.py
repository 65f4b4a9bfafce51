"""The tables and figures that can be measured again: one file each, and one line here."""

from ..protocol import Protocol
from . import (
    adankon_figures,
    adankon_s2ls,
    adankon_uci,
    adankon_usps,
    collobert_1_3,
    genetic_s3vm,
    gieseke_1,
    gieseke_1_realistic,
    help_training,
    help_training_selection,
    lssvm_selection,
    shim_4_1,
)

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        collobert_1_3.PROTOCOL,
        collobert_1_3.DEFAULTS,
        adankon_s2ls.PROTOCOL,
        adankon_uci.PROTOCOL,
        adankon_uci.TUNED,
        adankon_usps.PROTOCOL,
        genetic_s3vm.PROTOCOL,
        *adankon_figures.FIGURES,
        help_training.PROTOCOL,
        help_training.TUNED,
        help_training_selection.PROTOCOL,
        help_training_selection.TUNED,
        lssvm_selection.PROTOCOL,
        gieseke_1.PROTOCOL,
        gieseke_1_realistic.PROTOCOL,
        shim_4_1.PROTOCOL,
    )
}
