//! The call that returns a verified number for a pool: its answers, and the answers of a service that it rejects.

use exitgap_client::{
    Client, ClientError, Continuity, LogWatch, Memory, Native, Request, Response, Storage,
    TrustBasis,
};
use exitgap_core::evidence::Verdict;

use super::sdk::size;
use crate::scenes::client::{Meddling, Outcomes, base, scene};

#[tokio::test(flavor = "multi_thread")]
async fn one_call_answers_what_was_verified() {
    let (_recorded, service, pool) = scene().await;
    let client = Client::new(Native::new().unwrap(), base(&service));
    let memory = Memory::default();
    let watch = LogWatch::new(&client, &memory, Vec::new());
    let found = watch.estimate(&pool, size("1000"), None, None).await.unwrap();
    let report = &found.verification.report.report;
    assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
    let claim = found.verification.report.claim.unwrap();
    assert_eq!((claim.size_usd.as_str(), &claim.pool), ("1000", &pool.to_string()));
    let gap = found.exit.answer.figures.exit_gap_pct.to_string();
    assert!(claim.exit_gap_pct.unwrap().starts_with(&gap), "{gap}");
    assert_eq!(found.verification.log.basis, TrustBasis::FirstUse);
    let again = LogWatch::new(&client, &memory, Vec::new());
    let again = again.estimate(&pool, size("1000"), None, None).await.unwrap().verification;
    assert_eq!((again.log.basis, again.log.continuity), (TrustBasis::Kept, Continuity::Continues));

    // A genuine answer for a smaller size at the address of this one; and evidence with a changed digit.
    let smaller = Meddling::new(|request: &Request, outcome: Outcomes| {
        let asked = request.url.split_once(&service.address.to_string()).unwrap().1;
        if !request.url.contains("/v1/exit/") {
            return outcome;
        }
        let body = service.get(&asked.replace("size_usd=1000", "size_usd=10")).body;
        outcome.map(|response| Response { body, ..response })
    });
    let client = Client::new(&smaller, base(&service));
    let watch = LogWatch::new(&client, Memory::default(), Vec::new());
    let refused = watch.estimate(&pool, size("1000"), None, None).await.unwrap_err();
    assert_eq!(refused.code(), "not_as_specified", "{refused}");
    let changed = Meddling::new(|request: &Request, outcome: Outcomes| {
        outcome.map(|response| {
            if !request.url.contains("/api/v1/exit/") {
                return response;
            }
            let text = String::from_utf8(response.body).unwrap();
            let other = text.replacen("\"exit_gap_pct\":\"", "\"exit_gap_pct\":\"1", 1);
            assert_ne!(other, text);
            Response { body: other.into_bytes(), ..response }
        })
    });
    let client = Client::new(&changed, base(&service));
    let memory = Memory::default();
    let watch = LogWatch::new(&client, &memory, Vec::new());
    let refused = watch.estimate(&pool, size("1000"), None, None).await.unwrap_err();
    let ClientError::NotProven { report, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(report.report.verdict, Verdict::Invalid);
    assert_eq!(memory.get(&format!("exitgap keys {}", client.base())), None, "nothing is kept");
}
