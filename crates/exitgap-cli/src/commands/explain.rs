//! `exitgap verify --explain`: the meaning of each check, what it proves, and what it does not prove.

use std::io::Write;

use anstyle::Style;
use exitgap_api::{Explanation, check_name};
use exitgap_core::evidence::CheckName;

use super::print_json;
use super::verdict::print_explanation;
use crate::failure::Failure;

pub fn run(json: bool) -> Result<(), Failure> {
    let explanations = Explanation::for_all_checks();
    if json {
        return print_json(&explanations);
    }
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    writeln!(
        out,
        "An evidence file lets anyone recompute one number offline and trace it to a signed log.\n\
         `exitgap verify` makes these checks, in this order.\n"
    )?;
    for explanation in &explanations {
        let only_if_asked = match explanation.check {
            _ if explanation.required => "",
            CheckName::Window => "  (only with --window or --api)",
            _ => "  (only with --since or --api)",
        };
        writeln!(out, "{bold}{}{bold:#}{only_if_asked}", check_name(explanation.check))?;
        print_explanation(&mut out, explanation, "  ")?;
        writeln!(out)?;
    }
    writeln!(
        out,
        "The verdict is `invalid` if a check fails, `valid` if all required checks pass, and `incomplete` otherwise.\n\
         A valid file does not show whether the slot was retracted later; no file can. --window and --api show later claims.\n\
         Keys come from you (--trust), never from the file. A changed file that is still true is accepted:\n\
         a size that buys the same units has the same result."
    )?;
    Ok(())
}
