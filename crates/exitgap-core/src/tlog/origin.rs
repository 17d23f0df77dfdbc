//! Origins of exitgap's logs: a name and the log's first slot.

use core::fmt;
use core::str::FromStr;

use exitgap_tlog::{CheckpointError, VerifierKey};

use crate::series::Slot;

/// The form of an exitgap log's origin.
const FORM: &str = "<name>/<first slot>";

/// A log's name: the first line of its checkpoints. It ends with the log's first slot, so leaf `i` is slot `first + i`,
/// and no slot can be left out unnoticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    name: String,
    first_slot: Slot,
}

impl Origin {
    /// The log `name` (no white space, no `+`), starting at `first_slot`.
    pub fn new(name: &str, first_slot: Slot) -> Result<Self, CheckpointError> {
        exitgap_tlog::Origin::new(name).map_err(|_| CheckpointError::origin(FORM, name))?;
        Ok(Self { name: name.to_owned(), first_slot })
    }

    /// The name before the first slot. The log's key was created under this name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The slot of leaf 0.
    pub fn first_slot(&self) -> Slot {
        self.first_slot
    }

    /// The leaf index of `slot`; `None` for slots before the log's first.
    pub fn index_of(&self, slot: Slot) -> Option<u64> {
        slot.number().checked_sub(self.first_slot.number()).map(u64::from)
    }

    /// The key under the log's full name. Accepts the log's own key, or the key under which the log began, whose name
    /// lacks the first slot. `None` for the key of another log.
    pub fn key_of(&self, key: &VerifierKey) -> Option<VerifierKey> {
        let name = self.to_string();
        if key.name() == name {
            Some(key.clone())
        } else if key.name() == self.name {
            key.with_name(&name).ok()
        } else {
            None
        }
    }
}

impl FromStr for Origin {
    type Err = CheckpointError;
    fn from_str(line: &str) -> Result<Self, CheckpointError> {
        let wrong = || CheckpointError::origin(FORM, line);
        let (name, slot) = line.rsplit_once('/').ok_or_else(wrong)?;
        let number: u64 = slot.parse().map_err(|_| wrong())?;
        // Only the canonical form is accepted: no sign, no leading zero.
        if number.to_string() != slot {
            return Err(wrong());
        }
        Self::new(name, Slot::new(number).map_err(|_| wrong())?)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.first_slot.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlog::{Checkpoint, Hash};

    #[test]
    fn origins_name_the_first_slot() {
        let origin = Origin::new("exitgap.example/log", Slot::FIRST).unwrap();
        assert_eq!(origin.to_string(), "exitgap.example/log/5957856");
        assert_eq!(origin.to_string().parse(), Ok(origin.clone()));
        let checkpoint =
            Checkpoint { origin, size: 42, root: Hash([1; 32]), extensions: Vec::new() };
        let text = checkpoint.to_text();
        assert_eq!(Checkpoint::from_text(&text), Ok(checkpoint));
        for (end, found) in [
            ("/12", "exitgap.example/log/12"),
            ("/05957856", "exitgap.example/log/05957856"),
            ("", "exitgap.example/log"),
        ] {
            let refused = Checkpoint::from_text(&text.replacen("/5957856", end, 1)).unwrap_err();
            let said = format!("origin {found:?} is not <name>/<first slot>");
            assert_eq!(refused.to_string(), said);
        }
    }
}
