//! The example of the client's README, with a real service.

use crate::scenes::client::{base, scene};

#[allow(dead_code, reason = "its `main` reads the command line, and calls what the test calls")]
#[path = "../../../crates/exitgap-client/examples/exit.rs"]
mod exit;

const SOURCE: &str = include_str!("../../../crates/exitgap-client/examples/exit.rs");
const README: &str = include_str!("../../../crates/exitgap-client/README.md");

#[tokio::test(flavor = "multi_thread")]
async fn the_example_prints_a_verified_number_and_the_readme_shows_it() {
    let (_recorded, service, pool) = scene().await;
    let url = base(&service).to_string();
    let printed = exit::verified_gap(&url, &pool.to_string(), "25000").await.unwrap();
    let (gap, rest) = printed.split_once('%').unwrap();
    assert!(gap.parse::<f64>().is_ok(), "{printed}");
    assert_eq!(rest, " worse than the oracle (Valid)");
    for (pool, size) in [("nowhere", "25000"), (pool.to_string().as_str(), "a lot")] {
        assert!(exit::verified_gap(&url, pool, size).await.is_err(), "{pool} {size}");
    }

    let shown = README.split_once("```rust\n").unwrap().1.split_once("\n```").unwrap().0;
    assert!(SOURCE.contains(shown), "the README shows another program");
}
