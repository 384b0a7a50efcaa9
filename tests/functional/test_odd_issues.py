"""Issues that are not as one would wish."""

from __future__ import annotations

import pytest

from tests.functional.sample_trees import TRACEBACK


@pytest.mark.parametrize("text", [b"", b" \n\t\r\n ", b"\xef\xbb\xbf", b"\xff\xfe\n\x00"])
def test_an_empty_issue(cli, shop, text):
    result = cli("localize", shop, "--issue", "-", stdin=text)
    assert result.code == 2
    assert result.err == ("graphloc: the issue is empty: give it a title or a text to search for\n")
    assert cli("localize", shop, "--text", "  ").code == 2


def test_an_issue_file_that_is_not_there(cli, shop):
    result = cli("localize", shop, "--issue", "missing.md")
    assert result.code == 2
    assert result.err == (
        "graphloc: the issue missing.md cannot be read (No such file or directory): "
        "name a file, or - for stdin\n"
    )


def test_one_issue_is_needed(cli, shop):
    for arguments in ((), ("--issue", "-", "--text", "x")):
        result = cli("localize", shop, *arguments)
        assert result.code == 2
        assert "name one issue" in result.err


def test_an_issue_of_a_megabyte(cli, shop):
    log = "".join(f"2024-01-01 12:00:{n % 60:02} worker {n} did nothing\n" for n in range(26_000))
    text = TRACEBACK + "\n" + log
    assert len(text) > 1_000_000
    result = cli("localize", shop, "--issue", "-", "--format", "json", stdin=text.encode())
    assert result.code == 0
    assert {f["entity"] for f in result.json()["files"][:2]} == {"shop/cart.py", "shop/prices.py"}


def test_an_issue_in_another_language(cli, shop):
    text = (
        "Скидка не учитывается в корзине\n\nКогда я вызываю `discount_of` для сезонного товара, "
        "получаю ошибку. 季节性商品的折扣不正确。\n"
    )
    result = cli("localize", shop, "--issue", "-", "--format", "json", stdin=text.encode())
    assert result.code == 0
    document = result.json()
    assert document["issue"]["title"] == "Скидка не учитывается в корзине"
    assert document["functions"][0]["entity"] == "shop/prices.py:discount_of"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_issues_in_other_encodings(cli, shop, tmp_path, encoding):
    text = "discount_of ist falsch für Bücher\n"
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (tmp_path / "issue.txt").write_bytes(mark + text.encode(encoding))
    result = cli("localize", shop, "--issue", "issue.txt", "--format", "json")
    assert result.code == 0
    assert result.json()["functions"][0]["entity"] == "shop/prices.py:discount_of"


def test_control_characters_do_not_reach_the_terminal(cli, shop):
    text = b"\x1b]0;title\x07 GiftCart.total \x1b[31m\x00 fails `\x9b31m`\n"
    for output_format in ("table", "markdown", "json"):
        result = cli("localize", shop, "--issue", "-", "--format", output_format, stdin=text)
        assert result.code == 0
        assert not {"\x1b", "\x07", "\x00"} & set(result.out)
