"""What the tests of the Python package share."""
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "app"))

import linnet  # noqa: E402
import scripted_model  # noqa: E402
import test_server_clients  # noqa: E402
import tiny_model  # noqa: E402

BUNDLED = os.path.join(ROOT, "examples", "assistant", "model", "linnet-assistant.gguf")


@pytest.fixture(scope="session")
def bundled():
    with linnet.Model(BUNDLED) as model:
        yield model


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A Hugging Face folder of a tiny model."""
    made = tmp_path_factory.mktemp("tiny") / "model"
    tiny_model.make(made)
    return made


@pytest.fixture(scope="session")
def scripted(tmp_path_factory):
    """Models whose answers are known: hello, thinker, weather, both, ada."""
    home, models = tmp_path_factory.mktemp("scripted"), {}
    for name, (template, answers) in test_server_clients.MODELS.items():
        scripted_model.make(home / name, answers, template)
        models[name] = linnet.Model(home / name, cache=False)
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(scope="session")
def long_one():
    """A model that takes seconds for a long prompt."""
    with linnet.Model("synthetic:smollm2-135m", weights="i8g128", cache=False) as model:
        yield model
