//! The checker of state proofs, as a separate module, so that a reader who only needs numbers does
//! not load it.
//!
//! **In scope**: checking a claim, as made from evidence by the module `exitgap-wasm` or by the
//! site, against the bytes of a proof. The result is lines of text, so that this module needs no
//! objects. **Out of scope**: reading evidence and computing how far a proof must reach, which
//! requires the pools' arithmetic (`exitgap_core::proof::StateClaim`); argument types and lengths
//! (the package's `state.js`, the site's `module.rs`).

use exitgap_api::StateReport;
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::BlockHash;
use exitgap_core::proof::{Rung, StateCheck, StateCheckName, StateClaim, WitnessesSay};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Half as large as Rust's default allocator.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotJudged {
    /// The claim's bytes are not valid in this version.
    Claim,
    /// The line with this number, from 0, contains no name, or no valid hash.
    Asked(usize),
    /// The given result for the witnesses is not a valid outcome.
    Witnessed,
}

impl NotJudged {
    /// The error as text.
    pub fn words(self) -> &'static str {
        match self {
            Self::Claim => "claim: its bytes come from another version of exitgap",
            Self::Asked(_) => "blocks: a block hash must be 0x and 64 hex digits",
            Self::Witnessed => "witnessed: an outcome must be pass, fail or not_checked",
        }
    }
}

/// Checks a claim against a proof. `asked` lists the sources that the reader asked about the block, one per line: the
/// hash that the source returned for its number, or `-`; a space; and the source's name. At least `at_least` of them
/// must have the block; 0: all. `witnessed` is the result of the witness check; empty if that was not made.
///
/// The answer has six lines for each check: name, outcome, code, expected, found, and what still rests on trust,
/// separated by tabs. Four more lines follow: what still rests on trust after all checks; the chain's result and the
/// level reached, each as a word for programs; and a sentence about the level.
pub fn check(
    claim: &[u8],
    proof: &[u8],
    asked: &str,
    at_least: u32,
    witnessed: &str,
) -> Result<String, NotJudged> {
    let claim = StateClaim::from_bytes(claim).ok_or(NotJudged::Claim)?;
    let cosigned = match witnessed {
        "" | "not_checked" => WitnessesSay::Nothing,
        "pass" => WitnessesSay::Cosigned,
        "fail" => WitnessesSay::Forged,
        _ => return Err(NotJudged::Witnessed),
    };
    let mut named = Vec::new();
    for (at, line) in asked.lines().enumerate() {
        let (hash, by) = line.split_once(' ').ok_or(NotJudged::Asked(at))?;
        let hash = match hash {
            "-" => None,
            hash => Some(hash.parse::<BlockHash>().map_err(|_| NotJudged::Asked(at))?),
        };
        named.push((by.to_owned(), hash));
    }
    let at_least = usize::try_from(at_least).ok().filter(|least| *least > 0);
    let StateReport { checks, unproven, says } =
        StateReport::from_proof(&claim, proof, &named, at_least);
    let mut text = String::new();
    for check in &checks {
        append(&mut text, check);
    }
    let rung = Rung { chain: says, witnesses: cosigned };
    let last =
        [unproven.join("\t").as_str(), says.code(), rung.code(), &rung.sentence()].join("\n");
    text.push_str(&last);
    Ok(text)
}

fn append(text: &mut String, check: &StateCheck) {
    let name = match check.name {
        StateCheckName::Header => "header",
        StateCheckName::PoolState => "pool_state",
        StateCheckName::OracleState => "oracle_state",
        StateCheckName::Canonical => "canonical",
        StateCheckName::Code => "code",
    };
    let outcome = match check.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::NotChecked => "not_checked",
    };
    let unproven = check.unproven.join("\t");
    for line in [name, outcome, check.code, &check.expected, &check.found, &unproven] {
        text.push_str(line);
        text.push('\n');
    }
}

/// See [`check`].
#[wasm_bindgen(js_name = check)]
pub fn js_check(
    claim: &[u8],
    proof: &[u8],
    asked: &str,
    at_least: u32,
    witnessed: &str,
) -> Result<String, JsValue> {
    let judged = check(claim, proof, asked, at_least, witnessed);
    judged.map_err(|why| JsValue::from_str(why.words()))
}

#[cfg(test)]
mod tests {
    use exitgap_api::state_claim;
    use exitgap_core::evidence::Evidence;

    use super::*;

    const PAIR: &str = include_str!("../../../tests/vectors/evidence/true_constant_product.json");
    const LINKED: &str =
        include_str!("../../../tests/vectors/evidence/true_concentrated_linked.json");

    fn claim(vector: &str) -> Vec<u8> {
        let vector: serde_json::Value = serde_json::from_str(vector).unwrap();
        let evidence = vector["evidence"].as_str().unwrap().as_bytes();
        state_claim(&Evidence::from_bytes(evidence)).unwrap().to_bytes()
    }

    /// The codes of the checks.
    fn codes(said: &str) -> Vec<&str> {
        let lines: Vec<&str> = said.split('\n').collect();
        let checks = lines.len() - 4;
        lines[..checks].iter().skip(2).step_by(6).copied().collect()
    }

    #[test]
    fn a_check_has_six_lines_and_a_kind_without_layout_its_own_code() {
        let said = check(&claim(PAIR), b"", "", 0, "").unwrap();
        assert_eq!(codes(&said), ["proof_unusable"; 3]);
        assert_eq!(said.split('\n').count(), 22);
        let last: Vec<&str> = said.split('\n').skip(19).collect();
        assert_eq!(last[..2], ["uncovered", "signed"]);
        assert!(last[2].starts_with("Not proven: "), "{last:?}");
        let said = check(&claim(LINKED), b"nothing", "", 0, "").unwrap();
        assert_eq!(codes(&said), ["proof_unusable", "unsupported_layout", "proof_unusable"]);
        assert!(said.contains("concentrated_linked"), "{said}");
    }

    #[test]
    fn whoever_was_asked_is_named_with_a_hash_or_none() {
        let own = BlockHash([5; 32]).to_string();
        let of = |asked: &str, at_least| check(&claim(PAIR), b"", asked, at_least, "");
        let code = |asked: &str, at_least| {
            codes(&of(asked, at_least).unwrap()).get(3).map(|code| (*code).to_owned())
        };
        let two = format!("{own} my node\n- yours");
        let other = BlockHash([6; 32]);
        assert_eq!(code("", 0), None);
        assert_eq!(code(&format!("{own} my node"), 0).as_deref(), Some("ok"));
        assert_eq!(code(&two, 0).as_deref(), Some("not_answered"));
        assert_eq!(code(&two, 1).as_deref(), Some("ok"));
        assert_eq!(code(&format!("{two}\n{other} theirs"), 1).as_deref(), Some("other_block"));
        assert_eq!(code(&format!("{other} my node"), 0).as_deref(), Some("other_block"));
        for (asked, at) in [("soon my node", 0), ("nobody", 0), ("- one\n0x12 two", 1)] {
            assert_eq!(of(asked, 0), Err(NotJudged::Asked(at)), "{asked}");
        }
        assert_eq!(check(b"", b"", "", 0, ""), Err(NotJudged::Claim));
    }

    #[test]
    fn what_witnesses_say_stands_in_the_sentence() {
        let rung = |witnessed: &str| {
            let said = check(&claim(PAIR), b"", "", 0, witnessed)?;
            Ok(said.split('\n').nth(20).unwrap().to_owned())
        };
        for (witnessed, expected) in [
            ("", "signed"),
            ("not_checked", "signed"),
            ("pass", "witnesses"),
            ("fail", "contradicted"),
        ] {
            assert_eq!(rung(witnessed).as_deref(), Ok(expected), "{witnessed}");
        }
        assert_eq!(rung("maybe"), Err(NotJudged::Witnessed));
    }
}
