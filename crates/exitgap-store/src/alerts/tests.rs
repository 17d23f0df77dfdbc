//! Files that are something else.

use super::*;

#[test]
fn a_foreign_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let payments = folder.path().join("payments.db");
    drop(crate::payments::Payments::open(&payments).unwrap());
    let refused = Alerts::open(&payments).unwrap_err();
    assert!(matches!(refused, AlertsError::NotAlerts { found: 0x4558_5059, .. }), "{refused}");
    let path = folder.path().join("alerts.db");
    std::fs::write(&path, "no database at all, and long enough to be taken for one").unwrap();
    assert!(matches!(Alerts::open(&path).unwrap_err(), AlertsError::Database(_)));
}
