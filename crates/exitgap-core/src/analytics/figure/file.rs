//! The parts of a figure file.

use crate::analytics::accuracy::{ACCURACY, AccuracyFigure, AccuracyTerms};
use crate::analytics::decay::{DECAY, DecayResult, DecayTerms};
use crate::analytics::equity::{EQUITY, EquityResult, EquityTerms};
use crate::analytics::exposure::{EXPOSURE, ExposureResult, ExposureTerms};
use crate::analytics::hours::{HOURS, HoursResult, HoursTerms};
use crate::analytics::stress::{STRESS, StressResult, StressTerms};
use crate::evidence::DocumentError;
use crate::exit::METHOD_VERSION;
use crate::ids::{DocumentHash, PoolId, SnapshotHash};
use crate::json::{Part, VERSION, Wire, from_canonical, to_canonical, wire_struct};
use crate::series::Slot;

/// The most head windows of a file: two of each of twelve pools, or those of 31 days of one.
pub const MAX_FIGURE_WINDOWS: usize = 24;

/// The most bytes of a figure file that are looked at: several times what those of 31 days take.
pub const MAX_FIGURE_BYTES: usize = 32 << 20;

/// Whether bytes begin as a figure file's do, and no other document's: it is then one, sound or not.
pub fn is_figure_file(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"figure\":")
}

/// A snapshot that a figure is drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureUse {
    /// The pool.
    pub pool: PoolId,
    /// The slot.
    pub slot: Slot,
    /// The hash of the snapshot.
    pub snapshot: SnapshotHash,
}

wire_struct!(FigureUse { pool, slot, snapshot });

/// A document that a figure is drawn from: what a pool logged, as a head commits to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFills {
    /// The hash of the document.
    pub document: DocumentHash,
    /// The pool.
    pub pool: PoolId,
    /// The slot of the head.
    pub slot: Slot,
}

wire_struct!(FigureFills { document, pool, slot });

/// A file, read. Nothing of it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FigureFile {
    pub v: u32,
    pub figure: String,
    pub fills: Vec<FigureFills>,
    pub method: String,
    pub parameters: Part,
    pub result: Part,
    pub uses: Vec<FigureUse>,
    pub windows: Vec<Part>,
}

wire_struct!(FigureFile { v, figure, method, parameters, result, uses, windows; optional fills });

impl FigureFile {
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, DocumentError> {
        from_canonical(bytes, MAX_FIGURE_BYTES, "a figure file")
    }
}

/// The bytes of a file of the accuracy record, with windows and uses as [`write_decay`] wants them; `fills` are all
/// documents that the period's heads commit to, ascending.
pub fn write_accuracy(
    terms: &AccuracyTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    fills: Vec<FigureFills>,
    result: &AccuracyFigure,
) -> Result<Vec<u8>, DocumentError> {
    let file = made_of(ACCURACY, part(&terms.parameters())?, windows, uses, part(result)?)?;
    to_canonical(&FigureFile { fills, ..file })
}

/// The bytes of a file of depth decay. `windows` are canonical, ascending, each beginning where the
/// one before ends, the last ending at the period's last slot; `uses` are all standing slots of the
/// period, ascending.
pub fn write_decay(
    terms: &DecayTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: &DecayResult,
) -> Result<Vec<u8>, DocumentError> {
    write(DECAY, part(&terms.parameters())?, windows, uses, part(result)?)
}

/// The bytes of a file of a tokenized equity, with windows and uses as [`write_decay`] wants them.
pub fn write_equity(
    terms: &EquityTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: &EquityResult,
) -> Result<Vec<u8>, DocumentError> {
    write(EQUITY, part(&terms.parameters())?, windows, uses, part(result)?)
}

/// The bytes of a file of liquidation exposure. `windows` are those of the venues in their order, those of each as
/// [`write_decay`] wants them; `uses` are all standing slots of the period, ascending, those of one slot in the order of
/// the venues.
pub fn write_exposure(
    terms: &ExposureTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: &ExposureResult,
) -> Result<Vec<u8>, DocumentError> {
    write(EXPOSURE, part(&terms.parameters())?, windows, uses, part(result)?)
}

/// The bytes of a file of market hours, with windows and uses as [`write_decay`] wants them.
pub fn write_hours(
    terms: &HoursTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: &HoursResult,
) -> Result<Vec<u8>, DocumentError> {
    write(HOURS, part(&terms.parameters())?, windows, uses, part(result)?)
}

/// The bytes of a file of stress, with windows and uses as [`write_exposure`] wants them.
pub fn write_stress(
    terms: &StressTerms,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: &StressResult,
) -> Result<Vec<u8>, DocumentError> {
    write(STRESS, part(&terms.parameters())?, windows, uses, part(result)?)
}

fn write(
    figure: &str,
    parameters: Part,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: Part,
) -> Result<Vec<u8>, DocumentError> {
    to_canonical(&made_of(figure, parameters, windows, uses, result)?)
}

fn made_of(
    figure: &str,
    parameters: Part,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    result: Part,
) -> Result<FigureFile, DocumentError> {
    Ok(FigureFile {
        v: VERSION,
        figure: figure.to_owned(),
        fills: Vec::new(),
        method: METHOD_VERSION.to_owned(),
        parameters,
        result,
        uses: uses.to_vec(),
        windows: windows.iter().map(|window| Part::of(window)).collect::<Result<_, _>>()?,
    })
}

/// A document as the part that it is of another.
pub(super) fn part(document: &impl Wire) -> Result<Part, DocumentError> {
    to_canonical(document).map(Part)
}
