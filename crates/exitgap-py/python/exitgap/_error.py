"""The one error of this package."""

from __future__ import annotations

from typing import Any


class ExitgapError(Exception):
    """Whatever goes wrong, by a stable code.

    ``code``: what went wrong, such as ``beyond_liquidity`` or ``invalid_parameter``; a service may have codes that this
    version does not know. ``field``: the argument at fault. ``hint``: the remedy, where one is known. ``report``: every
    check, with the code ``not_proven``. ``max_fillable_usd``: the largest size that can be filled, USD, with
    ``beyond_liquidity``. ``evidence_url``: what anyone can check with that the size cannot be filled. ``reason``: why a
    slot is missing. ``status`` and ``request_id``: HTTP's status, and the answer's name in the service's log, where a
    service refused. ``payment``: what an address asks for before it answers. Each is ``None`` where there is none.
    """

    code: str
    field: str | None
    hint: str | None
    report: dict[str, Any] | None
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
