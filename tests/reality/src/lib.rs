//! What public chains did, held against the core: `cargo xtask test reality`.
//!
//! The facts are files with numbers of real blocks ([`facts`]), in `facts/` or in a folder of the same shape. Each module judges
//! the cases of one kind, and [`report`] holds the counts against what they must be.
//!
//! **In scope**: swaps with the state before and after ([`swaps`], [`curve`]), headers and walks down the chain's tries
//! ([`tries`]), proofs of contracts' words ([`proofs`]), rounds of oracles ([`feeds`]) and the code of pools ([`code`]). **Out of
//! scope**: asking a node, but for [`node`], which finds swaps in blocks of a node and judges them alike: `cargo xtask reality`.

pub mod code;
pub mod curve;
pub mod facts;
pub mod feeds;
#[cfg(feature = "node")]
pub mod node;
pub mod proofs;
pub mod report;
pub mod swaps;
pub mod tries;
mod values;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use facts::{Facts, FactsError};
pub use report::Report;
pub use values::Text;

/// Judges every case of a folder of facts. `published` is the file with the published code of Uniswap v3's pool.
pub fn check(folder: &Path, published: &Path) -> Result<Report, FactsError> {
    let facts = Facts::from_folder(folder)?;
    let published = code::read_published(published)?;
    let mut report = judge(&facts);
    code::check(&facts.code, &published, &mut report);
    Ok(report)
}

/// Judges every case but those of code, which takes the published one.
fn judge(facts: &Facts) -> Report {
    let mut report = Report::default();
    swaps::check(&facts.swaps, &mut report);
    curve::check(&facts.curve, &mut report);
    tries::check_headers(&facts.headers, &mut report);
    tries::check_walks(&facts.walks, &mut report);
    proofs::check(&facts.proofs, &mut report);
    feeds::check(&facts.feeds, &mut report);
    report
}
