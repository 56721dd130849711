"""Progress of long calls: tqdm where it is there, else nothing."""

import sys
import time


class Display:
    """Shows how far a run is. `wanted` None: on a terminal or in a notebook, once the run takes a while."""

    AFTER_S = 1.0

    def __init__(self, wanted, total, unit):
        self._wanted, self._total, self._unit = wanted, total, unit
        self._bar = None
        self._began = time.monotonic()
        self.show = None if wanted is False else self._show

    def _show(self, done):
        if self._bar is None:
            if time.monotonic() - self._began < self.AFTER_S and not self._wanted:
                return
            self._bar = self._make()
        if self._bar:
            self._bar.update(done - self._bar.n)

    def _make(self):
        notebook = "ipykernel" in sys.modules
        if not self._wanted and not notebook and not sys.stderr.isatty():
            return False
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return False
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of notebooks without widgets
            return tqdm(total=self._total, unit=f" {self._unit}", leave=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar:
            self._bar.close()
