"""Columns from the core, as NumPy arrays and data frames."""

import difflib

import numpy as np


def array(raw, dtype):
    """The numbers in `raw`, bytes from the core. They cannot be written to: they are the core's answer."""
    return np.frombuffer(raw, dtype=dtype) if len(raw) else np.empty(0, dtype=dtype)


def arrays(columns, whole=()):
    """A dict of columns: bytes become floats, or integers where named in `whole`; lists stay text."""
    made = {}
    for name, values in columns.items():
        if isinstance(values, bytes):
            made[name] = array(values, np.int64 if name in whole else np.float64)
        else:
            made[name] = np.array(values, dtype=object)
    return made


def pandas():
    """pandas, or an error that says what it is for."""
    try:
        import pandas as found
    except ImportError as missing:
        raise ImportError("data frames need pandas: pip install pandas (columns as NumPy arrays do not)") from missing
    return found


def pyplot():
    try:
        import matplotlib.pyplot as found
    except ImportError as missing:
        raise ImportError("plots need Matplotlib: pip install matplotlib") from missing
    return found


def did_you_mean(name, known):
    """The end of a message about an unknown name: the nearest one, if there is one."""
    near = difflib.get_close_matches(str(name), known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""
