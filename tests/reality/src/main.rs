//! Holds the core against facts of real blocks: `cargo xtask test reality`.

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str =
    "usage: reality <folder of facts> <published code of Uniswap v3's pool> [--json]";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.len();
    arguments.retain(|argument| argument != "--json");
    let is_json = arguments.len() < count;
    let [folder, published] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let report = match exitgap_reality::check(&PathBuf::from(folder), &PathBuf::from(published)) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    for complaint in report.complaints() {
        eprintln!("{complaint}");
    }
    if is_json {
        println!("{}", report.json());
    } else {
        print!("{report}");
    }
    let unmet = report.unmet();
    for words in &unmet {
        eprintln!("error: {words}");
    }
    if unmet.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
