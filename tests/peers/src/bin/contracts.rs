//! Compares exitgap's core with the real contracts: `cargo xtask parity`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use exitgap_peers::balancer::Kind;
use exitgap_peers::{Mismatch, ParityError, Tally, balancer, max_size, record, solidly, v2, v3};
use exitgap_tests::devchain::Rng;
use exitgap_tests::parity::{VectorError, few_units, recorded};

/// Compares exitgap's core with the real contracts on random pools.
#[derive(Debug, Parser)]
#[command(name = "parity")]
struct Arguments {
    /// v3 sales; v2, Aerodrome v2 and Balancer v2's weighted and stable pools get a quarter as many
    /// each, `max_size_for` a tenth.
    #[arg(long, default_value_t = 20_000)]
    cases: u64,
    /// What the pools and sizes are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One flat JSON object of numbers on stdout, nothing else.
    #[arg(long)]
    json: bool,
    /// Record the kept vectors anew from the contracts.
    #[arg(long, conflicts_with = "json")]
    record_vectors: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let agreed = if arguments.record_vectors { record_vectors() } else { compare(&arguments) };
    match agreed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &Arguments) -> Result<bool, ParityError> {
    let &Arguments { cases, seed, json, .. } = arguments;
    let mut rng = Rng::new(seed);
    let (v2_bed, v3_bed) = (v2::Bed::deploy()?, v3::Bed::deploy()?);
    let v2_cases = cases.div_ceil(4);
    let v2 = v2::run(&v2_bed, &mut rng, v2_cases, &mut |tally| {
        progress("v2", tally.cases, v2_cases);
    })?;
    let v3 = v3::run(&v3_bed, &mut rng, cases, &mut |tally| progress("v3", tally.cases, cases))?;
    let aerodrome = solidly::run(&solidly::Bed::deploy()?, &mut rng, v2_cases, &mut |tally| {
        progress("aerodrome", tally.cases, v2_cases);
    })?;
    let size_cases = cases.div_ceil(10);
    let sizes = max_size::run((&v3_bed, &v2_bed), &mut rng, size_cases, &mut |tally| {
        progress("max_size", tally.cases, size_cases);
    })?;
    let bed = balancer::Bed::deploy()?;
    let [weighted, stable] = [Kind::Weighted, Kind::Stable].map(|kind| {
        balancer::run(&bed, kind, &mut rng, v2_cases, &mut |tally| {
            progress(&format!("balancer, {kind:?}"), tally.cases, v2_cases);
        })
    });
    let sales = Sales { v3, v2, aerodrome, weighted: weighted?, stable: stable? };
    let zeros = few_units::run(seed, cases.div_ceil(10))?;
    for wrong in &zeros.wrong {
        eprintln!("mismatch: {wrong}");
    }
    let mismatches = sales.mismatches().chain(&sizes.mismatches);
    for Mismatch { reason, vector } in mismatches.clone() {
        eprintln!("mismatch: {reason}\n{}", vector.to_json());
    }
    if json {
        let mut found = sales.json(&sizes);
        found["size_zero.cases"] = zeros.cases.into();
        found["size_zero_wrong"] = zeros.wrong.len().into();
        println!("{found}");
    } else {
        sales.print(seed, &sizes);
        let (cases, wrong) = (zeros.cases, zeros.wrong.len());
        println!(
            "  {:<22} {cases:>6} limits of few units, {wrong} wrongly answered with 0",
            "max_size_for"
        );
    }
    Ok(mismatches.count() == 0 && zeros.wrong.is_empty())
}

/// What was sold, kind by kind.
struct Sales {
    v3: Tally,
    v2: Tally,
    aerodrome: Tally,
    weighted: Tally,
    stable: Tally,
}

impl Sales {
    /// Beside v3, of which more is said: the name of each in JSON, and in words.
    fn others(&self) -> [(&'static str, &'static str, &Tally); 4] {
        [
            ("v2", "Uniswap v2", &self.v2),
            ("aerodrome", "Aerodrome v2", &self.aerodrome),
            ("balancer_weighted", "Balancer v2, weighted", &self.weighted),
            ("balancer_stable", "Balancer v2, stable", &self.stable),
        ]
    }

    fn mismatches(&self) -> impl Iterator<Item = &Mismatch> + Clone {
        let others = self.others().map(|(_, _, tally)| tally);
        [&self.v3].into_iter().chain(others).flat_map(|tally| &tally.mismatches)
    }

    fn json(&self, sizes: &max_size::Tally) -> serde_json::Value {
        let mut found = serde_json::json!({
            "v3.cases": self.v3.cases,
            "v3.mismatches": self.v3.mismatches.len(),
            "v3.ticks_crossed_max": self.v3.ticks_crossed_max,
            "max_size.cases": sizes.cases,
            "max_size.mismatches": sizes.mismatches.len(),
        });
        for (name, _, tally) in self.others() {
            found[format!("{name}.cases")] = tally.cases.into();
            found[format!("{name}.mismatches")] = tally.mismatches.len().into();
        }
        found
    }

    fn print(&self, seed: u64, sizes: &max_size::Tally) {
        let v3 = &self.v3;
        let hundredths = v3.ticks_crossed_sum * 100 / v3.cases.max(1);
        println!("parity with the contracts, seed {seed}");
        println!(
            "  {:<22} {:>6} sales, {} mismatches; ticks crossed: at most {}, on average {}.{:02}",
            "Uniswap v3",
            v3.cases,
            v3.mismatches.len(),
            v3.ticks_crossed_max,
            hundredths / 100,
            hundredths % 100
        );
        for (_, name, tally) in self.others() {
            let (cases, differ) = (tally.cases, tally.mismatches.len());
            println!("  {name:<22} {cases:>6} sales, {differ} mismatches");
        }
        println!(
            "  {:<22} {:>6} limits, {} mismatches; {} by selling every amount",
            "max_size_for",
            sizes.cases,
            sizes.mismatches.len(),
            sizes.exhaustive
        );
    }
}

fn record_vectors() -> Result<bool, ParityError> {
    let folder = recorded::folder();
    let failed = |error| VectorError::Vector(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (name, vector) in record::record()? {
        std::fs::write(folder.join(&name), vector.to_json()).map_err(failed)?;
        println!("{name}");
    }
    Ok(true)
}

/// One line, rewritten in place, on a terminal only.
fn progress(what: &str, done: u64, all: u64) {
    let mut words = std::io::stderr();
    if words.is_terminal() {
        let end = if done >= all { "\n" } else { "" };
        // A line that cannot be written changes no result.
        let _ = write!(words, "\r{what}: {done} of {all} compared{end}");
        let _ = words.flush();
    }
}
