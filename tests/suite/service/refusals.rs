//! The rejections of the service, and the conventions of all answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::scenes::service::{Service, recorded};

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_request_is_refused_by_name() {
    let recorded = recorded(1).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let refused = |target: &str, status: u16, code: &str, field: Option<&str>| {
        let answer = service.get(target);
        let found = answer.problem();
        let expected = (status, code.to_owned(), field.map(str::to_owned));
        assert_eq!(found, expected, "{target}: {}", answer.json());
    };
    let invalid = |size: &str| {
        let target = format!("/v1/exit/{pool}?size_usd={size}");
        refused(&target, 400, "invalid_parameter", Some("size_usd"));
    };
    for size in [
        "",
        "-1",
        "0",
        "0.0",
        "0.001",
        "NaN",
        "nan",
        "inf",
        "Infinity",
        "1e3",
        "1E3",
        "+5",
        "%2B5",
        "1.0000001",
        "1000000001",
        "99999999999999999999999999",
        "0x10",
        "1,000",
        "1_000",
        "%201",
        "1.",
        ".5",
        "%00",
        "%FF",
        "one",
        "1%0A",
    ] {
        invalid(size);
    }
    refused(&format!("/v1/exit/{pool}"), 400, "invalid_parameter", Some("size_usd"));
    let twice = format!("/v1/exit/{pool}?size_usd=1&size_usd=1");
    refused(&twice, 400, "invalid_parameter", Some("size_usd"));
    let unknown = format!("/v1/exit/{pool}?size_usd=1&sise=2");
    refused(&unknown, 400, "unknown_parameter", Some("sise"));
    refused("/v1/exit/nonsense?size_usd=1", 400, "invalid_pool", Some("pool"));
    refused("/v1/exit/anvil:0x12?size_usd=1", 400, "invalid_pool", Some("pool"));
    refused(&format!("/v1/exit/{pool}?size_usd=1&base=DOGE"), 404, "unknown_base", Some("base"));
    refused(&format!("/v1/exit/{pool}?size_usd=1&at=now"), 400, "invalid_parameter", Some("at"));
    let offset = format!("/v1/exit/{pool}?size_usd=1&at=2026-08-22T02:00:00+02:00");
    refused(&offset, 400, "invalid_parameter", Some("at"));
    assert!(service.get(&offset).json()["hint"].as_str().unwrap().contains("%2B"));
    assert_eq!(service.get(&offset.replace('+', "%2B")).status, 200);
    refused("/v1/pools?chain=mars", 404, "unknown_chain", Some("chain"));
    refused("/v1/fragility?chain=mars", 404, "unknown_chain", Some("chain"));
    refused("/v1/pools?chain=UP", 400, "invalid_parameter", Some("chain"));
    refused("/v1/pools?limit=0", 400, "invalid_parameter", Some("limit"));
    refused("/v1/pools?limit=1001", 400, "invalid_parameter", Some("limit"));
    refused("/v1/pools?cursor=!", 400, "invalid_parameter", Some("cursor"));
    refused("/v1/portfolio", 400, "invalid_parameter", Some("position"));
    refused("/v1/portfolio?position=5", 400, "invalid_parameter", Some("position"));
    refused(
        &format!("/v1/portfolio?position={pool}:0"),
        400,
        "invalid_parameter",
        Some("position"),
    );
    let many = "position=x:1&".repeat(101);
    refused(&format!("/v1/portfolio?{many}"), 400, "invalid_parameter", Some("position"));
    let web = format!("/api/v1/exit/{pool}?size_usd=1");
    refused(
        &format!("{web}&method_version=0.9"),
        400,
        "unknown_method_version",
        Some("method_version"),
    );
    refused(&format!("{web}&slot=5957855"), 404, "before_series", Some("slot"));
    refused(&format!("{web}&slot=5957857"), 404, "after_series", Some("at"));
    refused(&format!("{web}&slot=-5"), 400, "invalid_parameter", Some("slot"));
    refused(&format!("{web}&base=WETH"), 400, "invalid_parameter", Some("base"));
    refused(&format!("/api/v1/window/{pool}"), 400, "invalid_parameter", Some("slot"));
    refused("/api/v1/snapshots/0x12", 400, "invalid_parameter", Some("hash"));
    let hash = "ab".repeat(32);
    refused(&format!("/api/v1/snapshots/0x{hash}"), 404, "not_found", Some("hash"));
    refused("/v1/alerts", 404, "not_available", None);
    refused("/v1/nothing", 404, "not_found", None);
    refused("/v1/pools/", 404, "not_found", None);
    refused("/v1/exit/%FF?size_usd=1", 404, "not_found", None);

    // For an unknown pool, the error lists the most similar names.
    let mut near = pool.clone();
    near.replace_range(pool.len() - 1.., if pool.ends_with('0') { "1" } else { "0" });
    let answer = service.get(&format!("/v1/exit/{near}?size_usd=1"));
    assert_eq!(answer.problem().1, "unknown_pool");
    assert!(answer.json()["hint"].as_str().unwrap().contains(&pool), "{}", answer.json());
    let beyond = service.get(&format!("/v1/exit/{pool}?size_usd=1000000000"));
    assert_eq!(beyond.problem(), (422, "beyond_liquidity".into(), Some("size_usd".into())));
    let most = beyond.json()["max_fillable_usd"].to_string();
    assert_eq!(service.get(&format!("/v1/exit/{pool}?size_usd={most}")).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_keep_the_conventions_of_http() {
    let recorded = recorded(1).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let target = format!("/api/v1/exit/{pool}?size_usd=5&base=token0&slot=5957856");

    // Only an answer whose address determines it completely is immutable.
    let kept = |target: &str| service.get(target).header("cache-control").map(str::to_owned);
    let (short, long) = ("public, max-age=5", "public, max-age=31536000, immutable");
    assert_eq!(kept(&format!("{target}&method_version=1.0.0")).as_deref(), Some(long));
    assert_eq!(kept(&target).as_deref(), Some(short));
    let default_base = target.replace("&base=token0", "&method_version=1.0.0");
    assert_eq!(kept(&default_base).as_deref(), Some(short));
    let document = service.ask("GET", &target, &[("Accept", "text/html;q=0, */*")]);
    assert_eq!(document.header("content-type"), Some("application/json"));

    let first = service.get(&target);
    let etag = first.header("etag").unwrap().to_owned();
    let again = service.ask("GET", &target, &[("If-None-Match", &etag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = service.ask("GET", &target, &[("If-None-Match", "W/\"other\"")]);
    assert_eq!((other.status, &other.body), (200, &first.body));
    let head = service.ask("HEAD", &target, &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("etag"), Some(etag.as_str()));
    let packed = service.ask("GET", &target, &[("Accept-Encoding", "gzip")]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < first.body.len());
    assert!(packed.header("vary").unwrap().contains("accept-encoding"));

    assert_eq!(first.header("access-control-allow-origin"), Some("*"));
    assert_eq!(first.header("x-content-type-options"), Some("nosniff"));
    assert!(first.header("ratelimit").unwrap().starts_with("\"client\";r="));
    let preflight = service.ask("OPTIONS", &target, &[("Origin", "https://a.example")]);
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("GET"));
    assert_eq!(preflight.header("access-control-allow-headers"), Some("*,authorization"));
    assert_eq!(preflight.header("access-control-max-age"), Some("86400"));
    assert_eq!(preflight.header("allow"), Some("GET, HEAD, OPTIONS"));
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE"] {
        let answer = service.ask(method, "/v1/pools", &[]);
        assert_eq!(answer.problem().1, "method_not_allowed", "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
    let named = service.ask("GET", "/v1/nothing", &[("X-Request-Id", "mine-1")]);
    assert_eq!(named.header("x-request-id"), Some("mine-1"));
    let hostile = service.ask("GET", "/v1/nothing", &[("X-Request-Id", "a b<script>")]);
    assert_ne!(hostile.header("x-request-id"), Some("a b<script>"));

    assert_eq!(service.get("/livez").body, b"ok\n");
    // The series is in the past, so nothing is fresh.
    let ready = service.get("/readyz");
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &false.into()));
    let metrics = String::from_utf8(service.get("/metrics").body).unwrap();
    let count = recorded.world.pools.len();
    assert!(metrics.contains(&format!("exitgap_snapshots_recorded_total {count}")), "{metrics}");
    assert!(metrics.contains("exitgap_http_requests_total{route=\"/api/v1/exit/{pool}\""));

    let described = service.get("/v1/openapi.json").found();
    assert_eq!(described["openapi"], "3.1.0");
    let docs = String::from_utf8(service.get("/docs").body).unwrap();
    for path in described["paths"].as_object().unwrap().keys() {
        assert!(docs.contains(path), "{path} is not in the reference");
    }
    assert!(!docs.contains("http://www") && !docs.contains("<script"), "nothing foreign");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_is_refused_and_others_are_answered() {
    let recorded = recorded(1).await;
    let few =
        [("EXITGAP_HTTP_RATE_PER_MINUTE", "40"), ("EXITGAP_HTTP_CLIENT_IP_HEADER", "x-client")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &few);
    let ask = |client: &str| service.ask("GET", "/v1/capabilities", &[("X-Client", client)]);
    let refused = (0..50).map(|_| ask("192.0.2.7")).find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.problem().1, "rate_limited");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // A page of another origin can read the error and the `Retry-After` header.
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
    assert!(refused.header("access-control-expose-headers").unwrap().contains("retry-after"));
    let asked_before = [("X-Client", "192.0.2.7"), ("Origin", "https://a.example")];
    assert_eq!(service.ask("OPTIONS", "/v1/capabilities", &asked_before).status, 429);
    assert_eq!(ask("192.0.2.8").status, 200);

    let other = |target: &str| service.ask("GET", target, &[("X-Client", "192.0.2.9")]);
    let long = other(&format!("/v1/pools?cursor={}", "x".repeat(20_000)));
    assert_eq!(long.problem().1, "address_too_long");
    let endless = service.send(format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(200_000)).as_bytes());
    assert!(matches!(endless.status, 414 | 431 | 400 | 0), "{}", endless.status);
    let heads = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "y".repeat(200_000));
    assert!(matches!(service.send(heads.as_bytes()).status, 431 | 400 | 0));
    let body = b"GET /v1/pools HTTP/1.1\r\nHost: a\r\nX-Client: 192.0.2.9\r\nContent-Length: 9000000000\r\n\r\nx";
    assert_eq!(service.send(body).problem().1, "body_not_accepted");
    let chunked = b"GET /v1/pools HTTP/1.1\r\nHost: a\r\nX-Client: 192.0.2.9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n";
    assert_eq!(service.send(chunked).problem().1, "body_not_accepted");
    assert_eq!(service.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").status, 400);

    // Connections that send nothing, and one that reads nothing, do not delay others.
    let idle: Vec<TcpStream> =
        (0..500).map(|_| TcpStream::connect(service.address).unwrap()).collect();
    let mut slow = TcpStream::connect(service.address).unwrap();
    slow.write_all(b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\nGET /v1").unwrap();
    assert_eq!(other("/v1/pools").status, 200);
    let mut one = [0];
    slow.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert_eq!(slow.read(&mut one).unwrap(), 1);
    drop(idle);
    assert_eq!(service.end(), Some(0));
}

#[test]
fn an_address_in_use_is_told_before_anything_is_begun() {
    use std::process::Command;
    let folder = tempfile::TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let program = exitgap_tests::binaries::path("exitgap-server");
    let run = |arguments: &[&str]| {
        Command::new(&program).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    assert!(run(&["init"]).status.success());
    let output = run(&["serve", "--listen", &address]);
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains(&address) && err.contains("[http] listen"), "{err}");
    assert!(!folder.path().join("exitgap.db").exists());
}
