"""Keys and blobs that are in lakes: each form of canonical JSON keeps its bytes."""

import pytest

from evolake.canonical_json import canonical_json, key_of

VALUE = {"b": [1, 0.5, None, True], "a": {"ü": "line\n"}}


def test_equal_values_have_one_text_and_one_key():
    turned = {"a": {"ü": "line\n"}, "b": [1, 0.5, None, True]}
    assert canonical_json(VALUE) == canonical_json(turned) == '{"a":{"ü":"line\\n"},"b":[1,0.5,null,true]}'
    assert (
        key_of(VALUE) == key_of(turned) == "54469840a8c810e656684219ccf22f7e159b9dc14af36a427d919eede50b66be"
    )


def test_the_form_with_escapes_has_a_key_of_its_own():
    assert canonical_json(VALUE, ascii_only=True) == '{"a":{"\\u00fc":"line\\n"},"b":[1,0.5,null,true]}'
    assert (
        key_of(VALUE, ascii_only=True) == "f98771089e1d4818ce5dec68450933effdf284823c7a690d601c7deb9691bbff"
    )


def test_a_number_that_is_none_is_refused_where_none_may_be():
    assert canonical_json(float("nan")) == "NaN"
    with pytest.raises(ValueError, match="not JSON compliant"):
        key_of(float("nan"), allow_nan=False)
