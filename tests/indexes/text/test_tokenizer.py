"""Names and prose become terms: tables of cases and properties over any Unicode text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.text import Tokenizer, split_identifier, tokenizer_version
from indexes.text.tokenizer import MAX_WORD_LENGTH, TOKENIZER_VERSION

IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("snake_case_name", ("snake", "case", "name")),
        ("camelCaseName", ("camel", "case", "name")),
        ("PascalCase", ("pascal", "case")),
        ("HTTPServer", ("http", "server")),
        ("parseHTTP2Response", ("parse", "http2", "response")),
        ("utf8", ("utf8",)),
        ("UTF8Decoder", ("utf8", "decoder")),
        ("md5_of_2to3", ("md5", "of", "2to3")),
        ("conv2d", ("conv2d",)),
        ("Conv2DTranspose", ("conv2d", "transpose")),
        ("base64URL", ("base64", "url")),
        ("getURLsFor", ("get", "urls", "for")),
        ("__getitem__", ("getitem",)),
        ("_private", ("private",)),
        ("MAX_SIZE", ("max", "size")),
        ("numpy.linalg.eigVals", ("numpy", "linalg", "eig", "vals")),
        ("X", ("x",)),
        ("___", ()),
        ("", ()),
        ("ÄußereÖffnung", ("äußere", "öffnung")),
        ("ﬁleName", ("file", "name")),
        ("数据_処理", ("数据", "処理")),
        ("ΑλφαΒήτα", ("αλφα", "βήτα")),
        ("हिन्दी_नाम", ("हिन्दी", "नाम")),
    ],
)
def test_identifiers_split_where_readers_see_parts(word: str, parts: tuple[str, ...]) -> None:
    assert split_identifier(word) == parts


@given(st.text())
def test_parts_are_lower_case_and_split_no_further(word: str) -> None:
    for part in split_identifier(word):
        assert part
        assert part == part.lower()
        assert split_identifier(part) == (part,)


@given(IDENTIFIERS)
def test_splitting_loses_only_underscores_and_case(word: str) -> None:
    assert "".join(split_identifier(word)) == word.replace("_", "").lower()


@given(st.text())
def test_any_text_has_lower_case_terms_with_no_stop_to_repeats(text: str) -> None:
    tokenizer = Tokenizer()
    terms = tokenizer.text_terms(text)
    assert terms == tokenizer.text_terms(text) == Tokenizer().text_terms(text)
    assert all(term and term == term.lower() for term in terms)


@given(st.text(alphabet="aZ_.`( ñ9'\n"))
def test_counted_words_are_the_words_in_order(text: str) -> None:
    tokenizer = Tokenizer()
    words = list(tokenizer.iter_words(text))
    assert tokenizer.text_words(text) == {word: words.count(word) for word in words}


@pytest.mark.parametrize(
    "names", [("get_user_names", "getUserNames", "GetUserNames", "GET_USER_NAMES")]
)
def test_conventions_of_naming_agree(names: tuple[str, ...]) -> None:
    tokenizer = Tokenizer()
    assert {tokenizer.identifier_terms(name) for name in names} == {
        ("get_user_names", "get", "user", "name")
    }


def test_a_simple_name_has_no_whole() -> None:
    assert Tokenizer().identifier_terms("__running__") == ("run",)


def test_prose_and_identifiers_share_stems() -> None:
    tokenizer = Tokenizer()
    assert set(tokenizer.text_terms("parsing configurations")) <= set(
        tokenizer.identifier_terms("parse_configuration")
    )


def test_prose_drops_stop_words_keywords_and_numbers() -> None:
    text = "If the import of 3 names doesn't work, it is None at 0x7f3a in version 1.12"
    assert Tokenizer().text_terms(text) == ["name", "work", "version"]


@pytest.mark.parametrize("text", ["`where`", "where()", "frame.where"])
def test_stop_words_stay_where_they_are_code(text: str) -> None:
    assert "where" in Tokenizer().text_terms(text)


def test_identifiers_inside_prose_are_split() -> None:
    assert Tokenizer().text_terms("Calling HTTPServer.serve_forever hangs") == [
        "call", "http_server", "http", "server", "serve_forever", "serv", "forev", "hang",
    ]  # fmt: skip


def test_encoded_data_has_no_terms() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.identifier_terms("a" * MAX_WORD_LENGTH)
    assert tokenizer.identifier_terms("a" * (MAX_WORD_LENGTH + 1)) == ()


def test_the_version_names_rules_and_stemmer() -> None:
    assert tokenizer_version().startswith(f"{TOKENIZER_VERSION}+snowball")
