"""From what a description names to the policy object: objects given to simulate(), and FILE.py:NAME."""

import functools
import hashlib
import importlib.util
import inspect
import os
import sys

from . import _core
from ._tables import did_you_mean
from .policy import Adapted


class Policies:
    """The policies of one run that are written in Python."""

    def __init__(self, objects=None):
        # The core holds the function, which must not hold the core: no collector sees what the core holds.
        self.resolve = functools.partial(_resolve, dict(objects or {}))
        self.core = _core.PythonPolicies(self.resolve, set(objects or {}))


def _resolve(objects, kind, name, parameters):
    """The policy of that name; `objects` are those that were given, by kind and name."""
    target = objects.get((kind, name))
    if target is None:
        target = load(name)
    if inspect.isclass(target):
        target = target(**{key: _value(text) for key, text in parameters.items()})
    elif parameters:
        raise _core.Error(f"it takes no parameters, found {', '.join(parameters)}: only classes do")
    return Adapted(kind, target, name)


def load(name):
    """What FILE.py:NAME names."""
    path, _, wanted = name.partition(".py:")
    path += ".py" if wanted else ""
    if not wanted:
        raise _core.Error(f"'{name}' names no policy in the file: write {name}:NAME")
    if not os.path.isfile(path):
        raise _core.Error(f"cannot read {path}: there is no such file")
    # The same file is executed once per process, however many runs use it, and again when it was changed.
    full = os.path.abspath(path)
    status = os.stat(full)
    stamp = (status.st_mtime_ns, status.st_size)
    module_name = f"muster_policy_{hashlib.sha1(full.encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None or module.__dict__.get("__muster_stamp__") != stamp:
        spec = importlib.util.spec_from_file_location(module_name, full)
        module = importlib.util.module_from_spec(spec)
        module.__muster_stamp__ = stamp
        sys.modules[module_name] = module
        sys.path.insert(0, os.path.dirname(full))  # for what it imports
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
        finally:
            sys.path.remove(os.path.dirname(full))
    if not hasattr(module, wanted):
        names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise _core.Error(f"{path} defines no '{wanted}'{did_you_mean(wanted, names)}")
    return getattr(module, wanted)


def _value(text):
    """A parameter as it was meant: a number or a flag where it reads as one."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def name_of(target):
    """How a policy that was given as an object is called in tables and messages."""
    named = target if inspect.isclass(target) or inspect.isroutine(target) else type(target)
    name = getattr(named, "__name__", "policy")
    return "policy" if name == "<lambda>" else name
