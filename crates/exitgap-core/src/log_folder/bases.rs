//! `default-bases`: the token of each pool that is sold if a request names none. The log does not commit to this file.
//! It only selects the default direction and changes no number.

use std::collections::BTreeSet;

use crate::ids::PoolId;
use crate::pools::Direction;

/// The maximum size of the file, in bytes.
pub const MAX_BASES_BYTES: usize = 16 << 20;

/// The end of each line. Only pools whose default base is not token 0 are listed.
const TOKEN1: &str = " token1";

/// The pools whose default base is token 1, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DefaultBases(BTreeSet<String>);

/// A line that is not valid in this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of default-bases is not a pool followed by token1, or the file does not end with a line break"
)]
pub struct NoBases {
    /// The line, from 1.
    pub line: usize,
}

impl DefaultBases {
    /// Builds the file from pools and their default directions.
    pub fn of_pools<'a>(pools: impl Iterator<Item = (&'a PoolId, Direction)>) -> Self {
        let second = pools.filter(|(_, base)| *base == Direction::OneForZero);
        Self(second.map(|(pool, _)| pool.to_string()).collect())
    }

    /// The default direction of a sale in a pool.
    pub fn base(&self, pool: &PoolId) -> Direction {
        if self.0.contains(&pool.to_string()) {
            Direction::OneForZero
        } else {
            Direction::ZeroForOne
        }
    }

    /// The file's text: one line for each pool whose default base is token 1, in the order of pool ids.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for pool in &self.0 {
            text += pool;
            text += TOKEN1;
            text += "\n";
        }
        text
    }

    /// Parses untrusted text.
    pub fn from_text(text: &str) -> Result<Self, NoBases> {
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(NoBases { line: text.lines().count() });
        }
        let pool = |(line, text): (usize, &str)| {
            let pool = text.strip_suffix(TOKEN1).and_then(|pool| pool.parse::<PoolId>().ok());
            pool.map(|pool| pool.to_string()).ok_or(NoBases { line })
        };
        (1..).zip(text.lines()).map(pool).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOLS: [&str; 2] = [
        "anvil:0x00000000000000000000000000000000000000aa",
        "anvil:0x00000000000000000000000000000000000000bb",
    ];

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let [first, second] = POOLS.map(|pool| pool.parse::<PoolId>().unwrap());
        let bases = [(&first, Direction::ZeroForOne), (&second, Direction::OneForZero)];
        let bases = DefaultBases::of_pools(bases.into_iter());
        let text = bases.to_text();
        assert_eq!(text, format!("{second} token1\n"));
        assert_eq!(DefaultBases::from_text(&text), Ok(bases.clone()));
        assert_eq!(bases.base(&first), Direction::ZeroForOne);
        assert_eq!(bases.base(&second), Direction::OneForZero);
        assert_eq!(DefaultBases::from_text(""), Ok(DefaultBases::default()));
        let wrong = [format!("{second} token1"), format!("{second} token0\n"), "\n".into()];
        for text in wrong {
            assert_eq!(DefaultBases::from_text(&text), Err(NoBases { line: 1 }), "{text:?}");
        }
    }
}
