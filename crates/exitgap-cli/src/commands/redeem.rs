//! `exitgap redeem`: compares selling now with redeeming later.

use std::io::Write;
use std::path::PathBuf;

use exitgap_api::{
    Number, Provenance, RedemptionFact, RedemptionPath, RedemptionWindowResult, size_as_written,
};
use exitgap_core::analytics::redemption::{MAX_TERMS_BYTES, PacedTerms, RedemptionTermsRead};

use super::{Beside, QuestionContext, print_answer, print_heading, print_source};
use crate::arguments::GuardedQuestion;
use crate::failure::Failure;
use crate::format::{group_digits, printable};
use crate::source;

pub fn run(
    guarded: &GuardedQuestion,
    size_usd: &str,
    terms: &[PathBuf],
    json: bool,
) -> Result<(), Failure> {
    let size = size_as_written(size_usd)?;
    let read = |path: &PathBuf| -> Result<RedemptionTermsRead, Failure> {
        let file = source::read_named("terms file", path, MAX_TERMS_BYTES)?;
        Ok(RedemptionTermsRead::from_json(&file).map_err(exitgap_api::Problem::from)?)
    };
    let terms: Vec<_> = terms.iter().map(read).collect::<Result<_, _>>()?;
    let asked = QuestionContext::find(guarded)?;
    let paced = |read: RedemptionTermsRead| {
        let pace = match (&guarded.question.source.db, &asked.found.provenance) {
            (Some(db), Provenance::Recorded { slot, .. }) if read.facts.recorded_pace => {
                source::pace(db, asked.found.observation.pool(), &read.facts, *slot)?
            }
            _ => None,
        };
        Ok(PacedTerms { read, pace })
    };
    let terms: Vec<_> = terms.into_iter().map(paced).collect::<Result<_, Failure>>()?;
    let (answer, beside) = (asked.answers().redemption_window(size, &terms), asked.beside());
    if json { print_answer(&answer, &beside) } else { print_text(&answer, &beside) }
}

fn print_text(answer: &RedemptionWindowResult, beside: &Beside) -> Result<(), Failure> {
    print_heading(&answer.context)?;
    let window = &answer.figures;
    let mut out = anstream::stdout().lock();
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("size", format!("{} USD", group_digits(window.size_usd.as_str())))?;
    let now = match (&window.receives_now_usd, &window.exit_gap_pct, window.refusal) {
        (Some(usd), Some(gap), _) => {
            format!("{} USD, {gap}% below the oracle", group_digits(usd.as_str()))
        }
        (.., Some(refusal)) => format!("cannot be sold now: {}", refusal.as_str()),
        _ => "-".to_owned(),
    };
    line("sold now", now)?;
    for path in &window.paths {
        for (name, text) in lines(path) {
            line(name, text)?;
        }
    }
    line("modelled", "the terms come from a file and are not proven by the chain".to_owned())?;
    drop(out);
    print_source(&answer.context, beside)
}

/// The lines about one redemption path.
fn lines(path: &RedemptionPath) -> Vec<(&'static str, String)> {
    let usd = |value: &Option<Number>| {
        value.as_ref().map_or("-".to_owned(), |usd| format!("{} USD", group_digits(usd.as_str())))
    };
    let read = printable(&path.terms_read_on);
    let terms =
        format!("{}, read on {read} by {}", printable(&path.terms_source), path.terms_sha256);
    if let Some(refusal) = &path.refusal {
        let least = group_digits(path.minimum_usd.as_str());
        let why = match refusal.as_str() {
            "below_minimum" => format!("below the minimum of {least} USD"),
            "paused" => "not available: redemption was paused at the snapshot's block".to_owned(),
            "fact_missing" => {
                "unknown: the snapshot lacks a fact that the terms use".to_owned()
            }
            "fact_invalid" => {
                "unknown: the recorded fee exceeds 100%, or the token pays nothing".to_owned()
            }
            "asset_unknown" => "unknown: the redemption pays in a token that is not in the pool".to_owned(),
            "pace_unknown" => {
                "unknown: the queue lengths of the last seven days are missing; a recorder's database (--db) may have them"
                    .to_owned()
            }
            _ => "unknown: the calendar ends before the payment date".to_owned(),
        };
        return [vec![("redeemed", why)], facts(path), vec![("terms", terms)]].concat();
    }
    let mut lines = vec![(
        "redeemed",
        format!("{} redeemed for {}", usd(&path.redeemed_usd), usd(&path.receives_usd)),
    )];
    if path.sold_usd.as_ref().is_some_and(|sold| sold.as_str() != "0") {
        lines.push((
            "",
            format!("{} above the capacity are sold now (included)", usd(&path.sold_usd)),
        ));
    }
    if let Some(pays) = &path.pays_usd {
        lines.push((
            "",
            format!("one token pays {} USD according to its contract", group_digits(pays.as_str())),
        ));
    }
    if let Some([least, middle, most]) = path.per_day_usd.as_deref() {
        let from = if path.per_day_recorded { ", from the recorded queue lengths" } else { "" };
        let [least, middle, most] = [least, middle, most].map(|usd| group_digits(usd.as_str()));
        lines.push(("paid per day", format!("{least}, {middle} or {most} USD{from}")));
    }
    let wait = |seconds: Option<u64>| seconds.map_or("never".to_owned(), in_words);
    let middle =
        path.t_middle_s.map_or(String::new(), |s| format!(", {} at the middle pace", in_words(s)));
    lines.push(("paid after", format!("{} to {}{middle}", wait(path.t_min_s), wait(path.t_max_s))));
    if let Some(advantage) = &path.advantage_pct {
        lines.push(("advantage", format!("{advantage}% over selling now")));
    }
    let rates = [&path.break_even_annual_pct_at_t_min, &path.break_even_annual_pct_at_t_max];
    if let [Some(at_least), Some(at_most)] = rates {
        lines.push((
            "break-even",
            format!("{at_most} to {at_least}% a year: redeem if your cost of waiting is lower"),
        ));
    }
    lines.extend(facts(path));
    lines.push(("for", printable(&path.eligibility)));
    lines.push(("terms", terms));
    lines
}

/// The facts read from the chain.
fn facts(path: &RedemptionPath) -> Vec<(&'static str, String)> {
    let line = |fact: &RedemptionFact| {
        let RedemptionFact { says, word_raw, contract, .. } = fact;
        format!(
            "{}: {} from {} at the snapshot's block",
            printable(says),
            printable(word_raw),
            printable(contract)
        )
    };
    path.facts.iter().map(|fact| ("fact", line(fact))).collect()
}

/// Formats seconds as days, hours and minutes, rounded up to whole minutes.
fn in_words(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes:02} min"),
        _ => format!("{days} d {hours:02} h {minutes:02} min"),
    }
}
