//! The checks: whether a figure file proves its result. Pure and total: no I/O, no panic. Snapshots
//! are fed one at a time, and never more than a hundred of them are held.

use super::asked::{Asked, NotAsked, Refused, Scan};
use super::file::{FigureFile, FigureUse};
use super::period::{NotSigned, Period, PeriodError};
use super::report::{FigureCheck, FigureCheckName, FigureReport};
use crate::evidence::DocumentError;
use crate::exit::METHOD_VERSION;
use crate::ids::{PoolId, SnapshotHash};
use crate::json::Part;
use crate::series::Slot;
use crate::snapshot::{Snapshot, SnapshotDocuments};
use crate::tlog::{Unsigned, VerifierKey};

/// A file being verified: made of its bytes, fed the snapshots that it [wants](Self::wanted) in their
/// order, and [finished](Self::finish) at any time.
#[derive(Debug)]
pub struct FigureVerifier {
    /// Of what needs no snapshot.
    checks: Vec<FigureCheck>,
    uses: Vec<FigureUse>,
    next: usize,
    /// `None`: nothing can be computed, or no longer.
    scan: Option<Scan>,
    result: Part,
    absent: usize,
    snapshots: Option<FigureCheck>,
    refused: Option<Refused>,
}

impl FigureVerifier {
    /// Reads a file and makes the checks that need no snapshot. `keys` are trusted, each under its
    /// log's origin as its name.
    pub fn new(bytes: &[u8], keys: &[VerifierKey]) -> Self {
        match opened(bytes) {
            Ok((file, asked)) => Self::of(file, asked, bytes.len(), keys),
            Err(format) => {
                let needs = "a file of a figure and of rules that are known";
                let code = format.code;
                let rest = FigureCheckName::ALL.into_iter().skip(1);
                let rest = rest.map(|name| FigureCheck::not_checked(name, code, needs));
                let checks = core::iter::once(format).chain(rest).collect();
                Self::with(checks, Vec::new(), None, Part(Vec::new()))
            }
        }
    }

    fn of(file: FigureFile, asked: Asked, length: usize, keys: &[VerifierKey]) -> Self {
        use FigureCheckName::{Format, SealedLeaves, Signature, Uses, Windows};
        let format = format!("{} of {length} bytes", asked.name());
        let mut checks = vec![FigureCheck::pass(Format, format)];
        let (pools, (from, to)) = (asked.pools(), asked.period());
        let leaves =
            || FigureCheck::not_checked(SealedLeaves, "no_leaves", "the log's slot leaves");
        match Period::of(&file.windows, &pools, from, to) {
            Ok(period) => {
                checks.push(match period.newer {
                    Some(newer) => FigureCheck::newer(Windows, newer),
                    None => FigureCheck::pass(Windows, format!("{} heads", period.heads)),
                });
                checks.extend([check_signature(&period, keys), leaves()]);
                checks.push(check_uses(&period.standing, &file.uses, &pools));
            }
            Err(error) => {
                let absent = "head windows that hold together";
                checks.push(match &error {
                    PeriodError::Window { error, .. } if error.newer().is_some() => error
                        .newer()
                        .map_or_else(leaves, |newer| FigureCheck::newer(Windows, newer)),
                    error => FigureCheck::fail(
                        Windows,
                        "windows_invalid",
                        format!("unbroken heads of {from} to {to}"),
                        error.to_string(),
                    ),
                });
                checks.push(FigureCheck::not_checked(Signature, "windows_invalid", absent));
                checks.push(leaves());
                checks.push(FigureCheck::not_checked(Uses, "windows_invalid", absent));
            }
        }
        Self::with(checks, file.uses, asked.scan(), file.result)
    }

    fn with(
        checks: Vec<FigureCheck>,
        uses: Vec<FigureUse>,
        scan: Option<Scan>,
        result: Part,
    ) -> Self {
        let (absent, snapshots, refused) = (0, None, None);
        Self { checks, uses, next: 0, scan, result, absent, snapshots, refused }
    }

    /// The snapshot that is wanted next; `None` where no other is.
    pub fn wanted(&self) -> Option<&FigureUse> {
        self.uses.get(self.next).filter(|_| self.snapshots.is_none())
    }

    /// How many snapshots were given, and how many there are to give.
    pub fn progress(&self) -> (usize, usize) {
        (self.next, self.uses.len())
    }

    /// Takes the wanted snapshot; `None` where it is not at hand. What follows from the file is told
    /// at the end.
    pub fn take(&mut self, documents: Option<&SnapshotDocuments>) {
        let Some(wanted) = self.wanted().cloned() else { return };
        self.next += 1;
        let Some(documents) = documents else {
            self.absent += 1;
            self.scan = None;
            return;
        };
        match observed(&wanted, documents) {
            Ok(snapshot) => {
                let Some(scan) = &mut self.scan else { return };
                if let Err(error) = scan.take(&wanted, snapshot.observation().clone()) {
                    self.refused = Some(error);
                    self.scan = None;
                }
            }
            Err(check) => {
                self.snapshots = Some(check);
                self.scan = None;
            }
        }
    }

    /// The report.
    pub fn finish(self) -> FigureReport {
        use FigureCheckName::{Result as Recomputed, Snapshots};
        let Self { mut checks, uses, next, scan, result, absent, snapshots, refused } = self;
        if checks.len() == FigureCheckName::ALL.len() {
            return FigureReport::new(checks);
        }
        let wanting = uses.len() - next + absent;
        checks.push(match snapshots {
            Some(check) => check,
            None if wanting > 0 => {
                let needs = format!("{wanting} more snapshots");
                FigureCheck::not_checked(Snapshots, "snapshots_absent", &needs)
            }
            None => FigureCheck::pass(Snapshots, format!("{} snapshots", uses.len())),
        });
        checks.push(match (refused, scan) {
            (Some(refused), _) => no_figure(&refused),
            (None, Some(scan)) if wanting == 0 => check_result(scan, &result),
            _ => FigureCheck::not_checked(Recomputed, "snapshots_absent", "every snapshot"),
        });
        FigureReport::new(checks)
    }
}

/// The file and what it asks, or the check that it fails.
fn opened(bytes: &[u8]) -> Result<(FigureFile, Asked), FigureCheck> {
    const NAME: FigureCheckName = FigureCheckName::Format;
    let invalid = |found: String| {
        let expected = "canonical JSON of a figure file, version 1";
        FigureCheck::fail(NAME, "format_invalid", expected, found)
    };
    let unknown = |code, what: &str, text: &str| {
        let needs = format!("{what} {:?}", text.chars().take(40).collect::<String>());
        FigureCheck::not_checked(NAME, code, &needs)
    };
    let file = FigureFile::from_canonical(bytes).map_err(|error| match error {
        DocumentError::Newer(newer) => FigureCheck::newer(NAME, newer),
        error => invalid(error.to_string()),
    })?;
    let asked = Asked::of(&file);
    if matches!(asked, Err(NotAsked::Unknown)) {
        return Err(unknown("unsupported_figure", "rules of", &file.figure));
    }
    if file.method != METHOD_VERSION {
        return Err(unknown("unsupported_method", "the method", &file.method));
    }
    match asked {
        Ok(asked) => Ok((file, asked)),
        Err(NotAsked::Invalid(why)) => Err(invalid(format!("parameters: {why}"))),
        Err(NotAsked::Unknown) => Err(unknown("unsupported_figure", "rules of", &file.figure)),
    }
}

fn no_figure(refused: &Refused) -> FigureCheck {
    let found = format!("a figure, where there is none: {}", refused.why);
    FigureCheck::fail(FigureCheckName::Result, refused.code, "no figure", found)
}

fn check_signature(period: &Period, keys: &[VerifierKey]) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Signature;
    if keys.is_empty() {
        return FigureCheck::not_checked(NAME, "no_trusted_key", "a key to trust");
    }
    match period.signers(keys) {
        Ok(signers) => FigureCheck::pass(NAME, signers.join(", ")),
        Err(NotSigned::Unread(error)) => FigureCheck::fail(
            NAME,
            "checkpoint_invalid",
            "a signed checkpoint with each window",
            error.to_string(),
        ),
        Err(NotSigned::OtherLog { expected, found }) => {
            FigureCheck::fail(NAME, "windows_of_two_logs", expected, found)
        }
        Err(NotSigned::By(unsigned)) => match *unsigned {
            Unsigned::Forged { signer } => FigureCheck::fail(
                NAME,
                "signature_forged",
                "a signature that the key of this name made",
                format!("another one as {signer}"),
            ),
            Unsigned::NotTrusted { origin, found } => FigureCheck::fail(
                NAME,
                "signature_not_trusted",
                format!("a signature of {origin} by a trusted key"),
                found.join(", "),
            ),
        },
    }
}

fn check_uses(
    standing: &[(Slot, usize, SnapshotHash)],
    uses: &[FigureUse],
    pools: &[PoolId],
) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Uses;
    let text = |slot: Slot, hash: SnapshotHash| format!("{} {hash}", slot.number());
    for index in 0..standing.len().max(uses.len()) {
        let (expected, found) = (standing.get(index), uses.get(index));
        let same = expected.zip(found).is_some_and(|((slot, place, hash), found)| {
            found.pool == pools[*place] && found.slot == *slot && found.snapshot == *hash
        });
        if !same {
            let expected = expected.map_or("no further".to_owned(), |(slot, place, hash)| {
                format!("{} {}", pools[*place], text(*slot, *hash))
            });
            let found = found.map_or("none".to_owned(), |found| {
                format!("{} {}", found.pool, text(found.slot, found.snapshot))
            });
            return FigureCheck::fail(NAME, "uses_mismatch", expected, found);
        }
    }
    FigureCheck::pass(NAME, format!("all {} standing slots", uses.len()))
}

/// The snapshot of a use, or the check that it fails.
fn observed(wanted: &FigureUse, documents: &SnapshotDocuments) -> Result<Snapshot, FigureCheck> {
    const NAME: FigureCheckName = FigureCheckName::Snapshots;
    let hash = documents.hash();
    if hash != wanted.snapshot {
        let expected = format!("{} of slot {}", wanted.snapshot, wanted.slot);
        return Err(FigureCheck::fail(NAME, "snapshot_hash_mismatch", expected, hash.to_string()));
    }
    let SnapshotDocuments { snapshot, state } = documents;
    let read = Snapshot::of_pool(&wanted.pool, snapshot, state);
    let snapshot = read.map_err(|error| match error.newer() {
        Some(newer) => FigureCheck::newer(NAME, newer),
        None => FigureCheck::fail(NAME, "snapshot_invalid", "a snapshot", error.to_string()),
    })?;
    if snapshot.slot() != wanted.slot {
        let (expected, found) = (wanted.slot.to_string(), snapshot.slot().to_string());
        return Err(FigureCheck::fail(NAME, "snapshot_slot_mismatch", expected, found));
    }
    Ok(snapshot)
}

fn check_result(scan: Scan, published: &Part) -> FigureCheck {
    const NAME: FigureCheckName = FigureCheckName::Result;
    let result = match scan.result() {
        Ok(result) => result,
        Err(refused) => return no_figure(&refused),
    };
    if result == *published {
        return FigureCheck::pass(NAME, format!("{} bytes", result.0.len()));
    }
    let differs = result.0.iter().zip(&published.0).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let near = bytes.get(differs.saturating_sub(60)..).unwrap_or_default();
        String::from_utf8_lossy(near.get(..120).unwrap_or(near)).into_owned()
    };
    FigureCheck::fail(NAME, "result_mismatch", around(&result.0), around(&published.0))
}
