//! The figure file: one format for every figure computed from many snapshots, with which anyone can
//! recompute it. The bytes are described in `docs/figure-v1.md`.
//!
//! - `kind`: what a figure is, and the list of figures; `file`: the parts of a file
//! - `period`: what its head windows prove: which slots are recorded and not retracted, and that
//!   none was left out; `histories`: whether their proofs can be of one log
//! - `verify`: the checks, given one snapshot or document at a time; `report`: their results;
//!   `claim`: what the file states that it is of

mod claim;
mod file;
mod histories;
mod kind;
mod period;
mod report;
mod verify;

pub use claim::{ClaimedVenue, FigureClaim};
pub(super) use file::part;
pub use file::{
    FigureFills, FigureUse, MAX_FIGURE_BYTES, MAX_FIGURE_WINDOWS, is_figure_file, write_figure,
};
pub use kind::{Figure, FigurePass, parameters_of};
pub use period::PeriodError;
pub use report::{FigureCheck, FigureCheckName, FigureReport};
pub use verify::{FigureVerifier, FigureWant, SealedHeads};
