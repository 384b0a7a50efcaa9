"""Chat models over OpenAI-compatible servers: retries, budget, cost, record and replay.

>>> import os
>>> from graphloc.llm import ModelSettings, OpenAIChatModel
>>> settings = ModelSettings.from_environment(
...     os.environ, model="qwen3", base_url="http://127.0.0.1:8080/v1"
... )

``OpenAIChatModel(settings)`` then needs the extra ``graphloc[llm]``; importing this does not.
"""

from graphloc.llm.budget import Budget, Ledger, UsageReport
from graphloc.llm.client import OpenAIChatModel
from graphloc.llm.prices import Price, load_prices, prices_from_environment
from graphloc.llm.prompt import Prompt, Stability
from graphloc.llm.record import RecordMode, ReplyRecord
from graphloc.llm.retry import RetryPolicy
from graphloc.llm.settings import ModelSettings, NativeMode, RecordSettings

__all__ = [
    "Budget",
    "Ledger",
    "ModelSettings",
    "NativeMode",
    "OpenAIChatModel",
    "Price",
    "Prompt",
    "RecordMode",
    "RecordSettings",
    "ReplyRecord",
    "RetryPolicy",
    "Stability",
    "UsageReport",
    "load_prices",
    "prices_from_environment",
]
