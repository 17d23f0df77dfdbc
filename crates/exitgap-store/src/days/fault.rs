//! What can be wrong with a day, and where.

use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::table::TableError;

/// A rule that a day breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayFault {
    /// A stable code, that of the same rule of a log's folder where there is one.
    pub code: &'static str,
    /// What is wrong, in words.
    pub detail: String,
    /// The slot, where it is one slot's fault.
    pub slot: Option<Slot>,
    /// The pool, where it is one pool's fault.
    pub pool: Option<PoolId>,
    /// Whether it only leaves something unchecked: a file that is not here, or what a later version of exitgap made.
    pub is_incomplete: bool,
}

impl DayFault {
    /// A fault of the day.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), slot: None, pool: None, is_incomplete: false }
    }

    /// The same of a slot.
    #[must_use]
    pub fn at(self, slot: Slot) -> Self {
        Self { slot: Some(slot), ..self }
    }

    /// The same of a pool.
    #[must_use]
    pub fn by(self, pool: &PoolId) -> Self {
        Self { pool: Some(pool.clone()), ..self }
    }

    /// The same, where it may be that it only leaves something unchecked.
    #[must_use]
    pub fn unknown(self, is_incomplete: bool) -> Self {
        Self { is_incomplete, ..self }
    }
}

/// Why an audit ends early.
pub enum AuditError {
    /// The day breaks a rule.
    Fault(Box<DayFault>),
    /// This machine could not read what is there.
    Machine(TableError),
}

impl From<DayFault> for AuditError {
    fn from(fault: DayFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<TableError> for AuditError {
    fn from(error: TableError) -> Self {
        match error {
            error @ TableError::File { .. } => Self::Machine(error),
            TableError::Wrong { path, reason } => {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                DayFault::new("table_invalid", format!("{file}: {reason}")).into()
            }
        }
    }
}
