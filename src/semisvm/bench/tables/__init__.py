"""The tables and figures that can be measured again: one file each, and one line here."""

from ..protocol import Protocol
from . import (
    adankon_s2ls,
    collobert_1_1,
    collobert_1_3,
    collobert_1_5,
    collobert_figure_1_2,
    collobert_figure_1_7,
    collobert_figure_1_8,
    collobert_figures_1_3_to_1_5,
    gieseke_1,
    gieseke_1_realistic,
    help_training,
    shim_4_1,
)

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        collobert_1_3.PROTOCOL,
        collobert_1_3.DEFAULTS,
        collobert_1_1.PROTOCOL,
        collobert_1_5.ERRORS,
        collobert_figure_1_2.LEFT,
        collobert_figure_1_2.RIGHT,
        collobert_figures_1_3_to_1_5.OBJECTIVES,
        collobert_figures_1_3_to_1_5.SUBSETS,
        collobert_figures_1_3_to_1_5.SPEED,
        collobert_figure_1_7.PROTOCOL,
        collobert_figure_1_8.PROTOCOL,
        collobert_1_5.TIMES,
        adankon_s2ls.PROTOCOL,
        help_training.PROTOCOL,
        help_training.TUNED,
        gieseke_1.PROTOCOL,
        gieseke_1_realistic.PROTOCOL,
        shim_4_1.PROTOCOL,
    )
}
