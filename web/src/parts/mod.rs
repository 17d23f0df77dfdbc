//! What pages are made of.

mod asked;
mod checks;
mod conditions;
mod contradiction;
mod drawn;
mod elsewhere;
mod gap;
mod live;
mod split;
mod states;

pub use asked::{Asking, settled};
pub use checks::{Checks, Verdicts};
pub use conditions::Conditions;
pub use drawn::Drawn;
pub use elsewhere::Whose;
pub use gap::{CheckAll, CheckedGap, linked};
pub use live::{on_evaluated, on_sealed};
pub use split::Split;
pub use states::{Empty, Failed, Loading, PreviewNotice, Refused, StatusTag, not_understood};
