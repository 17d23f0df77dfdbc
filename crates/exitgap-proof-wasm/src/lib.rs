//! What judges state proofs, as a module of its own: a reader of numbers does not load it.
//!
//! **In scope**: a claim, as the module `exitgap-wasm` or the site makes it of evidence, held against the bytes of a proof; the
//! answer as lines of text, so that nothing has to be made of objects in here.
//! **Out of scope**: reading evidence and saying how far a proof must reach, which takes the pools' arithmetic
//! (`exitgap_core::proof::StateClaim`); types of arguments and their lengths (the package's `state.js`, the site's `module.rs`).

use exitgap_api::StateReport;
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::BlockHash;
use exitgap_core::proof::{StateCheck, StateCheckName, StateClaim};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Half as large as the one that comes with Rust.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Why nothing was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotJudged {
    /// The claim's bytes are none of this version.
    Claim,
    /// The line of this number, from 0, names nobody, or no hash.
    Asked(usize),
}

impl NotJudged {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Claim => "claim: its bytes are of another version of exitgap",
            Self::Asked(_) => "blocks: a block's hash is 0x and 64 hex digits",
        }
    }
}

/// Holds a claim against a proof. `asked` are those whom the reader asked for the block, a line each: the hash that they have
/// at its number, or `-`, a space, and their name.
///
/// The answer has six lines for each check: name, outcome, code, what was expected, what was found, and what stays somebody's
/// word, separated by tabs. The last line is what stays so after all of them.
pub fn check(claim: &[u8], proof: &[u8], asked: &str) -> Result<String, NotJudged> {
    let claim = StateClaim::from_bytes(claim).ok_or(NotJudged::Claim)?;
    let mut named = Vec::new();
    for (at, line) in asked.lines().enumerate() {
        let (hash, by) = line.split_once(' ').ok_or(NotJudged::Asked(at))?;
        let hash = match hash {
            "-" => None,
            hash => Some(hash.parse::<BlockHash>().map_err(|_| NotJudged::Asked(at))?),
        };
        named.push((by.to_owned(), hash));
    }
    let StateReport { checks, unproven } = StateReport::of(&claim, proof, &named);
    let mut text = String::new();
    for check in &checks {
        append(&mut text, check);
    }
    text.push_str(&unproven.join("\t"));
    Ok(text)
}

fn append(text: &mut String, check: &StateCheck) {
    let name = match check.name {
        StateCheckName::Header => "header",
        StateCheckName::PoolState => "pool_state",
        StateCheckName::OracleState => "oracle_state",
        StateCheckName::Canonical => "canonical",
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
pub fn js_check(claim: &[u8], proof: &[u8], asked: &str) -> Result<String, JsValue> {
    check(claim, proof, asked).map_err(|why| JsValue::from_str(why.words()))
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
        state_claim(&Evidence::read(evidence)).unwrap().to_bytes()
    }

    fn codes(said: &str) -> Vec<&str> {
        said.split('\n').skip(2).step_by(6).collect()
    }

    #[test]
    fn a_check_has_six_lines_and_a_kind_without_layout_its_own_code() {
        let said = check(&claim(PAIR), b"", "").unwrap();
        assert_eq!(codes(&said), ["proof_unusable"; 3]);
        assert_eq!(said.split('\n').count(), 19);
        let said = check(&claim(LINKED), b"nothing", "").unwrap();
        assert_eq!(codes(&said), ["proof_unusable", "unsupported_layout", "proof_unusable"]);
        assert!(said.contains("concentrated_linked"), "{said}");
    }

    #[test]
    fn whoever_was_asked_is_named_with_a_hash_or_none() {
        let own = BlockHash([5; 32]).to_string();
        let of = |asked: &str| check(&claim(PAIR), b"", asked);
        let code = |asked: &str| codes(&of(asked).unwrap()).get(3).map(|code| (*code).to_owned());
        assert_eq!(code(""), None);
        assert_eq!(code(&format!("{own} my node")).as_deref(), Some("ok"));
        assert_eq!(code(&format!("{own} my node\n- yours")).as_deref(), Some("not_answered"));
        let other = BlockHash([6; 32]);
        assert_eq!(code(&format!("{other} my node")).as_deref(), Some("other_block"));
        for (asked, at) in [("soon my node", 0), ("nobody", 0), ("- one\n0x12 two", 1)] {
            assert_eq!(of(asked), Err(NotJudged::Asked(at)), "{asked}");
        }
        assert_eq!(check(b"", b"", ""), Err(NotJudged::Claim));
    }
}
