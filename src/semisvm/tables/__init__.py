"""Tables of files: read with their cells as they are, columns to features, the target to labels.

Importing this package is light; its modules import what they need.
"""


class InputError(Exception):
    """Input that cannot be used; the message is the one sentence that is printed."""
