"""The directive ``estimators``: a table of the classes that a page explains.

A class that no page explains is a warning, which ends the build. Pages that use the directive are written in Markdown.
"""

from __future__ import annotations

import inspect
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from numpydoc.docscrape import NumpyDocString
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS

logger = logging.getLogger(__name__)
CLASSES = ESTIMATORS | WRAPPERS | ENSEMBLES


def summary(cls: type) -> str:
    """The first line of the docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def certificate(cls: type) -> str:
    """What the docstring says of ``certificate_``."""
    entries = NumpyDocString(inspect.getdoc(cls) or "")["Attributes"]
    return next((" ".join(entry.desc) for entry in entries if entry.name == "certificate_"), "None.")


class EstimatorTable(SphinxDirective):
    """Names of estimators as a table of links, summaries and certificates."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table."""
        metadata = self.env.metadata[self.env.docname]
        lines = ["| class | method | `certificate_` |", "|---|---|---|"]
        for name in " ".join(self.content).split():
            if name not in CLASSES:
                raise self.error(f"{name} is in none of ESTIMATORS, WRAPPERS and ENSEMBLES")
            metadata["estimators"] = f"{metadata.get('estimators', '')} {name}"
            cls = CLASSES[name]
            lines.append(f"| {{py:class}}`~semisvm.{name}` | {summary(cls)} | {certificate(cls)} |")
        container = nodes.container(classes=["estimators"])
        self.state.nested_parse(StringList(lines, source=__file__), 0, container)
        return [container]


def check(app: Any, env: Any) -> None:
    """Warn of estimators that no page explains."""
    explained = {name for held in env.metadata.values() for name in held.get("estimators", "").split()}
    for name in CLASSES.keys() - explained:
        logger.warning("no page of docs/theory explains %s: add it to the directive `estimators` of one", name)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive and the check."""
    app.add_directive("estimators", EstimatorTable)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True}
