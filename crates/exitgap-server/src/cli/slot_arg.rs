//! A slot as a command-line argument.

use std::str::FromStr;

use exitgap_core::series::{Slot, SlotError, unix_s_of};

/// A slot on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotArg(pub Slot);

/// Why a text is not a valid slot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlotArgError {
    /// It is neither a number nor the time of a slot.
    #[error(
        "write a slot's number, or its time such as 2026-08-22T00:05:00Z (a multiple of five minutes, UTC)"
    )]
    NotASlot,
    /// Not a slot of the series.
    #[error(transparent)]
    OutOfSeries(#[from] SlotError),
}

impl FromStr for SlotArg {
    type Err = SlotArgError;
    fn from_str(text: &str) -> Result<Self, SlotArgError> {
        if let Ok(number) = text.parse() {
            return Ok(Self(Slot::new(number)?));
        }
        let unix_s = unix_s_of(text).map_err(|_| SlotArgError::NotASlot)?;
        if unix_s % Slot::SECONDS != 0 {
            return Err(SlotArgError::NotASlot);
        }
        Ok(Self(Slot::at_or_before(unix_s)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_named_by_number_or_instant() {
        let parse = |text: &str| text.parse::<SlotArg>().map(|slot| slot.0.number());
        assert_eq!(parse("5957857"), Ok(5_957_857));
        assert_eq!(parse("2026-08-22T00:05:00Z"), Ok(5_957_857));
        assert_eq!(parse("9999-12-31T23:55:00Z"), Ok(Slot::LAST.number()));
        for wrong in ["2026-08-22T00:06:00Z", "2026-02-30T00:00:00Z", "2026-08-22", "now", ""] {
            assert_eq!(parse(wrong), Err(SlotArgError::NotASlot), "{wrong}");
        }
        assert_eq!(
            parse("5957855"),
            Err(SlotArgError::OutOfSeries(SlotError::BeforeSeries { slot: 5_957_855 }))
        );
    }
}
