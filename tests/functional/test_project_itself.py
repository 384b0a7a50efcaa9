"""graphloc on its own sources."""

from __future__ import annotations

import pytest

from tests.functional.conftest import PROJECT


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return tmp_path_factory.mktemp("index")


def test_every_file_parses(cli, index):
    document = cli("index", PROJECT, "--index-dir", index, "--json").json()
    assert document["files"] > 150
    assert document["failures"] == document["missing"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The index is not rebuilt when INDEX_VERSION changes", "indexes/store/schema.py"),
        ("split_identifier('HTTPServer') gives wrong parts", "indexes/text/tokenizer.py"),
        (
            "no room left on the disk for the index: message lacks the path",
            "indexes/store/errors.py",
        ),
        ("evaluate: bootstrap intervals are not reproducible", "graphloc/evaluation/statistics.py"),
    ],
)
def test_issues_lead_to_their_files(cli, index, text, expected):
    document = cli(
        "localize", PROJECT, "--index-dir", index, "--text", text, "--format", "json"
    ).json()
    assert expected in [found["path"] for found in document["files"][:3]]


def test_its_graph_holds_together(cli, index):
    document = cli("graph", "export", PROJECT, "--index-dir", index, "--to", "json").json()
    calls = {(e["source"], e["target"]) for e in document["edges"] if e["kind"] == "invokes"}
    assert ("graphloc/cli/repository.py:open_tree", "indexes/builder.py:build_index") in calls
    assert ("indexes/builder.py:build_index", "indexes/graph/assembly.py:build_graph") in calls
