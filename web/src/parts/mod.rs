//! Components shared by pages.

mod ask;
mod chains;
mod checks;
mod collapsible;
mod command;
mod conditions;
mod contradiction;
mod gap;
mod live_query;
mod numbers;
mod rules;
mod split;
mod states;
mod table;

pub use ask::{AskExit, DEFAULT, HoldingForm};
pub use chains::Chains;
pub use checks::{Checks, Verdicts, Whose, describe_claim};
pub use collapsible::{CollapsibleSection, render_collapsible};
pub use command::VerifyCommand;
pub use conditions::Conditions;
pub use gap::{CheckAll, CheckedGap, link_evidence};
pub use live_query::{LiveQuery, debounce_value, size_asked};
pub use numbers::{Card, Drawn, exact};
pub use rules::{RULES, rule_of};
pub use split::Split;
pub use states::{
    Empty, FailureNotice, LoadingNotice, PreviewNotice, RefusalNotice, StatusTag, not_understood,
    soon,
};
pub use table::{Column, Row, Table, number, words};
