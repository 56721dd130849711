"""What policies return, as the core reads it. What is in the arrays, the core checks itself."""

import numpy as np

_double = np.dtype(np.float64)
_GROUP = 4  # jobs that share GPUs, at most


def numbers_of(answer, view, cluster):
    """One number per job."""
    if type(answer) is np.ndarray and answer.dtype is _double and answer.ndim == 1 and answer.flags.c_contiguous:
        return answer
    made = np.asarray(answer)
    if made.ndim != 1 or made.dtype.kind not in "iufb":
        raise TypeError(f"returned {_what(answer)}, expected one number per job")
    return np.ascontiguousarray(made, dtype=np.float64)


def as_order(answer, view, cluster):
    """Places in the columns."""
    made = np.asarray(answer)
    if made.size == 0:
        return np.empty(0, dtype=np.int64)
    if made.ndim != 1 or made.dtype.kind not in "iu":
        raise TypeError(f"returned {_what(answer)}, expected places in the columns, as np.argsort gives them")
    return np.ascontiguousarray(made, dtype=np.int64)


def as_requests(answer, view, cluster):
    """Rows of how many jobs, up to four places, GPUs and the number of the GPU type or -1."""
    if isinstance(answer, np.ndarray) and answer.ndim == 1:
        return _sizes(answer, len(view))
    types = cluster.types()
    rows = []
    for request in answer:
        if not isinstance(request, (tuple, list)) or len(request) not in (2, 3):
            raise TypeError(f"returned the request {request!r}, expected (place, gpus) or (place, gpus, type)")
        places = request[0] if isinstance(request[0], (tuple, list, np.ndarray)) else (request[0],)
        if not 1 <= len(places) <= _GROUP:
            raise TypeError(f"returned a group of {len(places)} jobs, expected 1 to {_GROUP}")
        kind = -1
        if len(request) == 3 and request[2] is not None:
            if request[2] not in types:
                raise ValueError(f"returned the GPU type {request[2]!r}, the cluster has {', '.join(types)}")
            kind = types.index(request[2])
        gpus = _whole(request[1])
        if gpus > 0:
            places = [_whole(place) for place in places]
            rows.append([len(places), *places, *[0] * (_GROUP - len(places)), gpus, kind])
    return np.array(rows, dtype=np.int64).reshape(-1, 3 + _GROUP)


def _sizes(gpus, jobs):
    if gpus.dtype.kind not in "iu":
        raise TypeError(f"returned {_what(gpus)}, expected whole numbers of GPUs")
    if len(gpus) != jobs:
        raise ValueError(f"returned {len(gpus)} numbers of GPUs for {jobs} jobs")
    if (gpus < 0).any():
        raise ValueError("returned a negative number of GPUs")
    places = np.flatnonzero(gpus)
    rows = np.zeros((len(places), 3 + _GROUP), dtype=np.int64)
    rows[:, 0], rows[:, 1], rows[:, 1 + _GROUP], rows[:, 2 + _GROUP] = 1, places, gpus[places], -1
    return rows


def as_fractions(answer, problem):
    """A row per job and a column per GPU type."""
    made = np.asarray(answer, dtype=np.float64)
    if made.shape != problem.throughputs.shape:
        jobs, types = problem.throughputs.shape
        raise ValueError(f"returned {_what(made)}, expected {jobs} rows of {types} fractions")
    return np.ascontiguousarray(made)


def as_admission(answer):
    """What an admission policy says."""
    if isinstance(answer, (bool, np.bool_)):
        return "accept" if answer else "refuse"
    if answer in ("accept", "hold", "refuse"):
        return answer
    raise TypeError(f"returned {answer!r}, expected True (or \"accept\"), False (or \"refuse\") or \"hold\"")


def as_places(answer):
    """Pairs of node and GPUs, one after the other."""
    if answer is None:
        return None
    try:
        pairs = [(_whole(node), _whole(gpus)) for node, gpus in answer]
        return np.array(pairs, dtype=np.int64).reshape(-1)
    except (TypeError, ValueError):
        raise TypeError(f"returned {answer!r}, expected a list of (node, gpus), or None") from None


def _whole(value):
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"expected a whole number, found {value!r}")
    return int(value)


def _what(answer):
    if isinstance(answer, np.ndarray):
        return f"an array of {answer.dtype} with the shape {answer.shape}"
    return f"a {type(answer).__name__}"
