//! One service behind two hosts: `/v1/` on one; pages, evidence and log on the other. Each host rejects the other's
//! requests.

use std::path::Path;
use std::process::Command;

use exitgap_client::{BaseUrl, Client, EvidenceOf, LogWatch, Memory, Native};
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::PoolId;
use exitgap_server::http::Site;
use exitgap_tests::{binaries, fixtures};

use crate::scenes::hosts::scene;

#[tokio::test(flavor = "multi_thread")]
async fn clients_ask_each_host_for_what_it_has() {
    let (recorded, api, web, _service) = scene().await;
    let base: BaseUrl = api.url().parse().unwrap();
    let pool: PoolId = recorded.pool(0).parse().unwrap();
    let client = Client::new(Native::new().unwrap(), base.clone());
    let size = "1000".parse().unwrap();
    let exit = client.recomputed_exit(&pool, size, None, None).await.unwrap();
    let url = exit.evidence_url.unwrap();
    assert!(url.starts_with(&web.url()), "{url}");
    assert_eq!(client.known_web().to_string(), web.url());
    let of = EvidenceOf::from_url(&url).unwrap();
    let memory = Memory::default();
    let found = LogWatch::new(&client, &memory, Vec::new()).verify_remote(&of, true).await;
    assert_eq!(found.unwrap().report.report.verdict, Verdict::Valid);
    assert!(client.slot_status(&pool, of.slot).await.is_ok());
    // A caller may name the other host explicitly.
    let told = Client::new(Native::new().unwrap(), base).with_web(web.url().parse().unwrap());
    assert!(told.evidence(&of).await.is_ok());

    let kept = tempfile::tempdir().unwrap();
    let verify = ["verify", &pool.to_string(), "--size-usd", "1k", "--api", &api.url()];
    let output = Command::new(binaries::path("exitgap"))
        .args(verify)
        .args(["--kept", kept.path().to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for host in [&api, &web] {
        assert_eq!(*host.refused.lock().unwrap(), Vec::<String>::new());
    }
    // Control: the hosts do reject wrong requests, so a client that asks the API's host for the log fails.
    let wrong = Client::new(Native::new().unwrap(), api.url().parse().unwrap())
        .with_web(api.url().parse().unwrap());
    assert!(wrong.checkpoint().await.is_err());
    assert_eq!(*api.refused.lock().unwrap(), ["/log/checkpoint"]);
}

/// A page of the web host knows the API's address, and its content security policy allows requests to it.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_the_web_host_know_the_apis() {
    let (_recorded, api, web, service) = scene().await;
    assert_eq!(service.get("/v1/capabilities").found()["web_url"], web.url());
    let page = service.ask("GET", "/verify", &[("Accept", "text/html")]);
    let html = String::from_utf8_lossy(&page.body).into_owned();
    let tag = format!("<meta name=\"exitgap-api\" content=\"{}\"></head>", api.url());
    assert_eq!(
        (page.status == 200, html.contains(&tag)),
        (Site::default().is_built(), Site::default().is_built()),
        "{html}"
    );
    if let Some(policy) =
        page.header("content-security-policy").filter(|_| Site::default().is_built())
    {
        assert!(policy.contains(&format!("connect-src 'self' {};", api.url())), "{policy}");
    }
}

/// In a browser, board, pool, evidence and portfolio work, and neither host gets a request for the other.
#[tokio::test(flavor = "multi_thread")]
async fn pages_work_in_a_browser_where_the_api_has_a_host_of_its_own() {
    let (_recorded, api, web, _service) = scene().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut pages = Command::new("node");
    pages.arg(root.join("tests/web/hosts.mjs")).args([web.url(), api.url()]);
    pages.arg(fixtures::folder().join("npm-tools/node_modules"));
    let output = pages.arg(root.join("target/screenshots")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for host in [&api, &web] {
        assert_eq!(*host.refused.lock().unwrap(), Vec::<String>::new());
    }
}
