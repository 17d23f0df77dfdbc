//! Property-based tests of the service against its own `OpenAPI` description.

use std::process::Command;

use exitgap_tests::fixtures;

use crate::scenes::service::{Service, recorded};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, which installs schemathesis"]
async fn the_service_is_as_described() {
    let recorded = recorded(14).await;
    let variables = [("EXITGAP_HTTP_RATE_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let program = fixtures::folder().join("schemathesis/bin/schemathesis");
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis.toml");
    let description = format!("http://{}/v1/openapi.json", service.address);
    let output = Command::new(program)
        .args(["--config-file", settings, "run", &description])
        .args(["--max-examples", "100", "--no-color"])
        .current_dir(recorded.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "schemathesis found failures");
    // Every operation was tested.
    let described = service.get("/v1/openapi.json").found();
    let paths = described["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|methods| methods.as_object().unwrap().len()).sum();
    assert!(said.contains(&format!("{operations} selected / {operations} total")));
    assert_eq!(service.end(), Some(0));
}
