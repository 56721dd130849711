"""Examples in docstrings and pages do what they say."""

import doctest
import importlib
import importlib.machinery
import importlib.util
import inspect
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODULES = ["muster", "muster._views", "muster.cluster", "muster.engine", "muster.env", "muster.learn", "muster.policy", "muster.result", "muster.run",
           "muster.solve", "muster.trace"]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, in_tmp):
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, optionflags=OPTIONS)
    assert outcome.attempted > 0 and outcome.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", []):
        thing = getattr(module, public)
        if callable(thing):
            assert thing.__doc__, f"{name}.{public} has no docstring"


def test_the_reference_is_ours():
    """What a class inherits without a docstring of its own would be told in somebody else's words."""
    for module in ("muster", "muster.policy", "muster.solve", "muster.learn", "muster.env"):
        module = importlib.import_module(module)
        for public in module.__all__:
            thing = getattr(module, public)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if member.startswith("_") or not callable(value) or value.__doc__:
                    continue
                assert not inspect.getdoc(getattr(thing, member)), f"{public}.{member} has the docstring of a base class"


@pytest.mark.parametrize("name", ["muster", "muster.policy", "muster.solve", "muster.learn", "muster.env"])
def test_everything_public_has_an_example(name):
    """A function in its own docstring; what a class has in its own or in that of the class."""
    module = importlib.import_module(name)
    for public in module.__all__:
        thing = getattr(module, public)
        if not callable(thing) or public == "Adapted" or isinstance(thing, type) and issubclass(thing, Exception):
            continue
        example = (thing.__doc__ or "") + (module.__doc__ or "" if isinstance(thing, type) else "")
        assert ">>>" in example, f"{name}.{public} has no example"
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if member.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod))):
                continue
            own = getattr(getattr(thing, member), "__doc__", None) if not isinstance(value, property) else value.__doc__
            assert f".{member}" in example or ">>>" in (own or ""), f"{name}.{public}.{member} has no example"


def test_reference_is_up_to_date():
    """docs/python-reference.md is what scripts/python-reference writes."""
    if sys.version_info[:2] != (3, 11):
        pytest.skip("signatures are printed differently by other versions of Python")
    spec = importlib.util.spec_from_loader(
        "reference", importlib.machinery.SourceFileLoader("reference", str(ROOT / "scripts" / "python-reference")))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "python-reference.md").read_text() == module.page()


def code_blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_pages(page, in_tmp):
    """The blocks of a page, one after the other, in one namespace."""
    blocks = code_blocks(page)
    assert blocks
    space = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number + 1}", "exec"), space)
