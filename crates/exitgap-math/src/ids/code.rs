//! Codes: the short words for a reason, a protocol or a commitment.

use core::fmt;
use core::str::FromStr;

/// A code: 1 to 40 of `a-z`, `0-9` and `_`, starting with a letter. Data that a later version of exitgap adds to the
/// formats has codes that this version does not know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Padded with zeros, so that codes sort like their texts.
    bytes: [u8; Self::MAX_LENGTH],
    length: u8,
}

/// The text is not a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a code must be 1 to 40 characters from a-z, 0-9 and '_', starting with a letter")]
pub struct CodeError;

impl Code {
    /// The longest code.
    pub const MAX_LENGTH: usize = 40;

    /// The code of a name that is compiled in: in lower case, without characters that codes do not allow, cut to the
    /// maximum length.
    pub fn of_name(name: &str) -> Self {
        let mut bytes = [0; Self::MAX_LENGTH];
        let plain = |c: &u8| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'_';
        let mut length = 0;
        let kept = name.bytes().map(|c| c.to_ascii_lowercase()).filter(plain);
        for (to, from) in bytes.iter_mut().zip(kept) {
            *to = from;
            length += 1;
        }
        Self { bytes, length }
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length.into()]).unwrap_or_default()
    }
}

impl FromStr for Code {
    type Err = CodeError;

    fn from_str(text: &str) -> Result<Self, CodeError> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
        let fits = (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.as_bytes()[0].is_ascii_lowercase()
            && text.bytes().all(plain);
        if !fits {
            return Err(CodeError);
        }
        let mut bytes = [0; Self::MAX_LENGTH];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes, length: u8::try_from(text.len()).map_err(|_| CodeError)? })
    }
}

impl TryFrom<String> for Code {
    type Error = CodeError;

    fn try_from(text: String) -> Result<Self, CodeError> {
        text.parse()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_short_plain_words_in_the_order_of_their_texts() {
        let mut codes = ["b", "a_1", "a", "ab"].map(|text| text.parse::<Code>().unwrap());
        codes.sort_unstable();
        assert_eq!(codes.map(|code| code.to_string()), ["a", "a_1", "ab", "b"]);
        let longest = "a".repeat(Code::MAX_LENGTH);
        assert_eq!(longest.parse::<Code>().unwrap().as_str(), longest);
        for wrong in ["", "1a", "_a", "A", "a-b", "ä", "a b", &format!("{longest}a")] {
            assert_eq!(wrong.parse::<Code>(), Err(CodeError), "{wrong:?}");
        }
    }
}
