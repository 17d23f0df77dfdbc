"""Calls into the module: arguments, checked before a byte of them is copied, and the returned documents."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

from . import _exitgap
from ._error import ExitgapError

#: A document: its bytes, its text, or the path of its file.
Document: TypeAlias = "bytes | bytearray | memoryview | str | os.PathLike[str]"
#: An exact plain decimal: a number, or its text. For a float, its shortest text counts.
DecimalInput: TypeAlias = "int | float | Decimal | str"

#: The maximum number of bytes for each kind of document.
LIMITS: dict[str, int] = json.loads(_exitgap.limits())
#: The maximum length of a list.
MANY = 100
#: The maximum number of characters in a name, and in an address.
SHORT, LONG = 1_000, 2_048


def asked(function: Callable[..., Any], *arguments: Any, called: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Calls a function of the module. ``called``: names of arguments here, by the names that the module knows."""
    try:
        return function(*arguments)
    except _exitgap.Refused as refused:
        told = json.loads(refused.args[0])
    if "field" in told:
        told["field"] = called.get(told["field"], told["field"])
    raise ExitgapError(told.pop("code"), told.pop("message", ""), **told)


def document(
    function: Callable[..., str], *arguments: Any, called: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """The parsed document that a function of the module returns. Every number in it has at most fifteen digits, which
    a float can hold: ``Decimal(str(number))`` is exactly the decimal that was written."""
    return parsed(asked(function, *arguments, called=called))


def parsed(text: str) -> Any:
    """Parses a document's text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExitgapError("not_as_specified", f"the answer is not a valid document: {error}") from None


def wrong(field: str, why: str, hint: str | None = None) -> ExitgapError:
    """The error of an argument."""
    return ExitgapError("invalid_parameter", f"{field}: {why}", field=field, hint=hint)


def content(value: Document, field: str, most: int) -> bytes:
    """The bytes of a document, up to a maximum."""
    if isinstance(value, os.PathLike):
        value = _file(value, field, most)
    elif isinstance(value, str):
        _bounded(len(value), field, most)
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise wrong(field, "it is not valid Unicode text") from None
    elif isinstance(value, (bytearray, memoryview)):
        _bounded(value.nbytes if isinstance(value, memoryview) else len(value), field, most)
        value = bytes(value)
    elif not isinstance(value, bytes):
        hint = "pass the document as served, not parsed: its bytes, its text, or a pathlib.Path"
        raise wrong(field, f"{kind(value)} is not a document", hint)
    _bounded(len(value), field, most)
    return value


def _file(path: os.PathLike[str], field: str, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        raise ExitgapError("source_unreadable", f"{field}: {error}", field=field) from None


def _bounded(found: int, field: str, most: int) -> None:
    if found > most:
        raise wrong(field, f"it is longer than {most} bytes")


def text(value: Any, field: str, most: int = SHORT) -> str:
    """A text, up to a maximum number of characters."""
    if not isinstance(value, str):
        raise wrong(field, f"{kind(value)} is not a text")
    if len(value) > most:
        raise wrong(field, f"it is longer than {most} characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise wrong(field, "it is not valid Unicode text")
    return value


def maybe(value: Any, field: str) -> str | None:
    """A text, or ``None``."""
    return None if value is None else text(value, field)


def decimal(value: Any, field: str) -> str:
    """The plain decimal text of a number. Its range is checked later, where it is parsed."""
    if isinstance(value, str):
        return text(value, field)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise wrong(field, f"{kind(value)} is neither a number nor a number as text")
    # No size has so many digits, and to write them would take long.
    if isinstance(value, int) and value.bit_length() > 300:
        raise wrong(field, "it is out of range")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    exponent = exact.as_tuple().exponent
    if not isinstance(exponent, int):
        raise wrong(field, f"{exact} is not a decimal")
    if not -80 < exponent < 80:
        raise wrong(field, "it is out of range")
    plain = format(exact, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def whole(value: Any, field: str, most: int = 2**32 - 1) -> int:
    """A whole number, from 0 up to a maximum."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise wrong(field, f"{kind(value)} is not a whole number from 0 to {most}")
    return value


def several(value: Any, field: str, read: Callable[[Any, str], str]) -> list[str]:
    """Texts, each of one line. A single text counts as a list of one, ``None`` as an empty list."""
    if value is None:
        return []
    if isinstance(value, (str, int, float, Decimal)):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray, memoryview)):
        raise wrong(field, f"{kind(value)} is not a list")
    found: list[str] = []
    for one in value:
        if len(found) == MANY:
            raise wrong(field, f"it has more than {MANY} entries")
        found.append(read(one, field))
    if any(not one.strip() or "\n" in one.strip() for one in found):
        raise wrong(field, "it contains an empty text or a text of several lines")
    return [one.strip() for one in found]


def base_of(value: Any) -> str:
    """The token sold. A snapshot does not state which token a pool sells by default."""
    if value is None:
        raise wrong("base", "no token is named", "pass token0, token1, a symbol or an address")
    return text(value, "base")


def kind(value: object) -> str:
    """The kind of a value, in words."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
