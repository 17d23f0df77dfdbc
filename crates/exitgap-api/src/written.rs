//! Parses sizes as people write them. Programs send plain decimals, which [`crate::parse_size`] parses.

use exitgap_core::units::{DecimalError, SizeError, SizeUsd, parse_scaled};

use crate::{Problem, invalid_parameter};

/// Separators between groups of three digits: a comma, a space, or one of the non-breaking and narrow spaces that pages
/// and spreadsheets use.
const SEPARATORS: [char; 5] = [',', ' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// A letter after the number, and its power of ten.
const SUFFIXES: [(char, u32); 3] = [('k', 3), ('m', 6), ('b', 9)];

/// Longer than any size. Longer texts are not parsed.
const MAX_BYTES: usize = 100;

const HINT: &str = "write $250k, 250,000, 250 000 or 1.5m: 0.01 to 1000000000 USD, with a decimal \
                    point and groups of three digits";

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrittenSizeError {
    /// The text is too long for a size.
    #[error("{shown:?} … is too long for a size")]
    TooLong {
        /// The start of the text.
        shown: String,
    },
    /// Its digits are not in groups of three with the same separator.
    #[error("{shown:?} has wrong digit groups")]
    DigitGroups {
        /// The start of the text.
        shown: String,
    },
    /// Its point could be a thousands separator or a decimal point.
    #[error(
        "{shown:?} is ambiguous: write {decimals} if the point is a decimal point, or {thousands} if it separates \
         thousands"
    )]
    Ambiguous {
        /// The text.
        shown: String,
        /// The accepted size with a decimal point.
        decimals: String,
        /// The accepted size without a decimal point.
        thousands: String,
    },
    /// The rest is not a number.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// The number is below one cent.
    #[error("{shown:?} is below the smallest size, 0.01")]
    BelowMinimum {
        /// The start of the text.
        shown: String,
    },
    /// The number is above one billion.
    #[error("{shown:?} is above the largest size, 1000000000")]
    AboveMaximum {
        /// The start of the text.
        shown: String,
    },
}

impl From<WrittenSizeError> for Problem {
    fn from(error: WrittenSizeError) -> Self {
        refuse_usd("size_usd", &error)
    }
}

fn refuse_usd(field: &'static str, error: &WrittenSizeError) -> Problem {
    invalid_parameter(field, &format!("{field}: {error}"), HINT)
}

/// Parses a size as a person writes it: `250000`, `$250,000`, `250 000`, `250k`, `1.5m`, `1b`.
///
/// Ambiguous texts are refused. A comma is never a decimal point, so `1,5` and `0,500` are not sizes. In `1.000` the
/// point could separate thousands, so one to three digits, a point and exactly three digits are refused as well, also
/// before a suffix. The error is `invalid_parameter` for `size_usd`.
///
/// ```
/// use exitgap_api::size_as_written;
/// assert_eq!(size_as_written("$250,000")?, size_as_written("250k")?);
/// assert_eq!(size_as_written("1.5m")?.to_string(), "1500000");
/// assert!(size_as_written("1,5").is_err());
/// assert!(size_as_written("1.000").is_err());
/// # Ok::<(), exitgap_api::Problem>(())
/// ```
pub fn size_as_written(text: &str) -> Result<SizeUsd, Problem> {
    Ok(written_size(text)?)
}

/// Parses an amount of dollars like [`size_as_written`] parses a size, for a field with another name, such as the depth
/// at which an alert fires. Errors have the code `invalid_parameter` and name that field.
pub fn usd_as_written(field: &'static str, text: &str) -> Result<SizeUsd, Problem> {
    written_size(text).map_err(|error| refuse_usd(field, &error))
}

/// Parses a size like [`size_as_written`], but returns a typed error.
pub fn written_size(text: &str) -> Result<SizeUsd, WrittenSizeError> {
    let shown: String = text.chars().take(40).collect();
    if text.len() > MAX_BYTES {
        return Err(WrittenSizeError::TooLong { shown });
    }
    let number = text.trim();
    let number = number.strip_prefix('$').unwrap_or(number).trim_start();
    let (number, power) = without_suffix(number);
    if let Some((whole, decimals)) = split_at_ambiguous_point(number) {
        let suffix = SUFFIXES.iter().find(|(_, of_letter)| *of_letter == power);
        let suffix = suffix.map_or_else(String::new, |(letter, _)| letter.to_string());
        let thousands = [whole, decimals].concat();
        let thousands = match thousands.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        return Err(WrittenSizeError::Ambiguous {
            shown,
            decimals: format!("{number}0{suffix}"),
            thousands: format!("{thousands}{suffix}"),
        });
    }
    let Some(plain) = strip_separators(number) else {
        return Err(WrittenSizeError::DigitGroups { shown });
    };
    // A size is stored in millionths. Each zero of the power of ten allows one decimal more.
    let micros = parse_scaled(&plain, 6 + power, false)?;
    let Ok(micros) = u64::try_from(micros) else {
        return Err(WrittenSizeError::AboveMaximum { shown });
    };
    SizeUsd::from_micros(micros).map_err(|error| match error {
        SizeError::Decimal(error) => WrittenSizeError::Decimal(error),
        SizeError::BelowMinimum { .. } => WrittenSizeError::BelowMinimum { shown },
        SizeError::AboveMaximum { .. } => WrittenSizeError::AboveMaximum { shown },
    })
}

/// Writes a size for a link or a form that [`size_as_written`] will parse: a plain decimal, with a trailing zero if
/// three decimals would be ambiguous.
///
/// ```
/// use exitgap_api::{size_as_written, size_to_write};
/// let size = "12.345".parse()?;
/// assert_eq!(size_to_write(size), "12.3450");
/// assert_eq!(size_as_written("12.3450").ok(), Some(size));
/// # Ok::<(), exitgap_core::units::SizeError>(())
/// ```
pub fn size_to_write(size: SizeUsd) -> String {
    let mut plain = size.to_string();
    if split_at_ambiguous_point(&plain).is_some() {
        plain.push('0');
    }
    plain
}

/// The digits before and after a point that could separate thousands: one to three digits, the point, and exactly three
/// digits.
fn split_at_ambiguous_point(number: &str) -> Option<(&str, &str)> {
    let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    number.split_once('.').filter(|(whole, decimals)| {
        (1..=3).contains(&whole.len())
            && decimals.len() == 3
            && are_digits(whole)
            && are_digits(decimals)
    })
}

/// The number before its suffix, and the power of ten that the suffix stands for.
fn without_suffix(text: &str) -> (&str, u32) {
    for (letter, power) in SUFFIXES {
        for letter in [letter, letter.to_ascii_uppercase()] {
            if let Some(number) = text.strip_suffix(letter) {
                return (number.trim_end(), power);
            }
        }
    }
    (text, 0)
}

/// The number without group separators; `None` if the digits are not in groups of three with the same separator.
fn strip_separators(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let Some(separator) = whole.chars().find(|c| SEPARATORS.contains(c)) else {
        return Some(text.to_owned());
    };
    let mut groups = whole.split(separator);
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| {
        // `0,500` means half a dollar where the comma is the decimal point.
        (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0')
    })?;
    let mut plain = first.to_owned();
    for group in groups {
        if group.len() != 3 || !digits(group) {
            return None;
        }
        plain.push_str(group);
    }
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemCode;

    #[test]
    fn every_spelling_of_a_size_is_that_size() {
        for (text, plain) in [
            ("250000", "250000"),
            ("250000.5", "250000.5"),
            ("$250,000", "250000"),
            ("250,000.25", "250000.25"),
            ("250 000", "250000"),
            ("250\u{a0}000", "250000"),
            ("250\u{202f}000", "250000"),
            ("1\u{2009}250\u{2009}000", "1250000"),
            ("1,000,000,000", "1000000000"),
            ("250k", "250000"),
            ("250K", "250000"),
            ("$ 250 k", "250000"),
            ("1.5m", "1500000"),
            ("1.5M", "1500000"),
            ("0.00000000001b", "0.01"),
            ("1b", "1000000000"),
            (" 0.01 ", "0.01"),
            ("1,250k", "1250000"),
        ] {
            assert_eq!(size_as_written(text).unwrap(), plain.parse().unwrap(), "{text:?}");
        }
    }

    #[test]
    fn what_could_be_another_size_is_refused() {
        for text in [
            "",
            " ",
            "$",
            "k",
            "$k",
            "-1",
            "+1",
            "1e6",
            "NaN",
            ".5",
            "5.",
            "1,5",
            "1,50",
            "0,500",
            "00,500",
            "1,0000",
            "1000,000",
            "1,000 000",
            ",000",
            "1,",
            "1,,000",
            "1.000,5",
            "1.000.000",
            "1 .5",
            "1.5 m k",
            "1kk",
            "1mm",
            "2b",
            "1000000001",
            "0.009",
            "1.0000001",
            "1.0000000001k",
            "$$1",
            "1$",
            "٣",
            "0x10",
            "1'000",
            "1_000",
            "250k USD",
            "99999999999999999999999999999999999999999b",
        ] {
            let problem = size_as_written(text).unwrap_err();
            assert_eq!(problem.code, ProblemCode::InvalidParameter, "{text:?}");
            assert_eq!(problem.field.as_deref(), Some("size_usd"), "{text:?}");
            assert!(problem.hint.is_some_and(|hint| hint.contains("1.5m")), "{text:?}");
        }
        let long = size_as_written(&"1".repeat(5_000)).unwrap_err();
        assert!(long.detail.len() < 120, "{}", long.detail);
    }

    #[test]
    fn a_point_that_may_separate_thousands_is_refused_with_both_readings() {
        for (text, decimals, thousands) in [
            ("1.000", "1.0000", "1000"),
            ("$12.345", "12.3450", "12345"),
            (" 250.000 ", "250.0000", "250000"),
            ("0.500", "0.5000", "500"),
            ("1.500k", "1.5000k", "1500k"),
            ("1.500 M", "1.5000m", "1500m"),
        ] {
            let WrittenSizeError::Ambiguous { decimals: written, thousands: grouped, .. } =
                written_size(text).unwrap_err()
            else {
                panic!("{text:?}")
            };
            assert_eq!((&*written, &*grouped), (decimals, thousands), "{text:?}");
            // The error's suggestions are accepted, if such a size exists.
            assert!(written_size(decimals).is_ok(), "{decimals}");
            let problem = size_as_written(text).unwrap_err();
            assert_eq!(problem.code, ProblemCode::InvalidParameter, "{text:?}");
            assert!(problem.detail.contains(decimals), "{}", problem.detail);
        }
        // None of these could be a number with groups of three digits.
        for text in ["1.00", "1.0000", "1000.000", "1,000.000", "1.5m"] {
            assert!(written_size(text).is_ok(), "{text:?}");
        }
        // Programs send plain decimals, in which the point is a decimal point.
        assert_eq!(crate::parse_size("1.000").unwrap(), "1".parse().unwrap());
    }

    #[test]
    fn a_size_that_a_program_writes_is_read_again_as_the_same_size() {
        for plain in ["12.345", "999.999", "0.01", "0.125", "1000.125", "1000", "1.5", "12.3456"] {
            let size: SizeUsd = plain.parse().unwrap();
            assert_eq!(size_as_written(&size_to_write(size)).unwrap(), size, "{plain}");
        }
    }

    #[test]
    fn the_reason_is_in_the_type_of_the_error() {
        let reason = |text: &str| written_size(text).unwrap_err();
        for text in ["2b", "99999999999b"] {
            assert!(matches!(reason(text), WrittenSizeError::AboveMaximum { .. }), "{text}");
        }
        assert!(matches!(reason("0.0090"), WrittenSizeError::BelowMinimum { .. }));
        assert!(matches!(reason("0.009"), WrittenSizeError::Ambiguous { .. }));
        assert!(matches!(reason("1,5"), WrittenSizeError::DigitGroups { .. }));
        assert!(matches!(reason(&"1".repeat(101)), WrittenSizeError::TooLong { .. }));
        let beyond = reason(&"9".repeat(60));
        let too_large = WrittenSizeError::Decimal(DecimalError::TooLarge { found: "9".repeat(40) });
        assert_eq!(beyond, too_large);
        assert!(matches!(
            reason("abc"),
            WrittenSizeError::Decimal(DecimalError::NotADecimal { .. })
        ));
    }
}
