"""The tables and figures that can be measured again: one file each, and one line here."""

from ..protocol import Protocol
from . import (
    adankon_s2ls,
    akrouch_levels,
    akrouch_parameters,
    akrouch_shares,
    collobert_1_3,
    gieseke_1,
    gieseke_1_realistic,
    gieseke_4,
    gieseke_5,
    help_training,
    shim_4_1,
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
        gieseke_4.LABELED,
        gieseke_4.UNLABELED,
        gieseke_5.PROTOCOL,
        akrouch_levels.PROTOCOL,
        akrouch_parameters.COST_GRID,
        akrouch_shares.TWO_DIGITS,
        akrouch_shares.TEN_DIGITS,
        akrouch_parameters.WIDTHS,
        shim_4_1.PROTOCOL,
        shim_4_1.FIGURE,
    )
}
