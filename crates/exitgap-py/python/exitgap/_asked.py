"""What crosses to the module: arguments, checked before a byte of them is copied, and documents back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

from . import _exitgap
from ._error import ExitgapError

#: A document: its bytes, its text, or the path of a file that has it.
Document: TypeAlias = "bytes | bytearray | memoryview | str | os.PathLike[str]"
#: A plain decimal, exactly: a number, or its text. Of a float its shortest text counts.
DecimalInput: TypeAlias = "int | float | Decimal | str"

#: The most bytes of each kind of document.
LIMITS: dict[str, int] = json.loads(_exitgap.limits())
#: The most of a list.
MANY = 100
#: The most characters of a name, and of an address.
SHORT, LONG = 1_000, 2_048


def asked(function: Callable[..., Any], *arguments: Any, called: Mapping[str, str] = MappingProxyType({})) -> Any:
    """What a function of the module answers. ``called``: names of arguments here, by those that the module knows."""
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
    """The document that a function of the module answers, read. Every number of it has fifteen digits at most, which
    a float holds: ``Decimal(str(number))`` is the very decimal that was written."""
    return parsed(asked(function, *arguments, called=called))


def parsed(text: str) -> Any:
    """A document's text, read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExitgapError("not_as_specified", f"the answer is no document: {error}") from None


def wrong(field: str, why: str, hint: str | None = None) -> ExitgapError:
    """The error of an argument."""
    return ExitgapError("invalid_parameter", f"{field}: {why}", field=field, hint=hint)


def content(value: Document, field: str, most: int) -> bytes:
    """The bytes of a document: at most so many."""
    if isinstance(value, os.PathLike):
        value = _file(value, field, most)
    elif isinstance(value, str):
        _bounded(len(value), field, most)
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise wrong(field, "it is no text of Unicode's") from None
    elif isinstance(value, (bytearray, memoryview)):
        _bounded(value.nbytes if isinstance(value, memoryview) else len(value), field, most)
        value = bytes(value)
    elif not isinstance(value, bytes):
        hint = "pass the document as it is served, not parsed: its bytes, its text, or a pathlib.Path"
        raise wrong(field, f"{kind(value)} is no document", hint)
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
        raise wrong(field, f"more than the {most} bytes accepted")


def text(value: Any, field: str, most: int = SHORT) -> str:
    """A text of at most so many characters."""
    if not isinstance(value, str):
        raise wrong(field, f"{kind(value)} is no text")
    if len(value) > most:
        raise wrong(field, f"more than {most} characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise wrong(field, "it is no text of Unicode's")
    return value


def maybe(value: Any, field: str) -> str | None:
    """A text, where there is one."""
    return None if value is None else text(value, field)


def decimal(value: Any, field: str) -> str:
    """The plain decimal text of a number; what it may hold is judged where it is read."""
    if isinstance(value, str):
        return text(value, field)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise wrong(field, f"{kind(value)} is neither a number nor the text of one")
    # No size has so many digits, and to write them would take long.
    if isinstance(value, int) and value.bit_length() > 300:
        raise wrong(field, "it is out of all bounds")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    exponent = exact.as_tuple().exponent
    if not isinstance(exponent, int):
        raise wrong(field, f"{exact} is no decimal")
    if not -80 < exponent < 80:
        raise wrong(field, "it is out of all bounds")
    plain = format(exact, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def whole(value: Any, field: str, most: int = 2**32 - 1) -> int:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise wrong(field, f"{kind(value)} is no whole number from 0 to {most}")
    return value


def several(value: Any, field: str, read: Callable[[Any, str], str]) -> list[str]:
    """Texts, each of one line: one by itself stands for a list of it, ``None`` for none."""
    if value is None:
        return []
    if isinstance(value, (str, int, float, Decimal)):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray, memoryview)):
        raise wrong(field, f"{kind(value)} is no list")
    found: list[str] = []
    for one in value:
        if len(found) == MANY:
            raise wrong(field, f"more than {MANY}")
        found.append(read(one, field))
    if any(not one.strip() or "\n" in one.strip() for one in found):
        raise wrong(field, "an empty text, or one of several lines")
    return [one.strip() for one in found]


def base_of(value: Any) -> str:
    """The token sold: a snapshot does not say which one a pool sells by default."""
    if value is None:
        raise wrong("base", "no token is named", "token0, token1, a symbol or an address")
    return text(value, "base")


def kind(value: object) -> str:
    """What a value is, in words."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
