"""Tables and figures of the papers, measured again and compared with what is printed.

A table is a file in ``tables/`` that makes a ``Protocol`` of cells, and a line in ``tables.PROTOCOLS``.
``run_protocol`` runs its tasks and keeps every result on the disk, ``compare`` puts a verdict on every cell,
``draw_pictures`` draws them, ``markdown`` and ``html`` write the report. ``import semisvm`` does not import this
package.
"""

from .comparison import Comparison, Tally, compare, compare_cell, tally
from .data import DataFolder
from .html_report import html
from .official_splits import DIGESTS, check_splits, split_sentences
from .pictures import draw_pictures
from .protocol import FIXED, REALISTIC, TEST_TUNED, Cell, Measured, Printed, Protocol, Setup, Task
from .records import DamagedResults, Records, Result, read_records
from .report import Measurement, contents, markdown, totals
from .runner import Progress, ResultsExist, run_protocol, run_task
from .tables import PROTOCOLS

__all__ = [
    "DIGESTS",
    "FIXED",
    "PROTOCOLS",
    "REALISTIC",
    "TEST_TUNED",
    "Cell",
    "Comparison",
    "DamagedResults",
    "DataFolder",
    "Measured",
    "Measurement",
    "Printed",
    "Progress",
    "Protocol",
    "Records",
    "Result",
    "ResultsExist",
    "Setup",
    "Tally",
    "Task",
    "check_splits",
    "compare",
    "compare_cell",
    "contents",
    "draw_pictures",
    "html",
    "markdown",
    "read_records",
    "run_protocol",
    "run_task",
    "split_sentences",
    "tally",
    "totals",
]
