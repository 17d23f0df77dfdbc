//! Numbers and tables for people.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// `1234567.89` as `1,234,567.89`.
pub fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number),
    };
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A raw amount as whole tokens, exactly, grouped, without trailing zeros.
pub fn tokens(raw: &str, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let padded = format!("{raw:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { grouped(whole) } else { format!("{}.{fraction}", grouped(whole)) }
}

/// Whole tokens shortened to at most six decimals, for columns; `…` marks a cut.
pub fn tokens_short(raw: &str, decimals: u8) -> String {
    let text = tokens(raw, decimals);
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.len() > 6 => format!("{whole}.{}…", &fraction[..6]),
        _ => text,
    }
}

/// A table without lines: a header row, numbers to the right.
pub fn table(header: &[&str], left_columns: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Disabled);
    let cell = |(index, text): (usize, &&str)| {
        let side = if index < left_columns { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(text).set_alignment(side)
    };
    table.set_header(header.iter().enumerate().map(cell));
    table
}

/// Adds a row: the first columns to the left, the rest to the right.
pub fn add_row(table: &mut Table, left_columns: usize, cells: Vec<String>) {
    let cell = |(index, text): (usize, String)| {
        let side = if index < left_columns { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(text).set_alignment(side)
    };
    table.add_row(cells.into_iter().enumerate().map(cell).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_and_points_set() {
        assert_eq!(grouped("1234567.891"), "1,234,567.891");
        assert_eq!(grouped("-123"), "-123");
        assert_eq!(tokens("1500000", 6), "1.5");
        assert_eq!(tokens("1", 18), "0.000000000000000001");
        assert_eq!(tokens("1000", 0), "1,000");
        assert_eq!(tokens("0", 6), "0");
        assert_eq!(tokens_short("1234567890123456789", 18), "1.234567…");
    }
}
