//! The Python package as a wheel, in an environment without any other code of this project, with a real service.

use std::path::Path;
use std::process::Command;

use exitgap_tests::fixtures;

use crate::scenes::client::SLOTS;
use crate::scenes::service::{Service, recorded};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, or after `cargo xtask py`, which builds the wheel and its environment"]
async fn the_python_package_answers_as_the_service_does() {
    let recorded = recorded(SLOTS as u64).await;
    let variables = [("EXITGAP_HTTP_RATE_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let key = String::from_utf8(service.get("/log/verifier-key").body).unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/exitgap-py/tests");
    let mut python = Command::new(fixtures::folder().join("exitgap-python/bin/python"));
    python.args(["-m", "unittest", "service"]).current_dir(tests);
    python.env("PYTHONDONTWRITEBYTECODE", "1").env("EXITGAP_SLOTS", SLOTS.to_string());
    python.env("EXITGAP_SERVICE", format!("http://{}", service.address));
    python.env("EXITGAP_KEY", key.trim()).env("EXITGAP_POOL", recorded.pool(0));
    let ran = python.output().expect("`cargo xtask py` made the environment");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("Ran 9 tests"), "{said}");
}
