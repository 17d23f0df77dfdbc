//! Tokens: their decimals and symbols.

use alloy::sol_types::{SolType, sol_data};
use exitgap_core::ids::Address;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Symbol, Token};

use crate::abi::{Answer, Call, Erc20};
use crate::config::NOBODY;
use crate::read_failure::ReadFailure;

/// The number of calls per token.
pub(super) const TOKEN_CALLS: usize = 2;

pub(super) fn calls(token: Address) -> [Call; TOKEN_CALLS] {
    [Call::new(token, &Erc20::decimalsCall {}, 1), Call::new(token, &Erc20::symbolCall {}, 3)]
}

/// The chain's native coin, which has no contract to call. It has this symbol on all known chains and on development
/// chains.
pub(super) fn native() -> Token {
    Token { address: NOBODY, decimals: 18, symbol: Symbol::clean("ETH") }
}

/// Decodes the answers to [`calls`]. An unreadable symbol becomes `?`; unreadable decimals, or more than 36, are
/// refused.
pub(super) fn decode(token: Address, answers: &[Answer]) -> Result<Token, ReadFailure> {
    let refused = |what: String| {
        ReadFailure::new(MissingReason::PoolUnsupported, format!("token {token}: decimals {what}"))
    };
    let [decimals, symbol] = answers else {
        return Err(refused("were not queried".to_owned()));
    };
    let count =
        decimals.exact::<Erc20::decimalsCall>(1).ok_or_else(|| refused(decimals.in_words()))?;
    if count > Token::MAX_DECIMALS {
        return Err(refused(format!("are {count}; at most {} are accepted", Token::MAX_DECIMALS)));
    }
    Ok(Token { address: token, decimals: count, symbol: symbol_of(symbol) })
}

/// A symbol as `string` without the zero bytes at its end, which some contracts copy out of a `bytes32`, or as `bytes32` up to
/// the first zero byte, which early tokens answer.
fn symbol_of(answer: &Answer) -> Symbol {
    let data = answer.return_data().map(AsRef::as_ref).unwrap_or_default();
    if data.len() == 32 {
        let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        return Symbol::clean(&String::from_utf8_lossy(&data[..end]));
    }
    let text = sol_data::Bytes::abi_decode(data).unwrap_or_default();
    // Far more than is kept. The rest is ignored.
    let start = &text[..text.len().min(256)];
    let end = start.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    Symbol::clean(&String::from_utf8_lossy(&start[..end]))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256};
    use alloy::sol_types::SolValue;

    use super::*;

    const TOKEN: Address = Address([7; 20]);

    fn returned(data: Vec<u8>) -> Answer {
        Answer::Returned(Bytes::from(data))
    }

    fn symbol(data: Vec<u8>) -> String {
        let answers = [returned(U256::from(6).abi_encode()), returned(data)];
        decode(TOKEN, &answers).unwrap().symbol.as_str().to_owned()
    }

    #[test]
    fn symbols_come_as_text_or_as_bytes_and_hostile_ones_are_cleaned() {
        let mut bytes32 = b"MKR".to_vec();
        bytes32.resize(32, 0);
        assert_eq!(symbol(bytes32), "MKR");
        assert_eq!(symbol("USDC".to_owned().abi_encode()), "USDC");
        assert_eq!(symbol("U\u{202e}SD\u{0}C".to_owned().abi_encode()), "U?SD?C");
        assert_eq!(symbol("x".repeat(100_000).abi_encode()).len(), 32);
        assert_eq!(symbol(vec![0xff; 64]), "?");
        assert_eq!(symbol(Vec::new()), "?");
        let reverted = [returned(U256::from(6).abi_encode()), Answer::Reverted];
        assert_eq!(decode(TOKEN, &reverted).unwrap().symbol.as_str(), "?");
    }

    #[test]
    fn zero_bytes_at_the_end_of_a_symbol_are_no_part_of_it() {
        for zeros in [1, 27, 28, 29, 60, 252, 300, 5_000] {
            let padded = format!("USDC{}", "\0".repeat(zeros));
            assert_eq!(symbol(padded.abi_encode()), "USDC", "{zeros}");
            assert_eq!(symbol("\0".repeat(zeros).abi_encode()), "?", "{zeros}");
        }
        let mut bytes32 = b"USDC".to_vec();
        bytes32.resize(32, 0);
        assert_eq!(symbol(bytes32), "USDC");
        assert_eq!(symbol(vec![0; 32]), "?");
        // Others are shown: two tokens that differ in them must not look the same.
        assert_eq!(symbol("US\0DC\0".to_owned().abi_encode()), "US?DC");
        assert_eq!(symbol("\0USDC".to_owned().abi_encode()), "?USDC");
        assert_eq!(symbol("USDC \0\0".to_owned().abi_encode()), "USDC ");
    }

    #[test]
    fn decimals_that_are_absent_or_too_many_are_refused() {
        for wrong in [
            Answer::Reverted,
            returned(Vec::new()),
            returned(U256::from(37).abi_encode()),
            returned(U256::from(256).abi_encode()),
            returned(vec![0; 64]),
        ] {
            let refused = decode(TOKEN, &[wrong, Answer::Reverted]).unwrap_err();
            assert_eq!(refused.reason, MissingReason::PoolUnsupported);
        }
        let most = [returned(U256::from(36).abi_encode()), Answer::Reverted];
        assert_eq!(decode(TOKEN, &most).unwrap().decimals, 36);
    }
}
