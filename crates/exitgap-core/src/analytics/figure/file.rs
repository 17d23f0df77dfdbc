//! The parts of a figure file.

use super::kind::{Figure, FigurePass};
use crate::evidence::DocumentError;
use crate::exit::METHOD_VERSION;
use crate::ids::{DocumentHash, PoolId, SnapshotHash};
use crate::json::{Part, VERSION, Wire, from_canonical, to_canonical, wire_struct};
use crate::series::Slot;

/// The most head windows in a file: two for each of twelve pools, or those of 31 days of one pool.
pub const MAX_FIGURE_WINDOWS: usize = 24;

/// The largest figure file that is parsed, in bytes: several times the size for 31 days.
pub const MAX_FIGURE_BYTES: usize = 32 << 20;

/// Whether the bytes start like a figure file. No other document starts this way, so the bytes are a figure file, valid
/// or not.
pub fn is_figure_file(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"figure\":")
}

/// A snapshot that a figure uses.
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

/// A document of pool logs that a figure uses. A head commits to it.
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

/// A parsed figure file. Nothing is verified yet.
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

/// The bytes of a figure file. `windows` are canonical and grouped by pool, in the order of the pools. Each pool's
/// windows are ascending, each begins where the previous one ends, and the last ends at the figure's last head. `uses`
/// are all recorded, unretracted slots of the period, ascending, and within a slot in the order of the pools. `fills`
/// are all documents of logs that the heads commit to, ascending; empty for a figure that does not use logs.
pub fn write_figure<F: Figure>(
    figure: &F,
    windows: &[Vec<u8>],
    uses: &[FigureUse],
    fills: Vec<FigureFills>,
    result: &<F::Pass as FigurePass>::Result,
) -> Result<Vec<u8>, DocumentError> {
    to_canonical(&FigureFile {
        v: VERSION,
        figure: figure.name().to_owned(),
        fills,
        method: METHOD_VERSION.to_owned(),
        parameters: part(&figure.parameters())?,
        result: F::Pass::document(result)?,
        uses: uses.to_vec(),
        windows: windows.iter().map(|window| Part::from_bytes(window)).collect::<Result<_, _>>()?,
    })
}

/// A document as a part of another document.
pub(in crate::analytics) fn part(document: &impl Wire) -> Result<Part, DocumentError> {
    to_canonical(document).map(Part)
}
