//! `/mcp` with untrusted clients: hosts, web pages, headers, versions, bodies and rate limits; and the documents
//! through which clients discover the endpoint.

use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::agents::{
    NEWEST, OLDER, newest, newest_headers, older, older_headers, result, send,
};
use crate::scenes::service::{Answer, Service, recorded};

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", OLDER, NEWEST];

/// Starts a service whose public host name is that of a proxy.
async fn scene(tools_per_minute: &str) -> (crate::scenes::service::Recorded, Service) {
    let recorded = recorded(2).await;
    let variables = [
        ("EXITGAP_HTTP_TOOLS_PER_MINUTE", tools_per_minute),
        ("EXITGAP_HTTP_BASE_URL", "https://api.example.org"),
        ("EXITGAP_HTTP_WEB_URL", "https://example.org"),
    ];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    (recorded, service)
}

fn with(name: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let mut headers = older_headers();
    headers.retain(|(found, _)| *found != name);
    if !value.is_empty() {
        headers.push((name, value.to_owned()));
    }
    headers
}

/// Returns the HTTP status and the error code of an error response.
fn error(answer: &Answer) -> (u16, i64) {
    let message = answer.json();
    assert_eq!(message.get("result"), None, "{message}");
    (answer.status, message["error"]["code"].as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_known_hosts_and_pages_are_answered() {
    let (_recorded, service) = scene("0").await;
    let list = older("tools/list", &json!({}));
    let status = |headers: Vec<_>| send(service.address, &headers, &list).status;
    for host in ["api.example.org", "example.org", "api.example.org:443", "localhost:9", "[::1]:1"]
    {
        assert_eq!(status(with("Host", host)), 200, "{host}");
    }
    for host in ["evil.example", "api.example.org.evil.example", "169.254.169.254", "0.0.0.0"] {
        assert_eq!(status(with("Host", host)), 403, "{host}");
    }
    for origin in ["https://api.example.org", "https://example.org", "http://localhost:5173"] {
        assert_eq!(status(with("Origin", origin)), 200, "{origin}");
    }
    for origin in [
        "https://evil.example",
        "http://api.example.org",
        "https://api.example.org:8443",
        "https://localhost:5173",
        "null",
        "garbage",
    ] {
        assert_eq!(status(with("Origin", origin)), 403, "{origin}");
    }
    // The preflight request of a browser succeeds, so the tools themselves must reject the actual request.
    let asks = [("Origin", "https://example.org"), ("Access-Control-Request-Method", "POST")];
    let preflight = service.ask("OPTIONS", "/mcp", &asks);
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("POST"));
    assert_eq!(preflight.header("allow"), Some("POST, OPTIONS"));
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_revision_is_spoken_and_headers_must_say_what_messages_say() {
    let (_recorded, service) = scene("0").await;
    let declared = json!({"prompts": {}, "resources": {}, "tools": {}});
    for version in &VERSIONS[..4] {
        let hello = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer =
            send(service.address, &with("MCP-Protocol-Version", ""), &older("initialize", &hello));
        let told = result(&answer);
        assert_eq!(told["protocolVersion"], *version);
        assert_eq!(told["serverInfo"]["name"], "exitgap");
        assert_eq!(told["capabilities"], declared);
        assert!(told["instructions"].as_str().unwrap().contains("untrusted"));
        assert_eq!(answer.header("mcp-session-id"), None);
    }
    let discover = newest("server/discover", &json!({}));
    let told = result(&send(service.address, &newest_headers(&discover), &discover));
    assert_eq!(told["supportedVersions"], json!(VERSIONS));
    assert_eq!((&told["ttlMs"], &told["cacheScope"]), (&json!(3_600_000), &json!("public")));

    let list = newest("tools/list", &json!({}));
    let answer = send(service.address, &newest_headers(&list), &list);
    let told = result(&answer);
    assert_eq!((&told["ttlMs"], &told["cacheScope"]), (&json!(3_600_000), &json!("public")));
    assert!(answer.body.len() <= 12 << 10, "{} bytes", answer.body.len());
    let again = send(service.address, &newest_headers(&list), &list);
    assert_eq!(again.body, answer.body);

    // The server declares these lists, and they are empty.
    for (method, name) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let list = newest(method, &json!({}));
        let told = result(&send(service.address, &newest_headers(&list), &list));
        assert_eq!((&told[name], &told["ttlMs"]), (&json!([]), &json!(3_600_000)), "{method}");
    }

    // A header that contradicts the message.
    let mismatched = |name: &'static str, value: &str| {
        let mut headers = newest_headers(&list);
        headers.retain(|(found, _)| *found != name);
        headers.push((name, value.to_owned()));
        error(&send(service.address, &headers, &list))
    };
    assert_eq!(mismatched("Mcp-Method", "tools/call"), (400, -32020));
    assert_eq!(mismatched("MCP-Protocol-Version", OLDER), (400, -32020));
    let call = newest("tools/call", &json!({"name": "list_pools", "arguments": {}}));
    let mut headers = newest_headers(&call);
    headers.retain(|(name, _)| *name != "Mcp-Name");
    headers.push(("Mcp-Name", "estimate_exit".to_owned()));
    assert_eq!(error(&send(service.address, &headers, &call)), (400, -32020));

    // An unknown version, method, tool, and page of tools.
    let unknown = send(service.address, &with("MCP-Protocol-Version", "1999-01-01"), &list);
    assert_eq!(unknown.status, 400);
    let method = newest("tools/none", &json!({}));
    assert_eq!(error(&send(service.address, &newest_headers(&method), &method)), (404, -32601));
    let ping = newest("ping", &json!({}));
    assert_eq!(error(&send(service.address, &newest_headers(&ping), &ping)), (404, -32601));
    for message in [
        older("tools/call", &json!({"name": "none", "arguments": {}})),
        older("tools/list", &json!({"cursor": "1"})),
    ] {
        assert_eq!(error(&send(service.address, &older_headers(), &message)), (200, -32602));
    }
    assert_eq!(
        result(&send(service.address, &older_headers(), &older("ping", &json!({})))),
        json!({})
    );
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused_and_large_ones_are_not_read() {
    let (_recorded, service) = scene("0").await;
    let post = |body: &[u8]| {
        let headers = older_headers();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        service.post("/mcp", &headers, body).status
    };
    let list = older("tools/list", &json!({})).to_string();
    assert_eq!(post(list.as_bytes()), 200);
    // Several messages at once are of one old revision, and this is another.
    assert_eq!(post(format!("[{list},{list}]").as_bytes()), 400);
    for body in
        ["", "{", "null", "[]", "\"x\"", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}"]
    {
        assert_eq!(post(body.as_bytes()), 400, "{body}");
    }
    let padded = |bytes: usize| format!("{}{list}", " ".repeat(bytes - list.len()));
    assert_eq!(post(padded(64 << 10).as_bytes()), 200);
    assert_eq!(post(padded((64 << 10) + 1).as_bytes()), 413);
    assert_eq!(post(padded(1 << 20).as_bytes()), 413);
    let nested = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    assert_eq!(post(nested.as_bytes()), 400);

    let status = |name, value: &str| {
        send(service.address, &with(name, value), &older("tools/list", &json!({}))).status
    };
    assert_eq!(status("Content-Type", "text/plain"), 415);
    assert_eq!(status("Accept", "text/html"), 406);
    // The endpoint has no stream to read with GET and no session to end, and no other path accepts a body.
    for method in ["GET", "DELETE", "PUT"] {
        let answer = service.ask(method, "/mcp", &[("X-Forwarded-Host", "a")]);
        assert!([403, 405].contains(&answer.status), "{method}");
    }
    let get = service.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    let elsewhere = service.post("/v1/pools", &[("Host", "localhost")], list.as_bytes());
    assert_eq!(elsewhere.problem().1, "method_not_allowed");
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_range_that_covers_both_media_types_is_accepted() {
    let (_recorded, service) = scene("0").await;
    let list = older("tools/list", &json!({}));
    for accept in ["*/*", "", "application/json, */*;q=0.1", "application/*, text/*;q=0.5"] {
        let answer = send(service.address, &with("Accept", accept), &list);
        assert_eq!(answer.status, 200, "{accept:?}");
        assert!(result(&answer)["tools"].is_array());
    }
    for accept in ["text/html", "*/*;q=0", "*/*, application/json;q=0"] {
        let answer = send(service.address, &with("Accept", accept), &list);
        assert_eq!(answer.status, 406, "{accept:?}");
    }
    let newest_list = newest("tools/list", &json!({}));
    let mut headers = newest_headers(&newest_list);
    headers.retain(|(name, _)| *name != "Accept");
    headers.push(("Accept", "*/*".to_owned()));
    assert_eq!(send(service.address, &headers, &newest_list).status, 200);
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_codes_of_the_protocol() {
    let (_recorded, service) = scene("0").await;
    let post = |revision: &str, body: &str| {
        let headers = with("MCP-Protocol-Version", revision);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        service.post("/mcp", &headers, body.as_bytes())
    };
    for revision in ["", "2025-03-26", "2025-06-18", OLDER] {
        for (body, code, id) in [
            ("", -32700, json!(null)),
            ("{", -32700, json!(null)),
            ("[{\"jsonrpc\":", -32700, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",}", -32700, json!(null)),
            ("null", -32600, json!(null)),
            ("[]", -32600, json!(null)),
            ("{}", -32600, json!(null)),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600, json!(1)),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, json!(null)),
        ] {
            let answer = post(revision, body);
            assert_eq!(error(&answer), (400, code), "{revision} {body}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!((&answer.json()["id"], &answer.json()["jsonrpc"]), (&id, &json!("2.0")));
        }
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({"name": 7})),
            ("tools/call", json!({"name": "list_pools", "arguments": []})),
            ("tools/call", json!({"name": "none"})),
            ("tools/list", json!({"cursor": "1"})),
            ("prompts/list", json!({"cursor": "1"})),
            ("resources/list", json!({"cursor": "1"})),
            ("resources/templates/list", json!({"cursor": "1"})),
            ("prompts/get", json!({"name": "none"})),
            ("prompts/get", json!({})),
            ("resources/read", json!({})),
            ("initialize", json!({})),
        ] {
            let answer = post(revision, &older(method, &params).to_string());
            assert_eq!(error(&answer), (200, -32602), "{revision} {method} {params}");
        }
        let read = older("resources/read", &json!({"uri": "file:///none"})).to_string();
        assert_eq!(error(&post(revision, &read)), (200, -32002));
        for method in ["none", "completion/complete", "logging/setLevel"] {
            let params = json!({"ref": {"type": "ref/prompt", "name": "a"}, "level": "info",
                "argument": {"name": "a", "value": "b"}});
            let answer = post(revision, &older(method, &params).to_string());
            assert_eq!(error(&answer), (200, -32601), "{revision} {method}");
        }
    }
    let read = newest("resources/read", &json!({"uri": "file:///none"}));
    let mut headers = newest_headers(&read);
    headers.push(("Mcp-Name", "file:///none".to_owned()));
    assert_eq!(error(&send(service.address, &headers, &read)), (200, -32602));
    // A page or a host that may not ask is told nothing about its body.
    for (name, value) in [("Origin", "https://evil.example"), ("Host", "evil.example")] {
        let headers = with(name, value);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for body in ["{", "[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"] {
            assert_eq!(service.post("/mcp", &headers, body.as_bytes()).status, 403, "{body}");
        }
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_messages_at_once_are_answered_in_the_revision_that_has_them() {
    let (_recorded, service) = scene("40").await;
    let post = |revision: &str, messages: &Value| {
        send(service.address, &with("MCP-Protocol-Version", revision), messages)
    };
    let call = |id: Value, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([
        call(json!("a"), "ping", json!({})),
        told,
        call(json!(2), "tools/list", json!({})),
        7,
        call(json!(3), "initialize", json!({})),
        call(json!(4), "tools/call", json!({"name": "list_pools", "arguments": {}})),
        call(json!(5), "tools/call", json!({})),
    ]);
    for revision in ["2025-03-26", ""] {
        let answer = post(revision, &batch);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answers = answer.json();
        let answers = answers.as_array().unwrap();
        let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!("a"), json!(2), json!(null), json!(3), json!(4), json!(5)]);
        assert_eq!(answers[0]["result"], json!({}));
        assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 8);
        assert_eq!(answers[2]["error"]["code"], -32600);
        assert_eq!(answers[3]["error"]["code"], -32600);
        assert_eq!(answers[4]["result"]["isError"], false);
        assert_eq!(answers[5]["error"]["code"], -32602);
    }
    assert_eq!(post("2025-03-26", &json!([told, told])).status, 202);
    for revision in ["2025-06-18", OLDER] {
        assert_eq!(error(&post(revision, &batch)), (400, -32600), "{revision}");
    }
    let many = Value::Array(vec![call(json!(1), "ping", json!({})); 21]);
    assert_eq!(error(&post("2025-03-26", &many)), (400, -32600));
    // Each message counts.
    let pings = Value::Array(vec![call(json!(1), "ping", json!({})); 20]);
    let statuses: Vec<_> = (0..3).map(|_| post("2025-03-26", &pings)).collect();
    let refused = statuses.last().unwrap();
    assert_eq!(refused.problem().1, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_thirty_messages_a_minute_and_the_addresses_beside_them() {
    let recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let list = older("tools/list", &json!({}));
    let mut answered = 0;
    let refused = loop {
        let answer = send(service.address, &older_headers(), &list);
        if answer.status != 200 {
            break answer;
        }
        assert!(answer.header("ratelimit-policy").unwrap().contains("q=30;w=60"), "{answer:?}");
        answered += 1;
    };
    // The limit grants one new request every two seconds.
    assert!((30..60).contains(&answered), "{answered}");
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned(), None));
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() <= 2);
    assert_eq!(service.get("/v1/pools").status, 200);
    assert_eq!(service.end(), Some(0));
}

/// Of thirty requests a minute, a figure over many slots takes twenty, and a token sold over its pools five.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_counts_as_much_as_the_address_that_answers_the_same() {
    let recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let call = |name: &str, arguments: Value| {
        let message = older("tools/call", &json!({"name": name, "arguments": arguments}));
        send(service.address, &older_headers(), &message)
    };
    let token = format!("{:#x}", recorded.world.assets[World::WETH].token.address);
    let sale = json!({"chain": "anvil", "token": token, "size_usd": 1000});
    let decay = "move_pct=1&within_slots=1&gap_pct=2";
    let pool = recorded.pool(0);
    let url = format!("http://{}/api/v1/decay/{pool}?{decay}", service.address);
    let calls = [
        ("verify_evidence", json!({"evidence_url": url})),
        ("estimate_exit", sale.clone()),
        ("estimate_exit", sale.clone()),
    ];
    for (name, arguments) in calls {
        assert_eq!(call(name, arguments).status, 200, "{name}");
    }
    let refused = call("estimate_exit", sale);
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned(), None));
    let wait = refused.header("retry-after").unwrap().parse::<u32>().unwrap();
    assert!((1..=10).contains(&wait), "{wait}");
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_are_found_by_the_documents_that_describe_them() {
    let (_recorded, service) = scene("0").await;
    let catalog = service.get("/.well-known/ai-catalog.json");
    assert_eq!(catalog.header("cache-control"), Some("public, max-age=3600"));
    assert_eq!(catalog.header("access-control-allow-origin"), Some("*"));
    assert_eq!(service.get("/.well-known/mcp/catalog.json").body, catalog.body);
    let entry = &catalog.found()["entries"][0];
    assert_eq!(entry["type"], "application/mcp-server-card+json");
    assert_eq!(entry["url"], "https://api.example.org/mcp/server-card");
    let card = service.get("/mcp/server-card");
    assert_eq!(card.header("content-type"), Some("application/mcp-server-card+json"));
    let card = card.found();
    assert_eq!(card["remotes"][0]["url"], "https://api.example.org/mcp");
    assert_eq!(card["remotes"][0]["supportedProtocolVersions"], json!(VERSIONS));
    let registry = service.get("/mcp/server.json").found();
    let schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    assert_eq!(registry["$schema"], schema);
    let remotes = json!([{"type": "streamable-http", "url": "https://api.example.org/mcp"}]);
    assert_eq!(registry["remotes"], remotes);
    // The documents contain what the server itself declares.
    let discover = newest("server/discover", &json!({}));
    let told = result(&send(service.address, &newest_headers(&discover), &discover));
    let server = &told["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!((&server["version"], &server["title"]), (&card["version"], &card["title"]));
    assert_eq!(told["supportedVersions"], card["remotes"][0]["supportedProtocolVersions"]);
    let capable = service.get("/v1/capabilities").found();
    let row = capable["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row: &&Value| row["capability"] == "Agent-native JSON");
    assert!(row.unwrap()["where"].as_str().unwrap().contains("/mcp"), "{row:?}");
    assert_eq!(service.get("/mcp/server-card?x=1").problem().1, "unknown_parameter");
    assert_eq!(service.end(), Some(0));
}
