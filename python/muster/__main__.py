"""The command `muster` from the package: the same command, and policies as FILE.py:NAME."""

import os
import pathlib
import signal
import sys

from . import _core
from ._loading import Policies


def main():
    policies = Policies()
    _core.use_for_files(policies.core)
    os.environ.setdefault("MUSTER_PYTHON", sys.executable)  # for the policies of a daemon
    # A daemon looks for its keeper beside its own program, which is Python here; the package has one.
    keeper = pathlib.Path(__file__).resolve().parent / "bin" / "muster-keeper"
    if keeper.exists():
        os.environ.setdefault("MUSTER_KEEPER", str(keeper))
    # As in the command alone: Ctrl-C ends it, or its long work sees to it that it ends in good order.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _core.command(["muster", *sys.argv[1:]], policies.core, 60.0)


if __name__ == "__main__":
    sys.exit(main())
