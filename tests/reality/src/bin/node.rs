//! Judges the swaps in blocks of a node: `cargo xtask reality`.

use std::path::PathBuf;
use std::process::ExitCode;

use exitgap_reality::node::{Node, NodeError, Range, Tally, judge};

const USAGE: &str =
    "usage: reality-node --rpc URL [--blocks N] [--last NUMBER|latest] [--cases FILE] [--json]";

/// What is asked for.
struct Arguments {
    rpc: String,
    range: Range,
    cases: PathBuf,
    json: bool,
}

impl Arguments {
    fn parse(mut given: impl Iterator<Item = String>) -> Option<Self> {
        let (mut rpc, mut json) = (None, false);
        let mut range = Range { blocks: 120, last: "finalized".to_owned() };
        let mut cases = PathBuf::from("reality-wrong.json");
        while let Some(name) = given.next() {
            match name.as_str() {
                "--json" => json = true,
                "--rpc" => rpc = Some(given.next()?),
                "--cases" => cases = PathBuf::from(given.next()?),
                "--blocks" => {
                    range.blocks = given.next()?.parse().ok().filter(|blocks| *blocks > 0)?;
                }
                "--last" => {
                    let last = given.next()?;
                    range.last = match last.parse::<u64>() {
                        Ok(number) => format!("{number:#x}"),
                        Err(_) if ["latest", "safe", "finalized"].contains(&last.as_str()) => last,
                        Err(_) => return None,
                    };
                }
                _ => return None,
            }
        }
        Some(Self { rpc: rpc?, range, cases, json })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments).await {
        Ok(tally) => finish(&arguments, &tally),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<Tally, NodeError> {
    let node = Node::new(&arguments.rpc)?;
    let mut reported = 0;
    let mut progress = |number: u64, tally: &Tally| {
        for (swap, difference) in &tally.wrong()[reported..] {
            eprintln!("wrong: block {number}, log {}, {}: {difference}", swap.log, swap.pool);
        }
        reported = tally.wrong().len();
    };
    let tally = judge(&node, &arguments.range, &mut progress).await?;
    let version = node.ask::<String>("web3_clientVersion", serde_json::json!([])).await;
    let version = version.unwrap_or_else(|_| "a node that does not say its version".to_owned());
    eprintln!("chain eip155:{}, {version}, {} requests", tally.chain(), node.asked());
    Ok(tally)
}

/// Prints the line, and writes the cases of what is wrong.
fn finish(arguments: &Arguments, tally: &Tally) -> ExitCode {
    if arguments.json {
        let members: Vec<String> = tally
            .figures()
            .iter()
            .map(|(name, count)| format!("\"reality.{name}\":{count}"))
            .collect();
        println!("{{{}}}", members.join(","));
    } else {
        println!("{tally}");
    }
    if tally.wrong().is_empty() {
        return ExitCode::SUCCESS;
    }
    let (path, cases) = (arguments.cases.display(), tally.cases());
    match std::fs::write(&arguments.cases, format!("{cases}\n")) {
        Ok(()) => {
            eprintln!("error: {} swaps are wrong; their cases are in {path}", tally.wrong().len());
        }
        Err(error) => eprintln!("error: writing {path}: {error}\n{cases}"),
    }
    ExitCode::FAILURE
}
