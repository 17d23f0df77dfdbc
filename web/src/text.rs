//! Numbers and times as people read them. Digits are truncated or grouped as text, and rounded as integers.

use exitgap_core::units::Percent;

/// `1234567.5` as `1,234,567.5`.
pub fn group_digits(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A percentage with its sign and unit.
pub fn percent(number: &str) -> String {
    format!("{}%", group_digits(number))
}

/// A gap against the oracle's price: `0.2% above the oracle price`.
pub fn beside_oracle(gap: &str) -> String {
    let (magnitude, side) = split_gap(gap);
    format!("{} {side} the oracle price", percent(magnitude))
}

/// The absolute value of a gap, and its side: worse than the oracle is below it.
pub fn split_gap(gap: &str) -> (&str, &'static str) {
    match gap.strip_prefix('-') {
        Some(magnitude) => (magnitude, "above"),
        None => (gap, "below"),
    }
}

/// A sentence with long plain numbers grouped, except for quoted ones.
pub fn grouped_within(words: &str) -> String {
    let word = |word: &str| {
        let number = word.trim_end_matches([',', '.', ';', ':', ')']);
        let whole = number.split('.').next().unwrap_or_default();
        let plain = number.matches('.').count() <= 1
            && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if plain && whole.len() > 3 {
            format!("{}{}", group_digits(number), &word[number.len()..])
        } else {
            word.to_owned()
        }
    };
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split(' ').map(word).collect::<Vec<_>>().join(" "),
        _ => part.to_owned(),
    };
    words.split('"').enumerate().map(part).collect::<Vec<_>>().join("\"")
}

/// Whole dollars as `$1,234` or `−$1,234`.
pub fn usd(number: &str) -> String {
    usd_exact(number.split('.').next().unwrap_or(number))
}

/// Dollars, truncated to cents.
pub fn usd_cents(number: &str) -> String {
    let cents = number.find('.').and_then(|point| number.get(..point + 3));
    usd_exact(cents.unwrap_or(number))
}

/// Dollars, rounded up to cents: for a bound, which a smaller number would not be.
pub fn usd_cents_up(number: &str) -> String {
    let Some(point) = number.find('.') else { return usd_exact(number) };
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let is_exact = number.len() <= point + 3;
    let cents = digits.get(..point + 2).and_then(|cents| cents.parse::<u128>().ok());
    match cents.filter(|_| !is_exact && !number.starts_with('-')) {
        Some(cents) => usd_exact(&format!("{}.{:02}", (cents + 1) / 100, (cents + 1) % 100)),
        None => usd_cents(number),
    }
}

/// Dollars with their fraction.
pub fn usd_exact(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(magnitude) => format!("−${}", group_digits(magnitude)),
        None => format!("${}", group_digits(number)),
    }
}

/// Raw token units as whole tokens, with all digits.
pub fn tokens(raw: &str, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let padded = format!("{raw:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        group_digits(whole)
    } else {
        format!("{}.{fraction}", group_digits(whole))
    }
}

/// Raw token units as whole tokens, rounded for people.
pub fn tokens_read(raw: &str, decimals: u8) -> String {
    price_read(&tokens(raw, decimals).replace(',', ""))
}

/// `2026-11-20T14:05:00Z` as `2026-11-20 14:05 UTC`.
pub fn instant(rfc3339: &str) -> String {
    match rfc3339.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.get(..5).unwrap_or(time)),
        None => rfc3339.to_owned(),
    }
}

/// Seconds in the largest suitable unit.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A pool's identifier, short enough for a table.
pub fn short_pool(pool: &str) -> String {
    match pool.split_once(':') {
        Some((chain, address)) if address.len() > 14 => {
            format!("{chain}:{}…{}", &address[..6], &address[address.len() - 4..])
        }
        _ => pool.to_owned(),
    }
}

/// A hash, short enough for a table.
pub fn short_hash(hash: &str) -> String {
    match (hash.get(..10), hash.len()) {
        (Some(first), 15..) => {
            format!("{first}…{}", hash.get(hash.len() - 4..).unwrap_or_default())
        }
        _ => hash.to_owned(),
    }
}

/// A percentage rounded for people. The exact value is shown on hover or in its evidence.
pub fn percent_read(number: &str) -> String {
    format!("{}%", round_number(number))
}

/// A number of at most six decimals, rounded for people: two decimals, or two significant digits if it is smaller.
pub fn round_number(number: &str) -> String {
    let Ok(Percent(exact)) = Percent::parse(number) else { return group_digits(number) };
    let Ok(size) = u64::try_from(exact.unsigned_abs()) else { return group_digits(number) };
    let decimals: u32 = match size {
        0 | 100_000.. => 2,
        10_000.. => 3,
        1_000.. => 4,
        100.. => 5,
        _ => 6,
    };
    let unit = 10_u64.pow(6 - decimals);
    let rounded = (size + unit / 2) / unit;
    let scale = 10_u64.pow(decimals);
    let width = usize::try_from(decimals).unwrap_or_default();
    let sign = if exact < 0 && rounded > 0 { "-" } else { "" };
    group_digits(&format!("{sign}{}.{:0width$}", rounded / scale, rounded % scale))
}

/// A price or amount rounded for people: six significant digits, at least two decimals if it has any, rounded half up.
pub fn price_read(number: &str) -> String {
    const SAYING: usize = 6;
    let (sign, plain) = number.strip_prefix('-').map_or(("", number), |plain| ("-", plain));
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let noughts = fraction.bytes().take_while(|digit| *digit == b'0').count();
    let decimals = match whole {
        "" | "0" => noughts + SAYING,
        whole => SAYING.saturating_sub(whole.len()).max(2),
    };
    if fraction.len() <= decimals || !plain.bytes().all(|one| one.is_ascii_digit() || one == b'.') {
        return group_digits(number);
    }
    let (kept, cut) = fraction.split_at(decimals);
    let digits = format!("{whole}{kept}");
    let Ok(rounded) = digits.parse::<u128>().map(|all| all + u128::from(cut.as_bytes()[0] >= b'5'))
    else {
        return group_digits(number);
    };
    let digits = format!("{rounded:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    group_digits(&format!("{sign}{whole}.{fraction}"))
}
