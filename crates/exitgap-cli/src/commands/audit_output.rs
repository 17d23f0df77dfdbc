//! Prints the result of an audit, of a whole log or of a closed day.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use exitgap_api::{AuditFault, AuditedCounts, UnsignedFiles};
use exitgap_core::evidence::Verdict;

use crate::failure::Failure;
use crate::format::{group_digits, printable};

/// The style and text of a verdict. `own_key`: whose own key it rests on, if everything else was checked.
pub fn verdict(verdict: Verdict, own_key: Option<&str>) -> (Style, String) {
    let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
    match (verdict, own_key) {
        (Verdict::Valid, _) => (colour(AnsiColor::Green), "VALID: every check passed".to_owned()),
        (Verdict::Invalid, _) => (colour(AnsiColor::Red), "INVALID: a check failed".to_owned()),
        (Verdict::Incomplete, Some(whose)) => (
            colour(AnsiColor::Yellow),
            format!("INCOMPLETE: every check passed, but only with the {whose}'s own key"),
        ),
        (Verdict::Incomplete, None) => (
            colour(AnsiColor::Yellow),
            "INCOMPLETE: no check failed, but some were not made".to_owned(),
        ),
    }
}

/// Prints the first fault, if there is one.
pub fn fault(out: &mut impl Write, fault: Option<&AuditFault>) -> Result<(), Failure> {
    let Some(fault) = fault else { return Ok(()) };
    writeln!(out, "{:<16}{}", "first fault", fault.code)?;
    if let (Some(slot), Some(time)) = (fault.slot, &fault.slot_time) {
        writeln!(out, "{:<16}{slot}, {time}", "slot")?;
    }
    if let Some(pool) = &fault.pool {
        writeln!(out, "{:<16}{pool}", "pool")?;
    }
    Ok(writeln!(out, "{:<16}{}", "what", printable(&fault.detail))?)
}

/// Prints what was checked.
pub fn counts(out: &mut impl Write, counts: &AuditedCounts) -> Result<(), Failure> {
    let number = |number: u64| group_digits(&number.to_string());
    Ok(writeln!(
        out,
        "{:<16}pools: {}, heads: {}, snapshots recomputed: {}, without one: {}, retracted: {}",
        "",
        counts.pools,
        number(counts.heads),
        number(counts.snapshots),
        number(counts.without_snapshot),
        number(counts.retracted),
    )?)
}

/// Prints how much only a later version of exitgap understands, if any.
pub fn print_unsupported(out: &mut impl Write, counts: &AuditedCounts) -> Result<(), Failure> {
    if counts.unsupported == 0 {
        return Ok(());
    }
    Ok(writeln!(
        out,
        "{:<16}{} heads and snapshots are from a newer version; update exitgap to check them",
        "not checked",
        group_digits(&counts.unsupported.to_string())
    )?)
}

/// Files in the folder that nothing signed commits to.
pub fn print_unsigned(out: &mut impl Write, unsigned: &UnsignedFiles) -> Result<(), Failure> {
    const SHOWN: usize = 5;
    let mut names: Vec<String> =
        unsigned.names.iter().take(SHOWN).map(|name| printable(name)).collect();
    let more = unsigned.count.saturating_sub(names.len() as u64);
    if more > 0 {
        names.push(format!("{} more", group_digits(&more.to_string())));
    }
    let names = names.join(", ");
    Ok(writeln!(out, "{:<16}{names}: no signature covers these files", "unsigned")?)
}

/// Prints the keys that verified the signatures: the caller's, or the log's own keys, marked as such.
pub fn keys(
    out: &mut impl Write,
    keys: &[String],
    own_key_of: Option<&str>,
) -> Result<(), Failure> {
    let whose = own_key_of.map_or("trusted".to_owned(), |of| format!("{of}'s own"));
    for key in keys {
        writeln!(out, "{:<16}{} ({whose})", "key", printable(key))?;
    }
    Ok(())
}

/// Warns on stderr that a key is only as trustworthy as its source.
pub fn compare_keys(of: &str) {
    anstream::eprintln!(
        "The signatures were checked with the {of}'s own key. Compare that key with a copy from a place you trust, then pass it with --trust."
    );
}
