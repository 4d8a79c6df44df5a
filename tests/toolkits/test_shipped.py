"""Every toolkit that ships is what the house expects of one."""

from importlib import import_module
from pathlib import Path

import pytest

import toolcrib.toolkits as shipped
from toolcrib.assemble.kits import find_toolkits
from toolcrib.catalog.toolkit import Situation

MODULES = sorted(path.stem for path in Path(shipped.__file__).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_a_toolkit_is_named_like_its_module(module):
    assert import_module(f"toolcrib.toolkits.{module}").TOOLKIT.key == module


def test_all_of_them_are_found():
    assert [toolkit.key for toolkit in find_toolkits()] == MODULES


@pytest.mark.parametrize("toolkit", find_toolkits(), ids=lambda toolkit: toolkit.key)
def test_guidance_names_no_member_that_is_not_available(toolkit):
    for left in toolkit.names:
        text = toolkit.guide(Situation(tuple(name for name in toolkit.names if name != left)))
        assert left not in text.replace(",", " ").replace(";", " ").split()
    assert toolkit.guide(Situation(toolkit.names))
