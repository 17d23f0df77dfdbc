//! The figure file: one format for every figure drawn from many snapshots, by which anybody
//! computes it again. The bytes are described in `docs/figure-v1.md`.
//!
//! - `file`: its parts; `asked`: the figures there are
//! - `period`: what its head windows prove: which slots stand, and that none was left out
//! - `verify`: the checks, fed one snapshot or document at a time; `report`: what they found

mod asked;
mod file;
mod period;
mod report;
mod verify;

pub use file::{
    FigureFills, FigureUse, MAX_FIGURE_BYTES, MAX_FIGURE_WINDOWS, is_figure_file, write_accuracy,
    write_decay, write_equity, write_exposure, write_hours, write_stress,
};
pub use period::PeriodError;
pub use report::{FigureCheck, FigureCheckName, FigureReport};
pub use verify::{FigureVerifier, FigureWant};
