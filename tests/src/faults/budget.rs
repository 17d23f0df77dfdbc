//! Wallets that share a budget, in processes of two languages: killed, lied to, or all at once.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use clap::ValueEnum;
use exitgap_pay::{Ledger, State};

use super::budget_payer::{Step, budget};
use super::budget_shop::{PRICE, Shop, Taken, Ways};
use super::{Part, Progress, Result, writer};
use crate::binaries;
use crate::devchain::Rng;

/// Number of payments that fit the budget.
const ROOM: u128 = 40;
const LIMIT: u128 = ROOM * PRICE;

/// Number of attempts per wallet: together they exceed the budget.
const ATTEMPTS: u32 = 5;

/// Runs all parts, with this many wallets in Rust and in Node.js.
pub fn run(rust: usize, node: usize, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    part.set("budget.processes", rust + node);
    part.set("budget.overspent_units", 0_u64);
    progress("budget: at once", 0, 4);
    at_once(&mut part, rust, node)?;
    progress("budget: killed at random", 1, 4);
    killed_at_random(&mut part, rust, node, seed)?;
    progress("budget: killed at each step", 2, 4);
    killed_at_each_step(&mut part)?;
    progress("budget: lied to", 3, 4);
    lied_to(&mut part, rust.min(4), node.min(4))?;
    control(&mut part, rust, node)?;
    Ok(part)
}

/// Counts of processes by their output.
type Words = BTreeMap<String, u64>;

/// A wallet in Rust or in Node.js.
fn payer(
    in_node: bool,
    shop: &Shop,
    ledger: &Path,
    attempts: u32,
    stop_at: Option<Step>,
) -> Command {
    let mut words = if in_node {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/pay/payer.mjs");
        vec!["node".to_owned(), script.display().to_string()]
    } else {
        vec![binaries::path("faults").display().to_string(), "payer".to_owned()]
    };
    let (ledger, limit) = (ledger.display().to_string(), LIMIT.to_string());
    words.extend(["--url", &shop.url(), "--ledger", &ledger, "--limit", &limit].map(str::to_owned));
    words.extend(["--attempts".to_owned(), attempts.to_string()]);
    words.extend(stop_at.into_iter().flat_map(|step| ["--stop-at".to_owned(), step.name()]));
    writer::command(&words)
}

/// Starts the wallets, each with the ledger that `ledger` returns. All of them make the same request.
fn start(
    rust: usize,
    node: usize,
    shop: &Shop,
    ledger: impl Fn(usize) -> PathBuf,
) -> Result<Vec<Child>> {
    start_with(rust, node, shop, ledger, &[])
}

/// The same with additional arguments.
fn start_with(
    rust: usize,
    node: usize,
    shop: &Shop,
    ledger: impl Fn(usize) -> PathBuf,
    more: &[&str],
) -> Result<Vec<Child>> {
    // Node's processes start more slowly than Rust's, so they are started first.
    let kinds = (0..node).map(|_| true).chain((0..rust).map(|_| false));
    let start = |(number, in_node)| {
        let mut command = payer(in_node, shop, &ledger(number), ATTEMPTS, None);
        Ok(command.args(more).spawn()?)
    };
    kinds.enumerate().map(start).collect()
}

/// Waits until they end; killed processes count with their output so far.
fn end(children: Vec<Child>, killed: usize) -> Result<Words> {
    let (mut words, mut by_signal) = (Words::new(), 0);
    for child in children {
        let output = child.wait_with_output()?;
        match output.status.code() {
            Some(0) => {}
            None => by_signal += 1,
            Some(_) => return Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
        for word in String::from_utf8_lossy(&output.stdout).lines() {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    if by_signal > killed {
        return Err("a wallet was killed by something else".into());
    }
    Ok(words)
}

/// Reports payments beyond the limit, and requests with invalid payments.
fn judge(part: &mut Part, taken: &Taken, what: &str) {
    let over = taken.units().saturating_sub(LIMIT);
    if over > 0 {
        let before = part.number("budget.overspent_units");
        part.problem("budget.overspent", format!("{what}: {over} units beyond the limit"));
        part.set("budget.overspent_units", before + u64::try_from(over).unwrap_or(u64::MAX));
    }
    for why in &taken.refused {
        part.problem("budget.malformed", format!("{what}: {why}"));
    }
}

fn at_once(part: &mut Part, rust: usize, node: usize) -> Result<()> {
    let folder = super::memory_folder()?;
    let (shop, ledger) = (Shop::open(Ways::Honest, false)?, folder.path().join("ledger.jsonl"));
    let words = end(start(rust, node, &shop, |_| ledger.clone())?, 0)?;
    let taken = shop.taken();
    judge(part, &taken, "at once");
    let unspent = LIMIT.saturating_sub(taken.units());
    part.set("budget.unspent_units", u64::try_from(unspent)?);
    if unspent > 0 {
        part.problem(
            "budget.unspent",
            format!("{unspent} units of the limit were left: {words:?}"),
        );
    }
    let asked = (rust + node) as u64 * u64::from(ATTEMPTS);
    let (paid, refused) = (words.get("paid"), words.get("budget_exceeded"));
    let counted = paid.copied().unwrap_or(0) + refused.copied().unwrap_or(0);
    part.set("budget.paid", paid.copied().unwrap_or(0));
    if counted != asked || words.len() > 2 {
        part.problem("budget.other_words", format!("of {asked} attempts: {words:?}"));
    }
    Ok(())
}

/// Kills some of them at random times: their reservations stay counted.
fn killed_at_random(part: &mut Part, rust: usize, node: usize, seed: u64) -> Result<()> {
    let folder = super::memory_folder()?;
    let (shop, ledger) = (Shop::open(Ways::Honest, false)?, folder.path().join("ledger.jsonl"));
    let mut children = start(rust, node, &shop, |_| ledger.clone())?;
    let mut rng = Rng::new(seed);
    let victims = children.len() / 3;
    for at in 0..victims {
        std::thread::sleep(Duration::from_millis(rng.below(60)));
        children[at * 3].kill()?;
    }
    part.set("budget.kills_at_random", victims);
    end(children, victims)?;
    judge(part, &shop.taken(), "killed at random");
    // A later process reads what they left.
    let words = end(start(2, 1, &shop, |_| ledger.clone())?, 0)?;
    judge(part, &shop.taken(), "after the kills");
    if words.contains_key("ledger_unreadable") {
        part.problem("budget.unreadable", "a kill left a ledger that cannot be read");
    }
    Ok(())
}

/// Kills one wallet at each step with `kill -9`, and checks that the ledger shows exactly how far it got. Also leaves
/// an incomplete line, as a crash would.
fn killed_at_each_step(part: &mut Part) -> Result<()> {
    part.set("budget.kills_at_steps", 0_u64);
    for step in Step::value_variants() {
        let (left, received): (&[State], usize) = match step {
            Step::Reserving => (&[], 0),
            Step::Reserved | Step::Signing | Step::Signed => (&[State::Reserved], 0),
            Step::Sending => (&[State::Sent], 0),
            Step::Answered => (&[State::Sent], 1),
        };
        let folder = super::memory_folder()?;
        let (shop, ledger) = (Shop::open(Ways::Honest, true)?, folder.path().join("ledger.jsonl"));
        kill_at(*step, payer(false, &shop, &ledger, 1, Some(*step)).spawn()?)?;
        part.count("budget.kills_at_steps");
        let entries = Ledger::open(&ledger)?.entries()?;
        let states: Vec<State> = entries.iter().map(|entry| entry.state).collect();
        if (&*states, shop.taken().payments.len()) != (left, received) {
            part.problem("budget.step", format!("at {}: {states:?}", step.name()));
        }
        tear(&ledger)?;
        end(start(8, 2, &shop, |_| ledger.clone())?, 0)?;
        let taken = shop.taken();
        judge(part, &taken, &step.name());
        // A payment that was only reserved stays counted, and is never sent. A payment that the ledger marks as sent is
        // sent again by later wallets, with the same signature.
        let lost = u128::from(left == [State::Reserved]);
        if taken.units() != LIMIT - lost * PRICE {
            let units = taken.units();
            part.problem("budget.step", format!("after {}: {units} units", step.name()));
        }
        let standing = Ledger::open(&ledger)?.budget_usage(&budget(&shop.url(), LIMIT))?;
        if standing.total().0 != LIMIT {
            part.problem("budget.step", format!("after {}: {standing:?}", step.name()));
        }
    }
    Ok(())
}

/// Kills a wallet once it has reached the step; fails if it did not.
fn kill_at(step: Step, mut child: Child) -> Result<()> {
    let mut line = String::new();
    let said = child.stdout.take().ok_or("its words are not read")?;
    BufReader::new(said).read_line(&mut line)?;
    child.kill()?;
    let output = child.wait_with_output()?;
    let expected = format!("at {}\n", step.name());
    if line == expected && output.status.code().is_none() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(format!("the wallet was not killed at {}: {line:?}, {words}", step.name()).into())
}

/// Leaves an incomplete line, like an interrupted write.
fn tear(ledger: &Path) -> Result<()> {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(ledger)?;
    Ok(file.write_all(b"\n{\"v\":1,\"kind\":\"reserved\",\"id\":\"8f14e45f")?)
}

/// The service takes the money and reports failure: the amount stays counted.
fn lied_to(part: &mut Part, rust: usize, node: usize) -> Result<()> {
    let folder = super::memory_folder()?;
    let (shop, ledger) = (Shop::open(Ways::SaysFailed, false)?, folder.path().join("ledger.jsonl"));
    let mut rounds = 0;
    let mut words = Words::new();
    while !words.contains_key("budget_exceeded") && rounds < 10 {
        // A wallet that repeats a request sends the same payment again.
        let distinct = start_with(rust, node, &shop, |_| ledger.clone(), &["--distinct"])?;
        words = end(distinct, 0)?;
        rounds += 1;
    }
    let taken = shop.taken();
    judge(part, &taken, "lied to");
    part.set("budget.lies", taken.payments.len());
    if taken.units() != LIMIT || !words.contains_key("budget_exceeded") {
        part.problem("budget.lies", format!("{} units, {words:?}", taken.units()));
    }
    Ok(())
}

/// Control: the same wallets, each with a separate ledger.
fn control(part: &mut Part, rust: usize, node: usize) -> Result<()> {
    let folder = super::memory_folder()?;
    let shop = Shop::open(Ways::Honest, false)?;
    let own = |number: usize| folder.path().join(format!("{number}.jsonl"));
    end(start(rust, node, &shop, own)?, 0)?;
    let over = shop.taken().units().saturating_sub(LIMIT);
    part.set("budget.control_overspent_units", u64::try_from(over)?);
    if over == 0 {
        part.problem("budget.control", "without a shared ledger nothing was overspent either");
    }
    Ok(())
}
