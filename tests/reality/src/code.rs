//! Hashes of pools' code, and the published code that they are of: `code.json`.

use std::path::Path;

use exitgap_core::ids::Address;
use exitgap_core::proof::{V3Immutables, is_v2_pair};
use exitgap_math::keccak256;
use serde::Deserialize;
use serde_json::Value;

use crate::facts::{FactsError, read_bytes};
use crate::report::Report;
use crate::values::{Hash, Hex, Text};

/// The factory of every pool of Uniswap v3 on Ethereum.
const FACTORY: &str = "0x1f98431c8ad98523631ae4a59f267346ea31f984";

/// Pools and the hashes of their code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Codes {
    v2_pair_code_hash: Text<Hash>,
    cases: Vec<Code>,
}

/// The pool, its venue, its tokens, its fee, its tick spacing, and the hash of its code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Code(Address, String, Address, Address, u32, i32, Text<Hash>);

/// The published code of Uniswap v3's pool, of the file that its package has.
pub fn read_published(path: &Path) -> Result<Vec<u8>, FactsError> {
    let damaged = |reason: String| FactsError::Damaged { path: path.to_owned(), reason };
    let file: Value =
        serde_json::from_slice(&read_bytes(path)?).map_err(|error| damaged(error.to_string()))?;
    let digits = file["deployedBytecode"].as_str();
    let code = digits.and_then(|digits| digits.parse::<Hex>().ok());
    code.map(|Hex(code)| code).ok_or_else(|| damaged("it has no `deployedBytecode`".to_owned()))
}

/// Judges every hash: it is that of the published code with the pool's own numbers in it, and with no others.
pub fn check(codes: &Codes, published: &[u8], report: &mut Report) {
    let mut differing = 0;
    if !is_v2_pair(codes.v2_pair_code_hash.0.0) {
        differing += 1;
        report.complain("the code of Uniswap v2's pairs has another hash");
    }
    for code in &codes.cases {
        if let Err(words) = code.judge(published) {
            differing += 1;
            report.complain(format!("code of {}: {words}", code.0));
        }
    }
    report.add("reality.code", codes.cases.len());
    report.add("reality.code_differing", differing);
}

impl Code {
    fn judge(&self, published: &[u8]) -> Result<(), String> {
        let Self(pool, venue, token0, token1, fee_pips, tick_spacing, hash) = self;
        if venue != "uniswap_v3" {
            return Err(format!("the venue {venue} is not known"));
        }
        let own = V3Immutables {
            pool: *pool,
            factory: FACTORY.parse().map_err(|_| "the factory has no address")?,
            tokens: [*token0, *token1],
            fee_pips: *fee_pips,
            tick_spacing: *tick_spacing,
        };
        let code = own.code(published).ok_or("the published code is another one")?;
        if keccak256(&code) != hash.0.0 {
            return Err("its hash is another one".to_owned());
        }
        if !own.have_code(&code) || V3Immutables::from_code(&code) != Some(own) {
            return Err("its code is not known again".to_owned());
        }
        let others = [
            V3Immutables { pool: *token0, ..own },
            V3Immutables { factory: *token0, ..own },
            V3Immutables { tokens: [*token1, *token0], ..own },
            V3Immutables { fee_pips: fee_pips + 1, ..own },
            V3Immutables { tick_spacing: tick_spacing + 1, ..own },
        ];
        let mut damaged = code.clone();
        damaged[0] ^= 1;
        if V3Immutables::from_code(&damaged).is_some() {
            return Err("changed code is taken for it".to_owned());
        }
        if others.iter().any(|other| other.have_code(&code)) {
            return Err("its code is taken for another pool's".to_owned());
        }
        Ok(())
    }
}
