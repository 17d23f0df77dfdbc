//! Payments and alerts in the database of a server store: the permissions of each role, a server that ends and returns,
//! and the data of an earlier file.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use exitgap_core::alerts::{AlertEvent, AlertEventType};
use exitgap_core::ids::Word;
use exitgap_core::series::Slot;
use exitgap_store::alerts::{AlertBounds, AlertStep, Alerts, AlertsError, Kept, NewAlert};
use exitgap_store::payments::{Claim, ClaimToken, Payments, PaymentsError, State};
use exitgap_store::{StoreError, migrate};
use exitgap_tests::binaries;
use exitgap_tests::postgres::{Cluster, READER, RECORDER, SERVICE, database_of, shared};

use super::alerts::new as new_alert;
use super::payments::{SIGNER, new as new_payment, pool, sent, settled, settling};

/// Stores a settled payment with a receipt, a payment that is settling, a reservation and a price.
fn trade(payments: &Payments) {
    for (key, count) in [("one", 40), ("two", 3)] {
        settling(payments, key, count);
    }
    assert!(payments.settle("one", settled()).unwrap());
    payments.keep_receipt("one", "a.b.c", &pool()).unwrap();
    payments.reserve(Word([3; 32]), [4; 32], 1_000).unwrap();
    payments.set_price(10_000, 900).unwrap();
}

fn holds_the_trade(payments: &Payments) {
    assert_eq!(payments.payment("one").unwrap().unwrap().state, State::Settled);
    assert_eq!(payments.payment("two").unwrap().unwrap().answer, new_payment("two", 1).answer);
    assert_eq!(payments.receipt("one").unwrap().as_deref(), Some("a.b.c"));
    assert_eq!(payments.uncommitted_receipts(9).unwrap().len(), 1);
    let unfilled = payments.pending_transactions(SIGNER, 0).unwrap();
    assert_eq!(unfilled, [("one".to_owned(), sent(40, 1)), ("two".to_owned(), sent(41, 1))]);
    assert_eq!(payments.prices_since(1_000).unwrap(), [10_000]);
    // The second reservation of this hash gets the second place here, too.
    assert_eq!(payments.reserve(Word([3; 32]), [5; 32], 1_001).unwrap().place, 1);
}

fn keep(alerts: &Alerts) -> Kept {
    let bounds = AlertBounds { per_client: 3, per_host: 4, most: 6 };
    let rule = NewAlert {
        idempotency: Some("once".to_owned()),
        first_slot: Slot::FIRST,
        ..new_alert("a1", 2, Some("one.example"))
    };
    alerts.keep(&rule, &bounds, 0).unwrap()
}

#[test]
fn who_serves_is_paid_and_keeps_rules_and_records_nothing() {
    let cluster = shared();
    let database = cluster.database();
    let of = |role| cluster.url(role, &database);
    trade(&Payments::open(&of(SERVICE)).unwrap());
    assert!(matches!(keep(&Alerts::open(&of(SERVICE)).unwrap()), Kept::New(_)));
    // The recorder's role can read the receipts that heads should commit to.
    assert_eq!(Payments::open(&of(RECORDER)).unwrap().uncommitted_receipts(9).unwrap().len(), 1);
    for open in [
        |url: &Path| Payments::open(url).map(drop).map_err(|error| error.to_string()),
        |url: &Path| Alerts::open(url).map(drop).map_err(|error| error.to_string()),
    ] {
        let refused = open(&of(READER)).unwrap_err();
        assert!(refused.contains("is not allowed to read it"), "{refused}");
    }
    let written =
        cluster.sql_as(SERVICE, &database, "INSERT INTO exitgap.log_node VALUES (0, 0, '')");
    assert!(written.unwrap_err().contains("permission denied"));
    for sql in [
        "UPDATE exitgap_payments.sent SET tip = '2'",
        "UPDATE exitgap_payments.receipt SET signed = 'd.e.f'",
        "SET session_replication_role = replica; UPDATE exitgap_payments.sent SET tip = '2'",
        "TRUNCATE exitgap_payments.payment CASCADE",
        "DELETE FROM exitgap_payments.sent",
        "INSERT INTO exitgap_alerts.schema_version VALUES (9)",
    ] {
        let role = if sql.starts_with("SET ") { "postgres" } else { SERVICE };
        let refused = cluster.sql_as(role, &database, sql).unwrap_err();
        assert!(refused.contains("is not changed") || refused.contains("denied"), "{refused}");
    }
}

#[test]
fn a_server_that_ends_and_comes_back_has_what_was_done() {
    let mut cluster = Cluster::start(&["fsync=off"]).unwrap();
    let url = cluster.url(SERVICE, &cluster.database());
    let (payments, alerts) = (Payments::open(&url).unwrap(), Alerts::open(&url).unwrap());
    trade(&payments);
    assert!(matches!(keep(&alerts), Kept::New(_)));
    cluster.kill().unwrap();
    let begin = |key: &str| payments.claim(&new_payment(key, 1), ClaimToken([1; 16]), 1_000);
    assert!(matches!(begin("three"), Err(PaymentsError::Database(_))));
    assert!(matches!(alerts.counts(), Err(AlertsError::Database(_))));
    // While the server is unreachable, not every request waits for another attempt, and a recorder starts without it.
    let later = Payments::open_later(&url).unwrap();
    assert!(later.uncommitted_receipts(9).unwrap_err().to_string().contains("cannot be reached"));
    assert!(later.uncommitted_receipts(9).unwrap_err().to_string().contains("reached just now"));
    cluster.start_again().unwrap();
    let begun = Instant::now();
    while [&payments, &later].iter().any(|payments| payments.counts().is_err())
        || alerts.counts().is_err()
    {
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not come back");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(later.uncommitted_receipts(9).unwrap().len(), 1);
    holds_the_trade(&payments);
    assert_eq!(alerts.counts().unwrap().alerts, 1);
    assert!(payments.payment("three").unwrap().is_none());
    assert!(matches!(begin("three").unwrap(), Claim::Taken));
    assert!(matches!(keep(&alerts), Kept::Again(_)));
}

#[test]
fn a_database_from_before_is_migrated_and_told_until_then() {
    let cluster = shared();
    let url = cluster.store();
    let database = database_of(&url).unwrap().to_owned();
    cluster
        .sql(&database, "DROP SCHEMA exitgap_payments CASCADE; DROP SCHEMA exitgap_alerts CASCADE");
    let not_migrated = |error: &StoreError| matches!(error, StoreError::NotMigrated { .. });
    let refused = Payments::open(&url).unwrap_err();
    assert!(matches!(&refused, PaymentsError::Database(e) if not_migrated(e)), "{refused}");
    let refused = Alerts::open(&url).unwrap_err();
    assert!(matches!(&refused, AlertsError::Database(e) if not_migrated(e)), "{refused}");
    migrate(&url, &cluster.url("postgres", "postgres"), None, None).unwrap();
    trade(&Payments::open(&url).unwrap());
    keep(&Alerts::open(&url).unwrap());
    cluster.sql(&database, "INSERT INTO exitgap_payments.schema_version VALUES (4)");
    let refused = Payments::open(&url).unwrap_err();
    let newer = |error: &StoreError| matches!(error, StoreError::NewerSchema { found: 4, .. });
    assert!(matches!(&refused, PaymentsError::Database(e) if newer(e)), "{refused}");
}

#[test]
fn what_files_held_goes_on_on_a_server_and_is_copied_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (payments, alerts) =
        (Payments::open(&file("payments.db")).unwrap(), Alerts::open(&file("alerts.db")).unwrap());
    trade(&payments);
    let Kept::New(kept) = keep(&alerts) else { panic!("it is new") };
    let event = AlertEvent {
        id: "evt_1".to_owned(),
        event: AlertEventType::Firing,
        seq: 1,
        slot: Slot::FIRST,
        canonical: b"{}".to_vec(),
    };
    let stepped = AlertStep {
        no: kept.no,
        events: vec![event],
        run: None,
        state: Some("firing".to_owned()),
        ended: false,
    };
    alerts.take_slot(Slot::FIRST, &[stepped], i64::MAX, 10).unwrap();
    drop((payments, alerts));

    let cluster = shared();
    let url = cluster.store();
    let (url, admin) = (url.display().to_string(), cluster.url("postgres", "postgres"));
    let run = |arguments: &[&str]| {
        let init = Command::new(binaries::path("exitgap-server"))
            .args(["migrate", "--as", admin.to_str().unwrap()])
            .args(arguments)
            .env("EXITGAP_STORE_PATH", &url)
            .env("EXITGAP_PAYMENTS_DATABASE", &url)
            .env("EXITGAP_ALERTS_DATABASE", &url)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            init.status.code(),
            String::from_utf8(init.stdout).unwrap() + &String::from_utf8(init.stderr).unwrap(),
        )
    };
    let made = Command::new(binaries::path("exitgap-server"))
        .arg("init")
        .current_dir(folder.path())
        .output();
    assert!(made.unwrap().status.success());
    let files = ["--payments", "payments.db", "--alerts", "alerts.db"];
    let (code, said) = run(&files);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("copied 8 rows of payments from payments.db to postgresql://"), "{said}");
    let payments = Payments::open(Path::new(&url)).unwrap();
    holds_the_trade(&payments);
    let alerts = Alerts::open(Path::new(&url)).unwrap();
    assert!(matches!(keep(&alerts), Kept::Again(_)));
    assert_eq!(alerts.evaluated_slot().unwrap(), Some(Slot::FIRST));
    let counts = alerts.counts().unwrap();
    assert_eq!((counts.alerts, counts.events, counts.pending), (1, 1, 1));
    drop((payments, alerts));

    let (code, said) = run(&files);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("already exists and is not overwritten"), "{said}");
    let (code, said) = run(&["--payments", "none.db"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("none.db: No such file"), "{said}");
    assert!(!file("none.db").exists());
}
