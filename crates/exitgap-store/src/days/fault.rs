//! The faults of a day, with their place.

use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::table::TableError;

/// A broken rule of a day, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayFault {
    /// A stable code, the same as for the corresponding rule of a log's folder.
    pub code: &'static str,
    /// A description of the fault.
    pub detail: String,
    /// The slot, if the fault concerns one slot.
    pub slot: Option<Slot>,
    /// The pool, if the fault concerns one pool.
    pub pool: Option<PoolId>,
    /// Whether something only remains unchecked, because a file is absent or a later version of exitgap wrote it.
    pub is_incomplete: bool,
}

impl DayFault {
    /// A fault of the day.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), slot: None, pool: None, is_incomplete: false }
    }

    /// The same fault for a slot.
    #[must_use]
    pub fn at(self, slot: Slot) -> Self {
        Self { slot: Some(slot), ..self }
    }

    /// The same fault for a pool.
    #[must_use]
    pub fn by(self, pool: &PoolId) -> Self {
        Self { pool: Some(pool.clone()), ..self }
    }

    /// The same fault; `is_incomplete` if something only remains unchecked.
    #[must_use]
    pub fn unknown(self, is_incomplete: bool) -> Self {
        Self { is_incomplete, ..self }
    }
}

/// Why an audit ends early.
pub enum AuditError {
    /// The day breaks a rule.
    Fault(Box<DayFault>),
    /// This machine could not read an existing file.
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
