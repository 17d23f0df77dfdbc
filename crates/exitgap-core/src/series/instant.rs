//! Instants in RFC 3339 format.

/// Why a text is not an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InstantError {
    /// Not of the form `2026-08-22T12:00:00Z`, or not a date of the calendar.
    #[error("not an RFC 3339 instant such as 2026-08-22T12:00:00Z")]
    Form,
    /// Before 1970.
    #[error("before 1970")]
    Before1970,
}

/// Parses an RFC 3339 instant such as `2026-08-22T14:00:00.5+02:00` to whole seconds since 1970-01-01T00:00:00Z,
/// rounded down. `T` and `Z` may be lower case, and the offset is required. A leap second counts as the second before
/// it.
pub fn unix_s_of(text: &str) -> Result<u64, InstantError> {
    seconds(text).ok_or(InstantError::Form)?.try_into().map_err(|_| InstantError::Before1970)
}

fn seconds(text: &str) -> Option<i64> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let [year, month, day] = fields(date_time.get(..10)?, b'-', [4, 2, 2])?;
    let [hour, minute, second] = fields(date_time.get(11..)?, b':', [2, 2, 2])?;
    let separated = matches!(date_time.as_bytes()[10], b'T' | b't');
    let leap_day = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 => 28 + u32::from(leap_day),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let in_range = (1..=12).contains(&month)
        && (1..=days).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !separated || !in_range {
        return None;
    }
    let local = day_number(year, month, day) * 86_400
        + i64::from(hour * 3_600 + minute * 60 + second.min(59));
    Some(local - offset(without_fraction(rest)?)?)
}

/// Three numbers with these lengths.
fn fields(text: &str, separator: u8, lengths: [usize; 3]) -> Option<[u32; 3]> {
    let mut parts = text.split(char::from(separator));
    let mut found = [0; 3];
    for (found, length) in found.iter_mut().zip(lengths) {
        let part = parts.next().filter(|part| part.len() == length)?;
        *found = digits(part)?;
    }
    parts.next().is_none().then_some(found)
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The text after the optional fraction of a second.
fn without_fraction(text: &str) -> Option<&str> {
    let Some(fraction) = text.strip_prefix('.') else { return Some(text) };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < fraction.len()).then_some(rest)
}

/// `Z`, `+02:00` or `-00:30`, in seconds.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, clock) = text.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hour, minute) = clock.split_once(':')?;
    if hour.len() != 2 || minute.len() != 2 {
        return None;
    }
    let (hour, minute) = (digits(hour)?, digits(minute)?);
    (hour < 24 && minute < 60).then(|| sign * i64::from(hour * 3_600 + minute * 60))
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar. In this computation years begin on 1 March, so
/// that the leap day comes last.
fn day_number(year: u32, month: u32, day: u32) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year + 399, month + 9) };
    // Uses one more era of 400 years if the year before year 0 would be needed.
    let eras = if month > 9 { -1 } else { 0 };
    let (era, year_of_era) = (i64::from(year / 400) + eras, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + i64::from(day_of_era) - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::{Slot, rfc3339};
    use super::*;

    #[test]
    fn reads_what_is_written_and_offsets_and_fractions() {
        for text in [
            "2026-08-22T00:00:00Z",
            "2028-02-29T23:40:00Z",
            "1970-01-01T00:00:00Z",
            "2000-01-31T12:00:01Z",
            "2100-02-28T23:59:59Z",
            "2100-03-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
        ] {
            assert_eq!(rfc3339(unix_s_of(text).unwrap()), text);
        }
        // The instants of slots over three leap years and the years between them.
        for number in (0..320_000).step_by(7) {
            let slot = Slot::new(u64::from(Slot::FIRST.number()) + number).unwrap();
            assert_eq!(unix_s_of(&slot.to_string()), Ok(slot.unix_s()));
        }
        let noon = unix_s_of("2026-08-22T12:00:00Z").unwrap();
        for same in [
            "2026-08-22T14:00:00+02:00",
            "2026-08-22t07:30:00.999999999-04:30",
            "2026-08-22T12:00:00.0z",
            "2026-08-23T00:00:00+12:00",
        ] {
            assert_eq!(unix_s_of(same), Ok(noon), "{same}");
        }
        assert_eq!(unix_s_of("2026-12-31T23:59:60Z"), unix_s_of("2026-12-31T23:59:59Z"));
    }

    #[test]
    fn refuses_what_is_no_instant() {
        for wrong in [
            "",
            "now",
            "2026-08-22",
            "2026-08-22T12:00:00",
            "2026-08-22T12:00Z",
            "2026-08-22 12:00:00Z",
            "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-08-22T24:00:00Z",
            "2026-08-22T12:60:00Z",
            "2026-08-22T12:00:61Z",
            "2026-08-22T12:00:00.Z",
            "2026-08-22T12:00:00+2:00",
            "2026-08-22T12:00:00+24:00",
            "2026-08-22T12:00:00Zx",
            "2026-08-22T12:00:00ZZ",
            "+026-08-22T12:00:00Z",
            "2026-08-2éT12:00:00Z",
            "20260822T120000Z000000000",
        ] {
            assert_eq!(unix_s_of(wrong), Err(InstantError::Form), "{wrong}");
        }
        assert_eq!(unix_s_of("1969-12-31T23:59:59Z"), Err(InstantError::Before1970));
        assert_eq!(unix_s_of("0000-01-01T00:00:00Z"), Err(InstantError::Before1970));
        assert_eq!(unix_s_of("1970-01-01T00:00:00+00:01"), Err(InstantError::Before1970));
    }
}
