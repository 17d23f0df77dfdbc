//! What pages are made of.

mod checks;
mod gap;
mod split;
mod states;

pub use checks::{Checks, Drawn, Verdicts};
pub use gap::{CheckAll, CheckedGap};
pub use split::Split;
pub use states::{Empty, Failed, Loading, PreviewNotice, StatusTag};
