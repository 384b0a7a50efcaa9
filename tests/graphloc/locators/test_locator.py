"""The locator on real repositories: answers, freshness, revisions, errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphloc import (
    Direction,
    EdgeKind,
    EmptyIssueError,
    EntityKind,
    EntityNotFoundError,
    InputError,
    Locator,
    OutsideRepositoryError,
    RepositoryNotFoundError,
    ResultLevel,
    RevisionNotFoundError,
)
from tests.functional.sample_trees import TRACEBACK, commit, git, make_repository, write


def test_locate_names_the_places_of_a_traceback(locator: Locator) -> None:
    found = locator.locate(TRACEBACK, top_k=3)
    assert found.functions[0].entity.path in {"shop/cart.py", "shop/prices.py"}
    assert {file.entity.id for file in found.files[:2]} == {"shop/cart.py", "shop/prices.py"}
    assert all(result.evidence for result in found.results)
    assert all(not result.entity.is_test for result in found.results)


@pytest.mark.parametrize("level", [ResultLevel.FILE, ResultLevel.CLASS, ResultLevel.FUNCTION])
def test_locate_names_one_level_only(locator: Locator, level: ResultLevel) -> None:
    results = locator.locate(TRACEBACK, level=level).results
    assert results
    assert {str(result.entity.kind) for result in results} == {str(level)}


def test_tests_are_ranked_on_request(locator: Locator) -> None:
    found = locator.locate("test_total_of_an_empty_cart fails", include_tests=True)
    assert any(result.entity.is_test for result in found.results)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_issue_is_refused(locator: Locator, text: str) -> None:
    with pytest.raises(EmptyIssueError):
        locator.locate(text)


def test_several_terms_take_turns(locator: Locator) -> None:
    found = locator.search_entity(["net_price", "wrapping_fee"], top_k=2)
    assert [(hit.rank, hit.term, hit.entity.id) for hit in found] == [
        (1, "net_price", "shop/prices.py:net_price"),
        (2, "wrapping_fee", "shop/cart.py:wrapping_fee"),
    ]
    assert found[0].matched[0] == "name"


def test_a_search_for_a_kind_finds_that_kind(locator: Locator) -> None:
    found = locator.search_entity("cart", [EntityKind.CLASS])
    assert {hit.entity.id for hit in found} == {"shop/cart.py:Cart", "shop/cart.py:GiftCart"}


@pytest.mark.parametrize("terms", ["", " ", [], ["", " "]])
def test_a_search_for_nothing_is_refused(locator: Locator, terms: str | list[str]) -> None:
    with pytest.raises(InputError, match="no term"):
        locator.search_entity(terms)


def test_downstream_is_what_an_entity_uses(locator: Locator) -> None:
    found = locator.traverse_graph(
        "shop/cart.py:Cart.total", Direction.DOWNSTREAM, 2, edge_kinds=[EdgeKind.INVOKES]
    )
    assert [(reached.entity.id, reached.hops) for reached in found.reached] == [
        ("shop/prices.py:net_price", 1),
        ("shop/prices.py:discount_of", 2),
    ]
    assert found.reached[0].edge.source == "shop/cart.py:Cart.total"
    assert found.reached[0].edge.line == 20
    assert not found.is_cut


def test_upstream_is_what_uses_an_entity(locator: Locator) -> None:
    found = locator.traverse_graph(
        "shop/prices.py:discount_of", Direction.UPSTREAM, 1, edge_kinds=[EdgeKind.INVOKES]
    )
    assert [reached.entity.id for reached in found.reached] == ["shop/prices.py:net_price"]


def test_entities_of_other_kinds_are_not_walked_through(locator: Locator) -> None:
    kinds = [EntityKind.FILE, EntityKind.CLASS]
    found = locator.traverse_graph(
        "shop/cart.py", Direction.DOWNSTREAM, 3, edge_kinds=[EdgeKind.CONTAINS], entity_kinds=kinds
    )
    assert {reached.entity.id for reached in found.reached} == {
        "shop/cart.py:Cart",
        "shop/cart.py:GiftCart",
    }


def test_retrieved_code_is_the_files_own(locator: Locator, shop: Path) -> None:
    (code,) = locator.retrieve_entity("shop/prices.py:net_price")
    span = code.entity.span
    lines = (shop / "shop/prices.py").read_text().split("\n")
    assert list(code.lines) == lines[span.start_line - 1 : span.end_line]
    assert code.numbered_code.startswith(f"{span.start_line:>2}| def net_price(item):")
    assert [edge.target for edge in code.uses] == ["shop/prices.py:discount_of"]
    assert "shop/cart.py:Cart.total" in {edge.source for edge in code.used_by}


def test_a_folder_has_no_code_but_contents(locator: Locator) -> None:
    (folder,) = locator.retrieve_entity("shop")
    assert folder.lines == ()
    assert folder.contains == ("shop/__init__.py", "shop/cart.py", "shop/prices.py")


def test_explain_says_the_rank_and_the_reasons(locator: Locator) -> None:
    found = locator.explain(TRACEBACK, "shop/prices.py:net_price")
    ranked = locator.locate(TRACEBACK, include_tests=True).functions
    assert found.rank == next(r.rank for r in ranked if r.entity.name == "net_price")
    assert any(evidence.signal == "traceback" for evidence in found.evidence)
    assert found.best == ranked[0].entity.id


def test_explain_connects_an_entity_with_the_best_one(locator: Locator) -> None:
    found = locator.explain("PriceError of Cart.add", "shop/prices.py:discount_of")
    ends = {end for edge in found.path for end in (edge.source, edge.target)}
    assert {found.best, "shop/prices.py:discount_of"} <= ends


def test_refresh_reads_changed_files_only(locator: Locator, shop: Path) -> None:
    assert locator.refresh().n_read == 4
    assert not locator.refresh().has_changed
    write(shop, {"shop/prices.py": "def rebate():\n    return 1\n", "shop/new.py": "NEW = 1\n"})
    refreshed = locator.refresh()
    assert (refreshed.n_read, refreshed.n_files, refreshed.has_changed) == (2, 5, True)
    assert locator.search_entity("rebate")[0].entity.id == "shop/prices.py:rebate"
    (shop / "shop/new.py").unlink()
    assert locator.refresh().n_files == 4


def test_code_of_a_changed_file_is_never_the_wrong_lines(locator: Locator, shop: Path) -> None:
    path = shop / "shop/prices.py"
    locator.refresh()
    path.write_text("# one more line\n" + path.read_text())
    (code,) = locator.retrieve_entity("shop/prices.py:net_price")
    assert code.lines[0] == "def net_price(item):"


def test_code_of_a_deleted_file_cannot_be_had(locator: Locator, shop: Path) -> None:
    locator.refresh()
    (shop / "shop/prices.py").unlink()
    with pytest.raises(EntityNotFoundError, match="refresh"):
        locator.retrieve_entity("shop/prices.py:net_price")


def test_progress_is_told_while_indexing(shop: Path) -> None:
    stages: list[str] = []
    with Locator(shop) as locator:
        locator.refresh(lambda stage, done, total: stages.append(stage))
    assert {"read", "graph", "store"} <= set(stages)


def test_an_error_in_the_own_callback_ends_the_work_and_nothing_else(shop: Path) -> None:
    def give_up(stage: str, done: int, total: int) -> None:
        raise KeyError(stage)

    with Locator(shop) as locator:
        with pytest.raises(KeyError):
            locator.refresh(give_up)
        assert locator.refresh().n_files == 4


def test_a_revision_is_read_without_a_checkout(shop: Path, tmp_path: Path) -> None:
    first = git(shop, "rev-parse", "HEAD")
    write(shop, {"shop/prices.py": "def rebate():\n    return 1\n"})
    commit(shop)
    git(tmp_path, "clone", "--quiet", "--bare", str(shop), "bare.git")
    bare = tmp_path / "bare.git"
    with Locator(bare, first) as old, Locator(bare) as new:
        assert old.revision == first
        (code,) = old.retrieve_entity("shop/prices.py:discount_of")
        assert code.lines[0] == "def discount_of(item):"
        assert old.refresh().has_changed is False
        assert new.search_entity("rebate")
        assert not old.search_entity("rebate", [EntityKind.FUNCTION])


def test_a_branch_is_followed(shop: Path) -> None:
    with Locator(shop, "main") as locator:
        locator.refresh()
        write(shop, {"shop/prices.py": "def rebate():\n    return 1\n"})
        newest = commit(shop)
        refreshed = locator.refresh()
        assert (refreshed.revision, refreshed.n_read) == (newest, 1)
        assert locator.search_entity("rebate")[0].entity.id == "shop/prices.py:rebate"


def test_a_process_holds_many_repositories(tmp_path: Path) -> None:
    roots = [
        make_repository(tmp_path / f"r{n}", {"m.py": f"def task_{n}():\n    pass\n"})
        for n in range(5)
    ]
    locators = [Locator(root) for root in roots]
    try:
        found = [locator.search_entity("task", [EntityKind.FUNCTION]) for locator in locators]
        names = [[hit.entity.name for hit in hits] for hits in found]
        assert names == [[f"task_{n}"] for n in range(5)]
    finally:
        for locator in locators:
            locator.close()


def test_an_index_can_be_kept_elsewhere(shop: Path, tmp_path: Path) -> None:
    with Locator(shop, index_dir=tmp_path / "index") as locator:
        locator.refresh()
    assert (tmp_path / "index" / "index.sqlite").is_file()
    assert not (shop / ".graphloc").exists()


def test_a_file_is_no_place_for_an_index(shop: Path) -> None:
    with Locator(shop, index_dir=shop / "shop/cart.py") as locator, pytest.raises(InputError):
        locator.refresh()


def test_what_is_not_there_is_said_at_once(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(RepositoryNotFoundError):
        Locator(tmp_path / "nowhere")
    with pytest.raises(RevisionNotFoundError):
        Locator(shop, "no-such-branch")


def test_a_repository_without_code_answers_with_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "empty", {"README": "nothing"})
    with Locator(root) as locator:
        assert locator.locate("Cart.total is wrong").results == ()
        assert locator.search_entity("Cart") == ()
        assert locator.repository_map().text == ""


@pytest.mark.parametrize("name", ["top_k", "hops", "max_tokens"])
def test_counts_below_one_are_refused(locator: Locator, name: str) -> None:
    asks = {
        "top_k": lambda: locator.locate("Cart", top_k=0),
        "hops": lambda: locator.traverse_graph("shop", hops=0),
        "max_tokens": lambda: locator.repository_map(0),
    }
    with pytest.raises(InputError, match=f"{name} is 0"):
        asks[name]()


@pytest.mark.parametrize(
    "name",
    [
        "shop/prices.py:net_price",
        "./shop/prices.py:net_price",
        "shop/../shop/prices.py:net_price",
        "net_price",
        "net_price()",
    ],
)
def test_an_entity_may_be_named_in_several_ways(locator: Locator, name: str) -> None:
    assert locator.retrieve_entity(name)[0].entity.id == "shop/prices.py:net_price"


def test_an_absolute_path_inside_is_taken(locator: Locator, shop: Path) -> None:
    (code,) = locator.retrieve_entity(f"{shop}/shop/cart.py:Cart.add")
    assert code.entity.id == "shop/cart.py:Cart.add"


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "..", "shop/../../x.py:f", "~/x.py", "/etc/passwd:root"],
)
def test_paths_that_leave_the_repository_are_refused(locator: Locator, name: str) -> None:
    for ask in (locator.retrieve_entity, locator.traverse_graph):
        with pytest.raises(OutsideRepositoryError):
            ask(name)
    with pytest.raises(OutsideRepositoryError):
        locator.explain("Cart", name)


@pytest.mark.parametrize("name", ["Cart.subtract", "", "\0", "\ud800", "x" * 10_000, "total"])
def test_an_entity_that_is_not_there_is_said_in_printable_words(
    locator: Locator, name: str
) -> None:
    with pytest.raises(EntityNotFoundError) as caught:
        locator.retrieve_entity(name)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 1_000


def test_a_close_name_is_proposed(locator: Locator) -> None:
    with pytest.raises(EntityNotFoundError, match=r"did you mean shop/cart\.py:Cart\.add"):
        locator.retrieve_entity("shop/cart.py:add")


def test_a_link_out_of_the_repository_shows_nothing(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("SECRET = 1\n\n\ndef secret():\n    pass\n")
    os.symlink(tmp_path / "secret.py", shop / "shop/link.py")
    with Locator(shop) as locator:
        assert locator.search_entity("secret") == ()
        locator.refresh()
        (shop / "shop/cart.py").unlink()
        os.symlink(tmp_path / "secret.py", shop / "shop/cart.py")
        with pytest.raises(EntityNotFoundError):
            locator.retrieve_entity("shop/cart.py")


def test_names_that_are_not_utf8_can_be_asked_for_as_printed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "odd", {"ok.py": "def f():\n    pass\n"})
    with open(os.fsencode(root) + b"/b\xff.py", "wb") as file:
        file.write(b"def odd():\n    pass\n")
    with Locator(root) as locator:
        (code,) = locator.retrieve_entity("b\\xff.py:odd")
        assert code.lines[0] == "def odd():"
