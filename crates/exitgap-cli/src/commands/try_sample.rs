//! `exitgap try`: an estimate, its evidence, and what becomes of changed evidence, on the embedded sample.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use exitgap_api::{Problem, ProblemCode, size_as_written};
use exitgap_core::evidence::Verdict;
use exitgap_core::file_errors::explained;
use exitgap_sample::{
    EVIDENCE, EVIDENCE_FILE, KEY_FILE, LOG_FOLDER, Shown, VERIFIER_KEY, recorded,
};

use super::print_json;
use crate::arguments::TryArgs;
use crate::failure::{Failure, verdict_code};
use crate::source::unreadable;

pub fn run(args: &TryArgs, json: bool) -> Result<ExitCode, Failure> {
    let shown = Shown::new(size_as_written(&args.size_usd)?, args.guards.parse_guards()?)?;
    if !shown.is_as_expected() {
        anstream::eprintln!("error: the embedded sample is damaged; install exitgap again");
        return Ok(verdict_code(Verdict::Invalid));
    }
    if let Some(folder) = &args.out {
        write_sample(folder)?;
    }
    if json {
        print_json(&shown)?;
    } else {
        let text = shown.text(&next(args.out.as_deref()));
        anstream::stdout().lock().write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The next commands, each with a note.
fn next(written: Option<&Path>) -> Vec<String> {
    let Some(folder) = written else {
        return vec![
            "exitgap try --size-usd 5m              another size".to_owned(),
            "exitgap try --out exitgap-sample       write the sample, to verify and audit its files".to_owned(),
            "exitgap-server try                     the pages and the API, on the sample".to_owned(),
        ];
    };
    let file = |name: &str| folder.join(name).display().to_string();
    let (evidence, key, log) = (file(EVIDENCE_FILE), file(KEY_FILE), file(LOG_FOLDER));
    vec![
        format!("exitgap verify {evidence} --trust {key}"),
        format!("exitgap audit {log} --trust {key}"),
        format!("exitgap ladder --snapshot {evidence} --base WETH"),
    ]
}

/// Writes the sample into a folder that does not exist yet.
fn write_sample(folder: &Path) -> Result<(), Failure> {
    let place = folder.display();
    if folder.exists() {
        let problem = Problem::new(ProblemCode::InvalidParameter, format!("out: {place} exists"));
        return Err(problem.field("out").hint("name a folder that does not exist yet").into());
    }
    let damaged = |error| unreadable(format!("the embedded sample: {error}"));
    let archive = recorded().map_err(damaged)?;
    let write = || {
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join(EVIDENCE_FILE), EVIDENCE)?;
        std::fs::write(folder.join(KEY_FILE), VERIFIER_KEY)?;
        archive.write_to(folder)
    };
    write().map_err(|error| unreadable(format!("writing {place}: {}", explained(&error))).into())
}
