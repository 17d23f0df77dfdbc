"""The one error of this package."""

from __future__ import annotations

from typing import Any


class ExitgapError(Exception):
    """Every error of this package, with a stable code.

    ``code``: what went wrong, such as ``beyond_liquidity`` or ``invalid_parameter``; a service may have codes that this
    version does not know. ``field``: the invalid argument. ``hint``: the remedy, if one is known. ``report``: every
    check, with the code ``not_proven``. ``size_usd``: the size that cannot be filled, USD. ``max_fillable_usd``: the largest size that can be filled, USD, with
    ``beyond_liquidity``. ``evidence_url``: evidence that the size cannot be filled. ``reason``: why a
    slot is missing. ``status`` and ``request_id``: the HTTP status, and the answer's name in the service's log, if a
    service refused. ``payment``: the payment that an address requires before it answers. Each is ``None`` if it does not
    apply.
    """

    code: str
    field: str | None
    hint: str | None
    report: dict[str, Any] | None
    size_usd: float | None
    max_fillable_usd: float | None
    evidence_url: str | None
    reason: str | None
    status: int | None
    request_id: str | None
    payment: dict[str, str] | None

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        hint: str | None = None,
        report: dict[str, Any] | None = None,
        size_usd: float | None = None,
        max_fillable_usd: float | None = None,
        evidence_url: str | None = None,
        reason: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        payment: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.hint = hint
        self.report = report
        self.size_usd = size_usd
        self.max_fillable_usd = max_fillable_usd
        self.evidence_url = evidence_url
        self.reason = reason
        self.status = status
        self.request_id = request_id
        self.payment = payment

    @property
    def message(self) -> str:
        """The cause, in a sentence."""
        return str(self.args[0])

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {self.message}{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Between processes it goes whole.
        return (_again, (self.code, self.message, dict(self.__dict__)))


def _again(code: str, message: str, fields: dict[str, Any]) -> ExitgapError:
    error = ExitgapError(code, message)
    error.__dict__.update(fields)
    return error
