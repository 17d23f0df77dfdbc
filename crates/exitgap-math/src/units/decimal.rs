//! Parses decimal texts to scaled integers, exactly, with the same rules everywhere.

use core::fmt::Write;

/// Why a text is not a plain decimal number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// The text is empty.
    #[error("a number is missing")]
    Empty,
    /// The text contains something other than digits and one decimal point, for example a sign where none is allowed,
    /// an exponent, `NaN`, a thousands separator or a space.
    #[error("{found:?} is not a plain decimal number such as 1000 or 0.25")]
    NotADecimal {
        /// The text as given, cut to 40 characters.
        found: String,
    },
    /// The text has more decimals than the unit.
    #[error("{found:?} has more than {allowed} decimals")]
    TooManyDecimals {
        /// The text as given, cut to 40 characters.
        found: String,
        /// The number of decimals of the unit.
        allowed: u32,
    },
    /// The number does not fit in its type.
    #[error("{found:?} is too large")]
    TooLarge {
        /// The text as given, cut to 40 characters.
        found: String,
    },
}

/// Parses a plain decimal (`12`, `0.5`, with `-` only if `signed`) as an integer scaled by `10^decimals`. It never
/// rounds: a text with more decimals is refused, even if they are trailing zeros.
pub fn parse_scaled(text: &str, decimals: u32, signed: bool) -> Result<i128, DecimalError> {
    let found = || text.chars().take(40).collect::<String>();
    if text.is_empty() {
        return Err(DecimalError::Empty);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) if signed => (true, rest),
        _ => (false, text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(DecimalError::NotADecimal { found: found() }),
        None => (digits, ""),
    };
    let plain = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) {
        return Err(DecimalError::NotADecimal { found: found() });
    }
    let missing = (decimals as usize)
        .checked_sub(fraction.len())
        .ok_or_else(|| DecimalError::TooManyDecimals { found: found(), allowed: decimals })?;
    let mut scaled = 0_i128;
    for digit in whole.bytes().chain(fraction.bytes()).chain(core::iter::repeat_n(b'0', missing)) {
        scaled = scaled
            .checked_mul(10)
            .and_then(|s| s.checked_add(i128::from(digit - b'0')))
            .ok_or_else(|| DecimalError::TooLarge { found: found() })?;
    }
    Ok(if negative { -scaled } else { scaled })
}

/// Writes `scaled ÷ 10^decimals`. With `fixed` all decimals are written; otherwise trailing zeros (and a trailing
/// point) are omitted.
pub fn format_scaled(scaled: i128, decimals: usize, fixed: bool) -> String {
    let digits = format!("{:0width$}", scaled.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let fraction = if fixed { fraction } else { fraction.trim_end_matches('0') };
    let mut text = String::with_capacity(digits.len() + 2);
    if scaled < 0 {
        text.push('-');
    }
    text.push_str(whole);
    if !fraction.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, ".{fraction}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_are_read_exactly() {
        assert_eq!(parse_scaled("12.5", 6, false), Ok(12_500_000));
        assert_eq!(parse_scaled("-0.000001", 6, true), Ok(-1));
        assert_eq!(parse_scaled("007", 0, false), Ok(7));
    }

    #[test]
    fn everything_else_is_refused_by_name() {
        for text in [
            "NaN", "inf", "1e3", "1,000", " 1", "1 ", "+1", "-1", ".5", "5.", "1.2.3", "٣", "0x10",
            ".",
        ] {
            assert!(
                matches!(parse_scaled(text, 6, false), Err(DecimalError::NotADecimal { .. })),
                "{text:?}"
            );
        }
        assert_eq!(parse_scaled("", 6, false), Err(DecimalError::Empty));
        assert!(matches!(
            parse_scaled("1.0000000", 6, false),
            Err(DecimalError::TooManyDecimals { allowed: 6, .. })
        ));
        assert!(matches!(
            parse_scaled(&"9".repeat(60), 6, false),
            Err(DecimalError::TooLarge { .. })
        ));
    }

    #[test]
    fn writing_is_the_inverse_of_reading() {
        for (scaled, text) in [(0, "0"), (1, "0.000001"), (-1_500_000, "-1.5"), (10_000_000, "10")]
        {
            assert_eq!(format_scaled(scaled, 6, false), text);
            assert_eq!(parse_scaled(text, 6, true), Ok(scaled));
        }
        assert_eq!(format_scaled(-5, 6, true), "-0.000005");
        assert_eq!(format_scaled(0, 6, true), "0.000000");
    }
}
