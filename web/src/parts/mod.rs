//! What pages are made of.

mod ask;
mod asked;
mod chains;
mod checks;
mod command;
mod conditions;
mod contradiction;
mod folded;
mod gap;
mod numbers;
mod rules;
mod split;
mod states;
mod table;

pub use ask::{AskExit, DEFAULT, Holding};
pub use asked::{Asking, settled, size_asked};
pub use chains::Chains;
pub use checks::{Checks, Verdicts, Whose, claimed};
pub use command::VerifyCommand;
pub use conditions::Conditions;
pub use folded::{Folded, folded};
pub use gap::{CheckAll, CheckedGap, linked};
pub use numbers::{Card, Drawn, exact};
pub use rules::{RULES, rule_of};
pub use split::Split;
pub use states::{Empty, Failed, Loading, PreviewNotice, Refused, StatusTag, not_understood, soon};
pub use table::{Column, Row, Table, number, words};
