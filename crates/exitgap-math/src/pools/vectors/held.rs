//! Checks core against the stored files, natively and as WebAssembly.

use super::{RecordedFills, RecordedPool, Verdict};
use crate::pools::PoolState;

/// The number of cases of a file by result. All of them agree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::pools) struct Held {
    pub cases: usize,
    /// The sales among them that the contract filled completely.
    pub filled: usize,
    /// The sales that the contract refused by a rule that core does not have.
    pub unmodelled: usize,
    /// The sales after which core has the same state as the contract.
    pub after: usize,
}

/// Decompresses and parses a file.
pub(in crate::pools) fn unpack_fills(packed: &[u8]) -> RecordedFills {
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap();
    RecordedFills::from_bytes(&text).unwrap()
}

/// Requires that core gives the contract's result for every case.
pub(in crate::pools) fn hold(packed: &[u8]) -> Held {
    let RecordedFills { kind, pools } = unpack_fills(packed);
    let mut held = Held::default();
    for pool in &pools {
        spelled_as_read(pool);
        for case in &pool.cases {
            let verdict = pool.compare(kind, case);
            assert!(!matches!(verdict, Verdict::Different(_)), "{} {case:?}: {verdict:?}", pool.id);
            held.cases += 1;
            held.filled += usize::from(matches!(case.answer, super::RecordedAnswer::Paid(_)));
            held.unmodelled += usize::from(verdict == Verdict::Unmodelled);
        }
        let Some(after) = &pool.after else { continue };
        assert_eq!(pool.compare(kind, &after.case), Verdict::Same, "{}", pool.id);
        if let Some(follows) = pool.follows(after) {
            assert!(follows, "{}", pool.id);
            held.after += 1;
        }
    }
    held
}

fn spelled_as_read(pool: &RecordedPool) {
    let Ok(state) = &pool.state else { return };
    let bytes = state.to_canonical().unwrap();
    assert_eq!(PoolState::from_canonical(&bytes).as_ref(), Ok(state));
}
