//! Formats numbers and tables for people.

use std::fmt;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// `1234567.89` as `1,234,567.89`.
pub fn group_digits(number: &str) -> String {
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
    if fraction.is_empty() {
        group_digits(whole)
    } else {
        format!("{}.{fraction}", group_digits(whole))
    }
}

/// Whole tokens shortened to at most six decimals, for columns; `…` marks a cut.
pub fn tokens_short(raw: &str, decimals: u8) -> String {
    let text = tokens(raw, decimals);
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.len() > 6 => format!("{whole}.{}…", &fraction[..6]),
        _ => text,
    }
}

/// Prepares untrusted text for a terminal: everything except printable ASCII and exitgap's own signs is escaped, so
/// that no file can move the cursor or hide a word.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' '..='~' | '√' | '÷' | '×' | '≤' | '…' | '—') {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// A table without lines. The header determines a column's alignment: `<text` left, otherwise right, as usual for
/// numbers.
pub struct Columns {
    table: Table,
    sides: Vec<CellAlignment>,
}

impl Columns {
    /// An empty table with these headers.
    pub fn new(headers: &[&str]) -> Self {
        let side = |header: &&str| {
            if header.starts_with('<') { CellAlignment::Left } else { CellAlignment::Right }
        };
        let sides: Vec<_> = headers.iter().map(side).collect();
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        let names = headers.iter().map(|header| header.trim_start_matches('<'));
        table
            .set_header(names.zip(&sides).map(|(name, side)| Cell::new(name).set_alignment(*side)));
        Self { table, sides }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        let cells = cells.into_iter().zip(&self.sides);
        let cells: Vec<_> =
            cells.map(|(text, side)| Cell::new(text).set_alignment(*side)).collect();
        self.table.add_row(cells);
    }
}

/// Writes the table with an empty line after it.
impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_and_points_set() {
        assert_eq!(group_digits("1234567.891"), "1,234,567.891");
        assert_eq!(group_digits("-123"), "-123");
        assert_eq!(tokens("1500000", 6), "1.5");
        assert_eq!(tokens("1", 18), "0.000000000000000001");
        assert_eq!(tokens("1000", 0), "1,000");
        assert_eq!(tokens("0", 6), "0");
        assert_eq!(printable("a\u{1b}[2J\n\u{202e}√"), "a\\u{1b}[2J\\u{a}\\u{202e}√");
        assert_eq!(tokens_short("1234567890123456789", 18), "1.234567…");
    }
}
