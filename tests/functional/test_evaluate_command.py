"""``graphloc evaluate``."""

from __future__ import annotations

import json
import signal
import time

import pytest

from tests.functional.sample_trees import commit, git, make_repository


@pytest.fixture
def clones(tmp_path):
    """A folder of clones with one repository, bare."""
    make_repository(tmp_path / "origin")
    git(tmp_path, "clone", "--quiet", "--bare", "origin", "clones/acme__shop")
    return tmp_path / "clones"


def instance(number, base, text="discount_of is wrong for seasonal items", **fields):
    return {
        "instance_id": f"acme__shop-{number}",
        "repo": "acme/shop",
        "base_commit": base,
        "problem_statement": text,
        "edit_functions": ["shop/prices.py:discount_of"],
    } | fields


def write_dataset(path, *lines):
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


@pytest.fixture
def dataset(tmp_path, clones):
    head = git(clones / "acme__shop", "rev-parse", "main")
    lines = [
        instance(1, head),
        instance(2, head, "GiftCart.total", edit_functions=["shop/cart.py:GiftCart.total"]),
    ]
    return write_dataset(tmp_path / "data.jsonl", *lines)


def test_tables_of_all_methods(cli, clones, dataset):
    methods = [part for name in ("bm25", "jaccard", "graphloc") for part in ("--method", name)]
    result = cli("evaluate", dataset, "--repos", clones, "--jobs", 1, *methods)
    assert result.code == 0, result.err
    assert result.out.startswith("data.jsonl: 2 instances\n")
    for title in ("File level", "Module level", "Function level", "Comparisons"):
        assert title in result.out
    assert "graphloc, file level, by repository" in result.out
    rows = [line.split() for line in result.out.splitlines() if line.startswith("graphloc ")]
    assert rows[0][:3] == ["graphloc", "2", "100.0"]


def test_output_folder_and_json(cli, clones, dataset, tmp_path):
    result = cli(
        "evaluate", dataset, "--repos", clones, "--output", tmp_path / "out", "--jobs", 2, "--json"
    )
    assert result.code == 0
    document = result.json()
    assert document["schema"] == "graphloc.metrics/1"
    assert list(document["methods"]) == ["graphloc"]
    assert document["methods"]["graphloc"]["file"]["acc@1"] == 1.0
    assert json.loads((tmp_path / "out/metrics.json").read_text()) == document
    lines = (tmp_path / "out/predictions.jsonl").read_text().splitlines()
    assert {json.loads(line)["instance_id"] for line in lines} == {"acme__shop-1", "acme__shop-2"}
    first = json.loads(lines[0])
    assert {"found_files", "found_modules", "found_entities", "elapsed_ms"} <= set(first)
    assert (tmp_path / "out/index/acme__shop/index.sqlite").is_file()
    assert not (clones / "acme__shop/.graphloc").exists()


def test_index_dir(cli, clones, dataset, tmp_path):
    options = ("--repos", clones, "--index-dir", tmp_path / "ix", "--jobs", 1)
    assert cli("evaluate", dataset, *options).code == 0
    assert (tmp_path / "ix/acme__shop/index.sqlite").is_file()


def test_predictions_are_scored(cli, clones, dataset, tmp_path):
    line = {"instance_id": "acme__shop-1", "found_files": ["shop/prices.py"], "found_entities": []}
    predictions = write_dataset(tmp_path / "mine.jsonl", line)
    result = cli("evaluate", dataset, "--predictions", predictions, "--json")
    assert result.code == 1  # one instance has no prediction
    document = result.json()
    assert list(document["methods"]) == ["mine"]
    assert document["methods"]["mine"]["file"]["acc@1"] == 0.5
    both = cli(
        "evaluate",
        dataset,
        *("--predictions", predictions, "--method", "graphloc", "--repos", clones, "--json"),
    ).json()
    assert set(both["methods"]) == {"mine", "graphloc"}
    assert both["comparisons"]


def test_a_map_names_clones(cli, dataset, clones, tmp_path):
    (tmp_path / "map.toml").write_text('"acme/shop" = "clones/acme__shop"\n')
    result = cli("evaluate", dataset, "--repo-map", tmp_path / "map.toml", "--jobs", 1)
    assert result.code == 0
    (tmp_path / "map.json").write_text('{"acme/shop": "nowhere"}')
    result = cli("evaluate", dataset, "--repo-map", tmp_path / "map.json", "--jobs", 1)
    assert result.code == 1
    assert "correct the map" in result.out


def test_test_files_count_only_when_wanted(cli, clones, tmp_path):
    head = git(clones / "acme__shop", "rev-parse", "main")
    gold = ["tests/test_cart.py:test_total_of_an_empty_cart"]
    text = "test_total_of_an_empty_cart is flaky"
    dataset = write_dataset(tmp_path / "d.jsonl", instance(1, head, text, edit_functions=gold))
    options = ("--repos", clones, "--jobs", 1, "--include-tests", "--json")
    document = cli("evaluate", dataset, *options).json()
    assert document["methods"]["graphloc"]["function"]["acc@1"] == 1.0


def test_a_line_that_is_no_json_fails_alone(cli, clones, tmp_path):
    head = git(clones / "acme__shop", "rev-parse", "main")
    dataset = write_dataset(tmp_path / "d.jsonl", instance(1, head), "{not json", '{"a": 1}')
    result = cli("evaluate", dataset, "--repos", clones, "--jobs", 1, "--json")
    assert result.code == 1
    assert f"{dataset}:2: is not JSON" in result.err
    assert f"{dataset}:3: lacks instance_id" in result.err
    document = result.json()
    assert document["n"] == 3
    assert document["methods"]["graphloc"]["file"]["acc@1"] == pytest.approx(1 / 3)
    hopeless = write_dataset(tmp_path / "e.jsonl", "{not json")
    result = cli("evaluate", hopeless, "--repos", clones)
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_a_commit_that_is_missing_fails_alone(cli, clones, tmp_path):
    head = git(clones / "acme__shop", "rev-parse", "main")
    absent = instance(2, "0" * 40)
    unnamed = {key: value for key, value in instance(3, head).items() if key != "base_commit"}
    dataset = write_dataset(tmp_path / "d.jsonl", instance(1, head), absent, unnamed)
    result = cli("evaluate", dataset, "--repos", clones, "--jobs", 1, "--json")
    assert result.code == 1
    reasons = {f["instance_id"]: f["reason"] for f in result.json()["failures"]}
    assert "0" * 40 in reasons["acme__shop-2"]
    assert "lacks base_commit" in reasons["acme__shop-3"]


def test_an_empty_problem_statement_fails_alone(cli, clones, tmp_path):
    head = git(clones / "acme__shop", "rev-parse", "main")
    dataset = write_dataset(tmp_path / "d.jsonl", instance(1, head), instance(2, head, "  "))
    result = cli("evaluate", dataset, "--repos", clones, "--jobs", 1, "--json")
    assert result.code == 1
    (failure,) = result.json()["failures"]
    assert failure["instance_id"] == "acme__shop-2"
    assert "the issue is empty" in failure["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.jsonl",), "missing.jsonl cannot be read"),
        (("data.jsonl", "--method", "magic"), "there is no method magic"),
        (("data.jsonl", "--predictions", "none.jsonl"), "none.jsonl cannot be read"),
        (("data.jsonl", "--repo-map", "none.toml"), "none.toml cannot be read"),
        (("data.jsonl", "--resume"), "--resume needs the --output"),
    ],
)
def test_wrong_input(cli, dataset, arguments, message):
    result = cli("evaluate", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


def test_an_unreachable_scheduler(cli, dataset, clones):
    result = cli(
        *("evaluate", dataset, "--repos", clones, "--engine", "dask"),
        *("--scheduler", "tcp://127.0.0.1:1"),
    )
    assert result.code == 2
    assert "tcp://127.0.0.1:1" in result.err


def make_history(clones, tmp_path, count):
    """A dataset of so many instances, each at a commit of its own."""
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", str(clones / "acme__shop"), "work")
    lines = []
    for number in range(count):
        (work / "shop/extra.py").write_text(f"def extra_{number}():\n    pass\n")
        lines.append(instance(number, commit(work)))
    git(work, "push", "--quiet", "origin", "HEAD")
    return write_dataset(tmp_path / "many.jsonl", *lines)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_is_resumed(cli, clones, tmp_path, end):
    dataset = make_history(clones, tmp_path, 25)
    options = ("--repos", clones, "--output", tmp_path / "out", "--jobs", 1)
    process = cli.start("evaluate", dataset, *options, start_new_session=True)
    written = tmp_path / "out/predictions.jsonl"
    while process.poll() is None and not (
        written.exists() and written.read_bytes().count(b"\n") >= 3
    ):
        time.sleep(0.01)
    process.send_signal(end)
    process.communicate(timeout=60)
    assert process.returncode == (130 if end == signal.SIGINT else -signal.SIGKILL)
    done = [json.loads(line) for line in written.read_text().splitlines()]
    assert 3 <= len(done) < 25
    result = cli("evaluate", dataset, *options, "--resume", "--json")
    assert result.code == 0
    after = [json.loads(line) for line in written.read_text().splitlines()]
    assert after[: len(done)] == done
    assert len({line["instance_id"] for line in after}) == len(after) == 25


def test_a_resumed_run_must_be_the_same(cli, clones, dataset, tmp_path):
    options = ("--repos", clones, "--output", tmp_path / "out", "--jobs", 1)
    assert cli("evaluate", dataset, *options).code == 0
    result = cli("evaluate", dataset, *options, "--method", "bm25", "--resume")
    assert result.code == 2
    assert "holds a run with another methods" in result.err
