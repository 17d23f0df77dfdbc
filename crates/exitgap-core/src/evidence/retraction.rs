//! Retractions: a later head withdraws an earlier slot.

use super::head::HeadError;
use crate::Newer;
use crate::ids::{BlockHash, Code};
use crate::json::{Fields, Json, Part, Wire};
use crate::series::Slot;

/// How many slots back a retraction may reach: one day.
pub const MAX_RETRACTION_SLOTS: u32 = 288;

/// A retracted slot. No later figure counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retraction {
    /// The slot, at most 288 before the head's own.
    pub slot: Slot,
    /// The cause.
    pub cause: RetractionCause,
}

/// Why a slot is retracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetractionCause {
    /// Its block is not on the chain that became final.
    Orphaned {
        /// The block at which the slot's snapshot was read.
        orphaned: BlockHash,
        /// The final chain's block with that number.
        canonical: BlockHash,
    },
    /// A later full reading proved that the recorded ticks were wrong.
    Misread,
    /// A cause that only a later version of exitgap knows.
    Newer {
        /// Its code.
        code: Code,
        /// The canonical bytes of the whole retraction.
        document: Vec<u8>,
    },
}

const ORPHANED: &str = "orphaned";
const MISREAD: &str = "misread";

impl RetractionCause {
    /// The stable code, e.g. `orphaned`.
    pub fn code(&self) -> &str {
        match self {
            Self::Orphaned { .. } => ORPHANED,
            Self::Misread => MISREAD,
            Self::Newer { code, .. } => code.as_str(),
        }
    }
}

impl Retraction {
    /// Retracts a slot whose block was orphaned.
    pub fn for_orphan(slot: Slot, orphaned: BlockHash, canonical: BlockHash) -> Self {
        Self { slot, cause: RetractionCause::Orphaned { orphaned, canonical } }
    }

    /// Retracts a slot whose ticks were misread.
    pub fn misread(slot: Slot) -> Self {
        Self { slot, cause: RetractionCause::Misread }
    }

    /// The cause, if only a later version of exitgap knows it.
    pub fn newer(&self) -> Option<Newer> {
        match &self.cause {
            RetractionCause::Newer { code, .. } => Some(Newer::Retraction(*code)),
            _ => None,
        }
    }
}

impl Wire for Retraction {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::from_json(json)?;
        let (slot, code): (Slot, Code) = (fields.take_field("slot")?, fields.take_field("code")?);
        let cause = match code.as_str() {
            ORPHANED => RetractionCause::Orphaned {
                orphaned: fields.take_field("orphaned")?,
                canonical: fields.take_field("canonical")?,
            },
            MISREAD => RetractionCause::Misread,
            _ => {
                let Part(document) = Part::from_json(json)?;
                return Ok(Self { slot, cause: RetractionCause::Newer { code, document } });
            }
        };
        fields.end()?;
        Ok(Self { slot, cause })
    }

    fn to_json(&self) -> Json<'_> {
        let mut fields = vec![
            ("slot".into(), self.slot.to_json()),
            ("code".into(), Json::Text(self.cause.code().into())),
        ];
        match &self.cause {
            RetractionCause::Orphaned { orphaned, canonical } => {
                fields.push(("orphaned".into(), orphaned.to_json()));
                fields.push(("canonical".into(), canonical.to_json()));
            }
            RetractionCause::Misread => {}
            RetractionCause::Newer { document, .. } => return Json::Canonical(document),
        }
        Json::Object(fields)
    }
}

/// Requires ascending retractions of slots 1 to 288 before `slot`, each with a valid cause.
pub(super) fn check_retractions(slot: Slot, retracts: &[Retraction]) -> Result<(), HeadError> {
    let mut previous = None;
    for retraction in retracts {
        let back = slot.number().checked_sub(retraction.slot.number());
        let near = back.is_some_and(|back| (1..=MAX_RETRACTION_SLOTS).contains(&back));
        let ascending = previous.is_none_or(|previous| previous < retraction.slot);
        let possible = match &retraction.cause {
            RetractionCause::Orphaned { orphaned, canonical } => orphaned != canonical,
            RetractionCause::Misread | RetractionCause::Newer { .. } => true,
        };
        if !near || !ascending || !possible {
            return Err(HeadError::Retraction { slot: retraction.slot });
        }
        previous = Some(retraction.slot);
    }
    Ok(())
}
