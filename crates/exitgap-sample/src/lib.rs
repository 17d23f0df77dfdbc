//! The recorded sample that is embedded in the programs, and what `try` shows with it.
//!
//! The sample is one pool of a simulated market for a week, and two more for its last day: a signed log, a key, evidence
//! of one number, and a figure over the week. `cargo xtask sample` makes it. Nothing here reads a file, a clock or a
//! network: ages count from [`now_s`], the sample's own time.
//!
//! - [`Shown`] estimates, verifies and tampers
//! - [`Archive`] holds the files of the log

#![expect(clippy::result_large_err, reason = "a problem is made once, and then the program ends")]

mod archive;
mod shown;

pub use archive::{Archive, ArchiveError, ArchivedFile};
pub use shown::{SIZE_USD, Shown, Tampering};

use exitgap_core::evidence::Evidence;
use exitgap_core::series::Slot;

/// The file with the evidence of the sample's number.
pub const EVIDENCE_FILE: &str = "evidence.json";

/// The file with the key that signed the sample's log.
pub const KEY_FILE: &str = "verifier-key";

/// The figure file of the sample's week.
pub const FIGURE_FILE: &str = "figure.json";

/// The folder with the sample's log.
pub const LOG_FOLDER: &str = "log";

/// The compressed archive with the figure file and the log.
pub const RECORDED_FILE: &str = "recorded.zst";

/// The evidence of the sample's number.
pub const EVIDENCE: &[u8] = include_bytes!("../sample/evidence.json");

/// The key that signed the sample's log, and nothing else.
pub const VERIFIER_KEY: &str = include_str!("../sample/verifier-key");

#[cfg(feature = "recorded")]
const RECORDED: &[u8] = include_bytes!("../sample/recorded.zst");

/// Number of seconds after the newest slot at which the sample's clock stands: a slot is sealed by then.
const AFTER_SLOT_S: u64 = 60;

/// The sample's time, in seconds since 1970.
pub fn now_s() -> u64 {
    let evidence = Evidence::from_bytes(EVIDENCE);
    let slot = evidence.statement().and_then(|stated| Slot::new(stated.request.slot).ok());
    slot.map_or(0, |slot| slot.unix_s().saturating_add(AFTER_SLOT_S))
}

/// The figure file and the log.
#[cfg(feature = "recorded")]
pub fn recorded() -> Result<Archive, ArchiveError> {
    Archive::from_compressed(RECORDED)
}

#[cfg(all(test, feature = "recorded"))]
mod tests {
    use super::*;

    /// The most bytes that the sample may add to a program.
    const MAX_SAMPLE_BYTES: usize = 2_000_000;

    #[test]
    fn the_sample_is_whole_and_small() {
        let bytes = EVIDENCE.len() + VERIFIER_KEY.len() + RECORDED.len();
        assert!(bytes <= MAX_SAMPLE_BYTES, "{bytes} bytes");
        let recorded = recorded().unwrap();
        assert!(recorded.file(FIGURE_FILE).is_some());
        let key = recorded.file(&format!("{LOG_FOLDER}/{KEY_FILE}")).unwrap();
        assert_eq!(key, VERIFIER_KEY.as_bytes());
        let slots = recorded.files().iter().filter(|file| file.path.starts_with("log/slots/"));
        assert_eq!(slots.count(), 7 * 288);
    }

    #[test]
    fn the_clock_stands_a_minute_after_the_last_slot() {
        let week_s = 7 * 86_400;
        assert_eq!(now_s(), Slot::FIRST.unix_s() + week_s - 300 + 60);
    }
}
