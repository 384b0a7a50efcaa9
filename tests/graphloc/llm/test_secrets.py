"""The key appears in the Authorization header and nowhere else."""

from __future__ import annotations

import logging
import pickle
import traceback

import pytest
from pydantic import SecretStr

from graphloc.llm import ModelSettings, RetryPolicy
from graphloc.llm.errors import ModelError, ModelSettingsError
from tests.fakes.chat_server import Drop, Raw, SeenRequest, Slow, Status, Text

KEY = "sk-marker-5f1d9c0b7a3e"


def chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def test_the_key_is_sent(connect, ask):
    line = connect([Text("ok")], api_key=SecretStr(KEY))
    line.model.complete(ask())
    assert line.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "failure",
    [
        Status(401, f"Incorrect API key provided: {KEY}."),
        Status(400, f"bad header Authorization: Bearer {KEY}", param=KEY),
        Status(500, f"crashed with {KEY}"),
        Status(429, KEY),
        Raw(f"<html>{KEY}</html>"),
        Raw(f'{{"error": {{"message": "{KEY}"}}}}'),
        Drop(),
        Drop(after_bytes=30),
        Slow(30.0),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_no_error_nor_log_holds_the_key(connect, ask, failure, caplog):
    caplog.set_level(logging.DEBUG)
    line = connect(
        [failure] * 2,
        api_key=SecretStr(KEY),
        request_timeout_s=0.4,
        retry=RetryPolicy(max_attempts=2),
    )
    with pytest.raises(ModelError) as caught:
        line.model.complete(ask())
    for error in chain(caught.value):
        assert type(error).__module__.split(".")[0] not in {"openai", "httpx", "httpx2"}
        shown = [str(error), repr(error), *traceback.format_exception(error)]
        assert KEY not in "".join([*shown, repr(vars(error))])
    assert KEY.encode() not in pickle.dumps(caught.value)
    assert KEY not in caplog.text
    assert len(line.server.requests) >= 1


def test_no_repr_holds_the_key(connect):
    line = connect([], api_key=SecretStr(KEY))
    settings = ModelSettings.from_environment({"OPENAI_API_KEY": KEY, "GRAPHLOC_MODEL": "m"})
    assert settings.api_key.get_secret_value() == KEY
    assert KEY not in repr(settings) + str(settings) + repr(line.model) + repr(vars(line.model))


def test_the_record_does_not_hold_the_key(connect, ask, tmp_path, open_record):
    def echo(seen: SeenRequest) -> Text:
        return Text(f"you sent {seen.headers['authorization']}")

    path = tmp_path / "record"
    record = open_record(path)
    line = connect(echo, api_key=SecretStr(KEY), record=record)
    request = ask(f"my settings hold {KEY}")
    (reply,) = line.model.complete(request)
    assert reply.text == "you sent Bearer ***"
    assert line.model.complete(request) == (reply,)
    record.close()
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "url",
    [f"http://user:{KEY}@127.0.0.1/v1", f"http://{KEY}@host/v1", f"https://host/v1?key={KEY}"],
)
def test_a_url_that_holds_a_key_is_refused_without_showing_it(url):
    with pytest.raises(ModelSettingsError) as caught:
        ModelSettings(model="m", base_url=url)
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))


def test_stand_ins_for_a_key_do_not_blot_out_prose(connect, ask):
    line = connect([Text("That is not-needed.")], api_key=SecretStr("not-needed"))
    assert line.model.complete(ask())[0].text == "That is not-needed."
