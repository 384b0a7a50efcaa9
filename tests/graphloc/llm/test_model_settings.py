"""Settings from arguments and the environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphloc.llm import ModelSettings, RecordMode, RecordSettings
from graphloc.llm.errors import ModelSettingsError
from tests.fakes.chat_server import Text

ROOT = Path(__file__).resolve().parents[3]
LOCAL = "http://127.0.0.1:8080/v1"


def test_arguments_go_before_the_environment():
    environ = {"GRAPHLOC_MODEL": "a", "OPENAI_BASE_URL": LOCAL}
    assert ModelSettings.from_environment(environ).model == "a"
    chosen = ModelSettings.from_environment(environ, model="b", base_url="http://[::1]:9/v1")
    assert (chosen.model, chosen.base_url) == ("b", "http://[::1]:9/v1")


def test_empty_variables_count_as_unset():
    settings = ModelSettings.from_environment(
        {"GRAPHLOC_MODEL": "a", "OPENAI_BASE_URL": "", "OPENAI_API_KEY": "k"}
    )
    assert settings.base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ({"base_url": LOCAL}, "GRAPHLOC_MODEL"),
        ({"model": "m"}, "OPENAI_API_KEY"),
        ({"model": "m", "base_url": "127.0.0.1:8080"}, "http://"),
        ({"model": "m", "base_url": "ftp://host/v1"}, "http://"),
        ({"model": "m", "base_url": "http://host:99999/v1"}, "http://"),
        ({"model": "m", "base_url": LOCAL, "max_concurrency": 0}, "> 0"),
        ({"model": "m", "base_url": LOCAL, "request_timeout_s": 0.0}, "> 0"),
    ],
)
def test_what_cannot_work_is_told_with_a_hint(values, hint):
    with pytest.raises(ModelSettingsError, match=hint) as caught:
        ModelSettings(**{"model": "", **values})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        (LOCAL, True),
        ("http://localhost/v1", True),
        ("http://[::1]/v1", True),
        ("http://127.0.0.1.example.com/v1", False),
        ("https://example.com/v1", False),
    ],
)
def test_servers_on_this_machine_are_told_apart(url, loopback):
    assert ModelSettings(model="m", base_url=url).is_loopback is loopback


def test_a_server_on_this_machine_needs_no_key_and_no_proxy(connect, ask, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    line = connect([Text("ok")])
    assert line.model.complete(ask())[0].text == "ok"


def test_where_replies_are_recorded():
    read = RecordSettings.from_environment
    assert read({}) == RecordSettings()
    assert read({"GRAPHLOC_RECORD": "f"}) == RecordSettings(Path("f"), RecordMode.RECORD)
    assert read({}).open() is None
    replay = {"GRAPHLOC_RECORD": "f", "GRAPHLOC_RECORD_MODE": "replay"}
    assert read(replay).mode is RecordMode.REPLAY
    for wrong in ({"GRAPHLOC_RECORD_MODE": "replay"}, {"GRAPHLOC_RECORD_MODE": "on"}):
        with pytest.raises(ModelSettingsError, match="GRAPHLOC_RECORD"):
            read(wrong)


WITHOUT_OPENAI = """
import sys
sys.modules["openai"] = None
from graphloc.llm import ModelSettings, OpenAIChatModel
from indexes.errors import InputError
try:
    OpenAIChatModel(ModelSettings(model="m", base_url="http://127.0.0.1:9/v1"))
except InputError as error:
    sys.stdout.write(error.message)
"""


def test_without_the_package_the_command_to_install_it_is_told():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_OPENAI], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "pip install 'graphloc[llm]'" in run.stdout


def test_importing_the_client_imports_no_model_package():
    code = "import sys, graphloc.llm; sys.exit(bool({'openai', 'jsonschema'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
