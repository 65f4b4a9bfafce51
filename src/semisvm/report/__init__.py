"""The report of a labeled table: one page of HTML that needs no other file."""

from .content import Card, LabeledTable, RowToCheck
from .page import render

__all__ = ["Card", "LabeledTable", "RowToCheck", "render"]
