//! Questions about the recorded day, and the sale that proves an answer.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use alloy::primitives::U256;
use exitgap_api::ExitResult;

use super::play::Day;
use super::{Demo, step};
use crate::devchain::{DevChain, World};

/// The requested sizes, in USD.
const SIZES: [&str; 3] = ["1000", "50000", "250000"];

/// The size of the first number, in USD.
const FIRST_USD: &str = "50000";

/// The size that is really sold.
const SOLD_USD: &str = "137123.456789";

/// An exit's estimate, with its verified evidence.
pub fn first_number(demo: &Demo, world: &World, day: &Day) -> Result<(), Box<dyn Error>> {
    let pool = format!("anvil:{:#x}", world.pools[0].pool.address);
    step("the first number: what would an exit of 50,000 USD fill at?");
    ask(demo, day, &["estimate", &pool, "--size-usd", FIRST_USD])?;
    step("writing its evidence, and checking that with nothing but the file and the key");
    let file = day.db.with_file_name("first.json");
    finish(&mut evidence(demo, day, &pool, FIRST_USD, &file))?;
    println!("\n$ exitgap verify first.json --trust <key>");
    let mut verify = Command::new(&demo.cli);
    finish(verify.arg("verify").arg(&file).arg("--trust").arg(day.log.join("verifier-key")))
}

/// The command that writes the evidence of a size in the day's last slot.
pub fn evidence(demo: &Demo, day: &Day, pool: &str, size_usd: &str, file: &Path) -> Command {
    let mut command = Command::new(&demo.server);
    command.args(["evidence", pool, "--size-usd", size_usd, "--at", &day.slot.to_string()]);
    command.arg("--out").arg(file).arg("--config").arg(&day.config);
    command
}

/// Asks the questions and sells.
pub async fn answers(
    demo: &Demo,
    chain: &DevChain,
    world: &World,
    day: &Day,
) -> Result<(), Box<dyn Error>> {
    let deep = &world.pools[0];
    let pool = format!("anvil:{:#x}", deep.pool.address);
    let thin = format!("anvil:{:#x}", world.pools[World::THIN].pool.address);
    ask(demo, day, &["pools"])?;
    ask(demo, day, &["ladder", &pool])?;
    for size in SIZES {
        ask(demo, day, &["estimate", &pool, "--size-usd", size])?;
    }
    ask(demo, day, &["size", &pool, "--gap", "1"])?;
    ask(
        demo,
        day,
        &["simulate", &pool, "--size-usd", "500000", "--orders", "4", "--recovery-pct", "50"],
    )?;
    ask(demo, day, &["ladder", &thin])?;

    step(&format!("estimating {SOLD_USD} USD in {}, then really selling it", deep.name));
    ask(demo, day, &["estimate", &pool, "--size-usd", SOLD_USD])?;
    let estimate = estimate(demo, day, &pool, SOLD_USD)?;
    let amount_in = raw(&estimate.figures.amount_in_raw)?;
    let expected = raw(&estimate.figures.amount_out_raw)?;
    let base = &world.assets[deep.base].token;
    let swap = chain.swap_exact_in(&deep.pool, base.address, amount_in).await?;
    let difference = swap.amount_out.abs_diff(expected);
    println!("estimated        {expected} units of {}", estimate.context.quote.symbol);
    println!("received         {} units, in block {}", swap.amount_out, swap.block);
    println!("difference       {difference} units");
    if !difference.is_zero() || swap.amount_in != amount_in {
        return Err("the estimate is not what the contract paid".into());
    }
    prove(demo, day, &pool)?;
    println!(
        "\nAsk on: {} estimate {pool} --size-usd 10000 --db {}",
        demo.cli.display(),
        day.db.display()
    );
    Ok(())
}

/// Writes the evidence of the estimate that was sold, and verifies it and the whole log using only files and the key.
fn prove(demo: &Demo, day: &Day, pool: &str) -> Result<(), Box<dyn Error>> {
    step("writing the evidence of that estimate, then checking it and the whole log offline");
    let file = day.db.with_file_name("evidence.json");
    let window = day.db.with_file_name("window.json");
    finish(evidence(demo, day, pool, SOLD_USD, &file).arg("--window").arg(&window))?;
    let key = day.log.join("verifier-key");
    println!("\n$ exitgap verify evidence.json --trust <key> --window window.json");
    let mut verify = Command::new(&demo.cli);
    verify.arg("verify").arg(&file).arg("--trust").arg(&key).arg("--window").arg(&window);
    finish(&mut verify)?;
    refuse_changed(demo, &file, &key)?;
    println!("\n$ exitgap audit <log folder> --trust <key>");
    finish(Command::new(&demo.cli).arg("audit").arg(&day.log).arg("--trust").arg(&key))
}

/// Changes the last digit of the number in the evidence: the verifier must notice it.
fn refuse_changed(demo: &Demo, file: &Path, key: &Path) -> Result<(), Box<dyn Error>> {
    const FIELD: &str = "\"exit_gap_pct\":\"";
    const INVALID: i32 = 6;
    step("changing one digit of the number, and checking again");
    let mut text = std::fs::read_to_string(file)?;
    let from = text.find(FIELD).ok_or("the evidence states no gap")? + FIELD.len();
    let last = from + text[from..].find('"').ok_or("the gap has no end")? - 1;
    let changed = if text.as_bytes()[last] == b'0' { "1" } else { "0" };
    text.replace_range(last..=last, changed);
    let file = file.with_file_name("changed.json");
    std::fs::write(&file, text)?;
    println!("\n$ exitgap verify changed.json --trust <key>");
    let status =
        Command::new(&demo.cli).arg("verify").arg(&file).arg("--trust").arg(key).status()?;
    if status.code() == Some(INVALID) {
        return Ok(());
    }
    Err(format!("a changed number was not found invalid: exitgap ended with {status}").into())
}

/// Runs a program with visible output; fails if the program fails.
pub fn finish(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Asks a question as a user would, and shows the answer.
fn ask(demo: &Demo, day: &Day, args: &[&str]) -> Result<(), Box<dyn Error>> {
    println!("\n$ exitgap {}", args.join(" "));
    let status = Command::new(&demo.cli).args(args).arg("--db").arg(&day.db).status()?;
    if status.success() { Ok(()) } else { Err(format!("exitgap ended with {status}").into()) }
}

/// Parses the estimate.
pub fn estimate(
    demo: &Demo,
    day: &Day,
    pool: &str,
    size_usd: &str,
) -> Result<ExitResult, Box<dyn Error>> {
    let mut command = Command::new(&demo.cli);
    command.args(["estimate", pool, "--json", "--size-usd", size_usd, "--db"]).arg(&day.db);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("exitgap ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// An amount in a document.
pub(super) fn raw(text: &str) -> Result<U256, String> {
    text.parse().map_err(|_| format!("{text:?} is no amount"))
}
