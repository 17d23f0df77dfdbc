//! Files of earlier versions, and files that are not payment databases.

use super::*;
use crate::db::payments::make_version;

fn payment() -> NewPayment {
    NewPayment {
        key: "k".to_owned(),
        fingerprint: [1; 32],
        family: Family::X402V2,
        signed: true,
        payer: Address([1; 20]),
        amount: 10_000,
        identifier: None,
        authorization: vec![1, 2, 3],
        valid_before_s: 2_000,
        since_block: 5,
        answer: b"{}".to_vec(),
        resource_url: "https://exitgap.example/v1/exit/x".to_owned(),
        settled: None,
    }
}

/// Restricts a file to its owner, as the server requires for files with secrets.
fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_database_of_an_earlier_version_goes_on() {
    for version in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payments.db");
        make_version(&path, version);
        make_private(&path);
        let open = || Payments::open(&path).unwrap();
        open().claim(&payment(), ClaimToken([1; 16]), 1_000).unwrap();
        let pool = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640".parse().unwrap();
        open().keep_receipt("k", "a.b.c", &pool).unwrap();
        assert_eq!(open().receipt("k").unwrap().as_deref(), Some("a.b.c"));
        assert_eq!(open().uncommitted_receipts(9).unwrap().len(), 1);
    }
}

#[test]
fn another_file_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payments.db");
    std::fs::write(&path, b"not a database, but a text of some length").unwrap();
    make_private(&path);
    assert!(matches!(Payments::open(&path), Err(PaymentsError::Database(_))));
    std::fs::remove_file(&path).unwrap();
    let key = exitgap_core::tlog::SignerKey::from_seed("example.org/exits", [7; 32]).unwrap();
    drop(crate::Store::create(&path, &key).unwrap());
    make_private(&path);
    let refused = Payments::open(&path).unwrap_err();
    assert!(matches!(refused, PaymentsError::NotPayments { found: 0x4558_4750, .. }), "{refused}");
}
