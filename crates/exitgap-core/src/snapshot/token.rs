//! Tokens as their contracts describe themselves. Symbols are hostile text.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::Address;
use crate::json::wire_text;

/// A token of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The token contract's address.
    pub address: Address,
    /// The decimals of one whole token, at most [`Token::MAX_DECIMALS`].
    pub decimals: u8,
    /// The contract's own symbol after cleaning. Two tokens can have the same one.
    pub symbol: Symbol,
}

impl Token {
    /// The maximum number of decimals.
    pub const MAX_DECIMALS: u8 = 36;
}

/// A token's symbol, cleaned: 1 to 32 printable ASCII characters, or `?` if nothing was printable. It is only a label
/// and identifies nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Symbol(String);

/// The text is not a cleaned symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a recorded symbol must be 1 to 32 printable ASCII characters")]
pub struct SymbolError;

impl Symbol {
    const MAX_CHARS: usize = 32;

    /// Cleans text from a contract. Every run of characters that are not printable ASCII (control characters, direction
    /// marks, look-alike letters, zero bytes) becomes one `?`, and the text is cut to 32 characters.
    ///
    /// ```
    /// use exitgap_core::snapshot::Symbol;
    /// assert_eq!(Symbol::clean("USDC").as_str(), "USDC");
    /// assert_eq!(Symbol::clean("U\u{202e}\u{0}SD").as_str(), "U?SD");
    /// assert_eq!(Symbol::clean("").as_str(), "?");
    /// ```
    pub fn clean(text: &str) -> Self {
        let mut clean = String::new();
        for c in text.chars() {
            let c = if Self::is_plain(c) { c } else { '?' };
            if c != '?' || !clean.ends_with('?') {
                clean.push(c);
            }
            if clean.len() == Self::MAX_CHARS {
                break;
            }
        }
        if clean.is_empty() {
            clean.push('?');
        }
        Self(clean)
    }

    fn is_plain(c: char) -> bool {
        c.is_ascii_graphic() || c == ' '
    }

    /// The symbol as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

wire_text!(Symbol);

impl TryFrom<String> for Symbol {
    type Error = SymbolError;
    fn try_from(text: String) -> Result<Self, SymbolError> {
        let fits = (1..=Self::MAX_CHARS).contains(&text.len()) && text.chars().all(Self::is_plain);
        if fits { Ok(Self(text)) } else { Err(SymbolError) }
    }
}

impl From<Symbol> for String {
    fn from(symbol: Symbol) -> Self {
        symbol.0
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
