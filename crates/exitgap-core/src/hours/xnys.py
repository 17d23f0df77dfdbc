"""Writes xnys_1.weeks, the calendar of XNYS that the crate carries, and says what it is named by.

    pip install exchange_calendars==4.13.2
    python crates/exitgap-core/src/hours/xnys.py

Which days are traded, when the regular session opens and when it closes is the package's word. What lies
around the regular session is ours, in New York's time: overnight from 20:00 on the evening before, pre-market
from 04:00, after hours until 20:00, or until 17:00 on a day that closes early.

The name is the SHA-256 of the table's canonical text, made here from instants alone, which the crate has to
arrive at from the weeks.
"""

import hashlib
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import exchange_calendars

CALENDAR, VERSION, AS_OF = "XNYS", 1, "2026-11-23"
FIRST, LAST = date(2026, 8, 17), date(2027, 12, 31)
NEW_YORK = ZoneInfo("America/New_York")
EPOCH, DAY = date(1970, 1, 1), timedelta(days=1)


def instant(day, hour):
    """New York's full hour of a day, in seconds UTC."""
    return int(datetime.combine(day, time(hour), NEW_YORK).timestamp())


def rows():
    """Each trading day with its five instants."""
    if exchange_calendars.__version__ != "4.13.2":
        raise SystemExit(f"exchange_calendars is {exchange_calendars.__version__}, not 4.13.2")
    calendar = exchange_calendars.get_calendar(CALENDAR, start=FIRST.isoformat(), end=LAST.isoformat())
    for session in calendar.schedule.itertuples():
        day = session.Index.date()
        opens, closes = (int(at.timestamp()) for at in (session.open, session.close))
        early = closes < instant(day, 16)
        ends = instant(day, 17 if early else 20)
        yield day, (instant(day - DAY, 20), instant(day, 4), opens, closes, ends)


def letter(day, instants):
    """The shape of a day: s in summer time, w in winter time, a capital when it closes early."""
    summer = datetime.combine(day, time(12), NEW_YORK).dst() != timedelta(0)
    hours = 4 if summer else 5
    midnight = int(datetime.combine(day, time(0), timezone.utc).timestamp())
    for close, after, early in ((16, 20, False), (13, 17, True)):
        local = (-4 * 3600, 4 * 3600, 9 * 3600 + 1800, close * 3600, after * 3600)
        if instants == tuple(midnight + hours * 3600 + offset for offset in local):
            shape = "s" if summer else "w"
            return shape.upper() if early else shape
    raise SystemExit(f"{day} has hours of its own: {instants}")


def main():
    days = dict(rows())
    text = f"{CALENDAR}@{VERSION} as of {AS_OF}\novernight_open,pre_open,open,close,after_close\n"
    text += "".join(",".join(map(str, instants)) + "\n" for instants in days.values())
    weeks, monday = "", FIRST
    while monday <= LAST:
        week = (monday + DAY * weekday for weekday in range(7))
        weeks += "".join(letter(day, days[day]) if day in days else "." for day in week) + "\n"
        monday += 7 * DAY
    Path(__file__).with_name(f"{CALENDAR.lower()}_{VERSION}.weeks").write_text(weeks)
    print(f"{len(days)} trading days from day {(FIRST - EPOCH).days} of the epoch, a Monday")
    print(f"0x{hashlib.sha256(text.encode()).hexdigest()}")


main()
