//! What pages are made of.

mod ask;
mod asked;
mod card;
mod chains;
mod checks;
mod command;
mod conditions;
mod contradiction;
mod drawn;
mod elsewhere;
mod exact;
mod gap;
mod live;
mod pools;
mod rules;
mod split;
mod states;
mod table;

pub use ask::{AskExit, DEFAULT, Holding};
pub use asked::{Asking, settled};
pub use card::Card;
pub use chains::Chains;
pub use checks::{Checks, Verdicts, claimed};
pub use command::VerifyCommand;
pub use conditions::Conditions;
pub use drawn::Drawn;
pub use elsewhere::Whose;
pub use exact::exact;
pub use gap::{CheckAll, CheckedGap, linked};
pub use live::{on_evaluated, on_sealed};
pub use pools::{listed_pools, name_of};
pub use rules::{RULES, rule_of};
pub use split::Split;
pub use states::{Empty, Failed, Loading, PreviewNotice, Refused, StatusTag, not_understood, soon};
pub use table::{Column, Row, Table, number, words};
