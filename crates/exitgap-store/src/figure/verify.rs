//! Verifies a figure file with the store's own snapshots and logs.

use exitgap_core::analytics::figure::{FigureFills, FigureReport, FigureVerifier, FigureWant};
use exitgap_core::tlog::VerifierKey;

use crate::error::StoreError;
use crate::reader::Reader;

impl Reader {
    /// Recomputes a figure file's result from this store's snapshots and logs, and checks every hash. `told` receives how
    /// many inputs were processed, and the total.
    pub fn verify_figure(
        &self,
        file: &[u8],
        keys: &[VerifierKey],
        mut told: impl FnMut(usize, usize),
    ) -> Result<FigureReport, StoreError> {
        let mut verifier = FigureVerifier::new(file, keys);
        while let Some(wanted) = verifier.next_want() {
            match wanted {
                FigureWant::Snapshot(wanted) => {
                    let documents = self.documents(wanted.snapshot)?;
                    verifier.add_snapshot(documents.as_ref());
                }
                FigureWant::Fills(FigureFills { pool, slot, .. }) => {
                    let run = [*slot; 2];
                    let pool = self.pool(pool)?;
                    let page = pool.map(|pool| self.fills(&pool, run, 1)).transpose()?;
                    let found = page.and_then(|mut page| page.entries.pop());
                    verifier.take_fills(found.map(|stored| stored.canonical).as_deref());
                }
            }
            let (seen, all) = verifier.progress();
            told(seen, all);
        }
        Ok(verifier.finish())
    }
}
