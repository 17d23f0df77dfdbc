//! What the service says of the check of a slot's logs.

use exitgap_tests::devchain::{FIRST_SLOT, Market};

use crate::scenes::chain::scene;
use crate::scenes::here::until;
use crate::scenes::service::{Service, configured};

#[tokio::test(flavor = "multi_thread")]
async fn a_slots_status_says_how_its_logs_were_checked() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let mut market = Market::new(&chain, &world, 4).await.unwrap();
    for number in FIRST_SLOT..FIRST_SLOT + 30 {
        market.play_slot(number).await.unwrap();
    }
    let rehearsal = ["--rehearse-at", &FIRST_SLOT.to_string(), "--rehearse-pace", "60"];
    let service = Service::start(folder.path(), &rehearsal, &[]);
    let last = || {
        let reader = exitgap_store::Reader::open(folder.path().join("exitgap.db")).ok()?;
        reader.slots().unwrap().map(|(_, last)| last.number())
    };
    until("three slots are recorded", || {
        last().is_some_and(|last| u64::from(last) > FIRST_SLOT + 2)
    });
    let pools = service.get("/v1/pools").found();
    let pool = pools["pools"][0]["pool"].as_str().unwrap().to_owned();
    let status =
        |n: u64| service.get(&format!("/api/v1/status/{pool}?slot={}", FIRST_SLOT + n)).found();
    // The first slot reads everything, so no log is needed.
    assert!(status(0).get("logs").is_none(), "{}", status(0));
    let logs = status(2)["logs"].clone();
    let by = logs["checked_by"].as_str().unwrap().to_owned();
    assert!(by == "blooms" || by == "receipts", "{logs}");
    assert!(logs.get("unproven_because").is_none(), "{logs}");
    let metrics = String::from_utf8(service.get("/metrics").body).unwrap();
    let counted = format!("exitgap_logs_checked_total{{chain=\"anvil\",by=\"{by}\"}}");
    assert!(metrics.contains(&counted), "{metrics}");
    drop(service);
    // Who did not record the slot does not know.
    let reading = Service::start(folder.path(), &["--no-record"], &[]);
    let status = reading.get(&format!("/api/v1/status/{pool}?slot={}", FIRST_SLOT + 2)).found();
    assert!(status.get("logs").is_none(), "{status}");
}
