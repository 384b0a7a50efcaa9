"""Methods for tests, importable by worker processes."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from graphloc.evaluation.methods import RankingContext
from graphloc.evaluation.model import Ranked, Ranking


@dataclass(frozen=True)
class PathOrder:
    """Ranks files by name, and one function that is always the same."""

    name: str = "path-order"
    fingerprint: str = "1"
    function: str = "calc.py:Adder.add"

    def rank(self, context: RankingContext) -> Ranking:
        files = tuple(Ranked(entry.path, 1.0, 0.5) for entry in context.find_entries())
        return Ranking(files=files, functions=(Ranked(self.function, 1.0, 1.0),))


@dataclass(frozen=True)
class Troubled:
    """Raises, dies or dawdles at instances whose id says so."""

    log: str
    """File to which the id of every instance that is begun is appended."""
    name: str = "troubled"
    fingerprint: str = "1"

    def rank(self, context: RankingContext) -> Ranking:
        instance_id = context.instance.instance_id
        with Path(self.log).open("a") as log:
            log.write(instance_id + "\n")
        if "raise" in instance_id:
            raise KeyError("no such thing")
        if "die" in instance_id:
            os.kill(os.getpid(), signal.SIGKILL)
        if "slow" in instance_id and not Path(self.log + ".go").exists():
            time.sleep(600)
        return PathOrder().rank(context)
