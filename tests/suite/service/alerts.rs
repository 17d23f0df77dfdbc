//! Stored rules: their owners, and only they, get the events that anyone with the rule and the log can compute.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use exitgap_core::alerts::AlertRule;
use exitgap_core::series::MissingReason;
use exitgap_server::alerts::{AlertKey, AlertsConfig, AlertsPlan, machine_clock};
use exitgap_store::{Reader, Store};
use exitgap_tests::binaries;
use exitgap_tests::receiver::{Does, Received, Receiver};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tempfile::TempDir;

use crate::scenes::here::{Here, With, until};
use crate::scenes::service::{Answer, exchange, post};
use crate::scenes::store::{BusyPool, key, slot, store_in};

const SOON: Duration = Duration::from_secs(20);

/// A plan that stores rules in a folder and allows webhooks on this machine.
fn plan(folder: &Path) -> AlertsPlan {
    let config = AlertsConfig {
        enabled: true,
        database: store_in(folder, "alerts.db"),
        key_file: folder.join("alerts.key"),
        timeout_s: 2,
        allow_networks: vec!["127.0.0.0/8".to_owned()],
        ..AlertsConfig::default()
    };
    config.plan().unwrap().unwrap()
}

/// A store that seals slot after slot, and a service that stores rules next to it.
pub struct Keeping {
    pub folder: TempDir,
    store: Store,
    pub pool: BusyPool,
    pub here: Here,
    next: u32,
}

impl Keeping {
    pub fn new() -> Self {
        Self::with(|plan| plan)
    }

    fn with(change: impl FnOnce(AlertsPlan) -> AlertsPlan) -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
        AlertKey::from_seed([5; 32]).write_file(&folder.path().join("alerts.key")).unwrap();
        let alerts = Some((change(plan(folder.path())), machine_clock()));
        let here = Here::start(folder.path(), With { alerts, ..With::default() });
        let mut keeping = Self { folder, store, pool: BusyPool::new(1, 5), here, next: 0 };
        keeping.seal("recorded");
        keeping
    }

    pub fn seal(&mut self, what: &str) {
        let at = slot(self.next);
        let entry = match what {
            "recorded" => self.pool.recorded(at),
            _ => self.pool.missing(MissingReason::ChainLagging),
        };
        self.store.append_slot(at, &[entry]).unwrap();
        self.here.refresh();
        self.next += 1;
    }

    /// A rule that fires with the first missing slot and ends with the first recorded one.
    pub fn rule(&self, webhook: Option<&str>) -> Value {
        let mut rule = json!({
            "pool": self.pool.id.to_string(), "kind": "missing",
            "for_slots": 1, "clear_for_slots": 1, "refire_slots": 0, "no_data_slots": 0,
        });
        if let Some(url) = webhook {
            rule["webhook_url"] = json!(url);
        }
        rule
    }

    pub fn send(&self, target: &str, token: Option<&str>, body: &Value) -> Answer {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
        post(self.here.address, target, &headers, body.to_string().as_bytes())
    }

    pub fn ask(&self, method: &str, target: &str, token: &str) -> Answer {
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        exchange(self.here.address, request.as_bytes())
    }

    /// Stores a rule; returns the service's answer.
    pub fn keep(&self, rule: &Value) -> Value {
        let made = self.send("/v1/alerts", None, rule);
        assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
        made.json()
    }

    fn alert(&self, made: &Value) -> Value {
        let target = format!("/v1/alerts/{}", made["alert"]["alert"].as_str().unwrap());
        self.ask("GET", &target, made["token"].as_str().unwrap()).found()
    }

    /// Waits until the rule's webhook has this state.
    fn wait_for_webhook(&self, made: &Value, state: &str) {
        until(state, || self.alert(made)["webhook"]["state"] == state);
    }
}

/// The events that anyone with the rule and the series can compute.
pub fn computed(folder: &Path, made: &Value) -> Vec<Vec<u8>> {
    let rule = AlertRule::from_json(made["alert"]["rule"].to_string().as_bytes()).unwrap();
    let reader = Reader::open(store_in(folder, "series.db")).unwrap();
    let (_, last) = reader.slots().unwrap().unwrap();
    let told = reader.alert(rule, last).unwrap();
    told.events.into_iter().map(|event| event.canonical).collect()
}

/// Requires that a delivery is signed with these keys.
fn verify(received: &Received, secret: &str, public: &str) {
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, received.header(name).parse().unwrap());
    }
    let webhook = Webhook::new(secret).unwrap();
    webhook.verify(&received.body, &headers).unwrap();
    let mut other = received.body.clone();
    other[0] ^= 1;
    assert!(webhook.verify(&other, &headers).is_err());
    let key = Base64::decode_vec(public.strip_prefix("whpk_").unwrap()).unwrap();
    let key = VerifyingKey::from_bytes(&key.try_into().unwrap()).unwrap();
    let signature =
        received.header("webhook-signature").split(' ').find_map(|one| one.strip_prefix("v1a,"));
    let signature = Base64::decode_vec(signature.unwrap()).unwrap();
    let signature = Signature::from_slice(&signature).unwrap();
    let message = |body: &[u8]| {
        let head =
            format!("{}.{}.", received.header("webhook-id"), received.header("webhook-timestamp"));
        [head.as_bytes(), body].concat()
    };
    key.verify(&message(&received.body), &signature).unwrap();
    assert!(key.verify(&message(&other), &signature).is_err());
}

#[test]
fn what_a_rule_says_is_sent_as_anyone_computes_it_and_signed() {
    let mut keeping = Keeping::new();
    let receiver = Receiver::taking().unwrap();
    keeping.seal("missing");
    let made = keeping.keep(&keeping.rule(Some(&receiver.url("/exits"))));
    assert_eq!(made["backtest"]["events"].as_array().unwrap().len(), 1, "{made}");
    let (token, secret) =
        (made["token"].as_str().unwrap(), made["webhook_secret"].as_str().unwrap());
    keeping.wait_for_webhook(&made, "verified");
    for what in ["recorded", "missing", "recorded", "missing", "missing"] {
        keeping.seal(what);
    }
    let events = receiver.wait_for(3, SOON);
    let told: Vec<_> = events.iter().map(Received::kind).collect();
    assert_eq!(told, ["alert.firing", "alert.resolved", "alert.firing"]);
    let bodies: Vec<_> = events.iter().map(|event| event.body.clone()).collect();
    assert_eq!(bodies, computed(keeping.folder.path(), &made), "byte for byte");
    let public = made["alert"]["webhook"]["public_key"].as_str().unwrap();
    for received in &receiver.received() {
        assert_eq!(received.path, "/exits");
        verify(received, secret, public);
    }
    let name = made["alert"]["alert"].as_str().unwrap();
    let listed =
        keeping.ask("GET", &format!("/v1/alerts/{name}/events?after_seq=1"), token).found();
    let seqs: Vec<_> = listed["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["event"]["seq"].as_u64())
        .collect();
    assert_eq!((seqs, listed["next_after_seq"].as_u64()), (vec![Some(2), Some(3)], Some(3)));
    let ids: Vec<_> = events.iter().map(|event| event.header("webhook-id").to_owned()).collect();
    assert_eq!(listed["events"][0]["event"]["id"], ids[1]);
    until("all are marked", || keeping.alert(&made)["webhook"]["pending"] == 0);
    // The last slot causes no event.
    until("all are evaluated", || {
        keeping.alert(&made)["evaluated_slot"].as_u64() == Some(slot(6).number().into())
    });
    let alert = keeping.alert(&made);
    assert_eq!(
        (alert["state"]["standing"].as_str(), alert["last_seq"].as_u64()),
        (Some("firing"), Some(3))
    );
    // A requested redelivery is identical.
    let again = keeping
        .send(&format!("/v1/alerts/{name}/replay"), Some(token), &json!({"from_seq": 2}))
        .found();
    assert_eq!(again["events"], 2);
    let more = receiver.wait_for(5, SOON);
    assert_eq!(
        more[3..].iter().map(|event| &event.body).collect::<Vec<_>>(),
        bodies[1..].iter().collect::<Vec<_>>()
    );
    assert_eq!(more[3].header("webhook-id"), ids[1]);
    // After a key rotation, both key pairs sign for a day.
    let keys = keeping.send(&format!("/v1/alerts/{name}/rotate"), Some(token), &json!({})).found();
    assert_ne!(keys["webhook_secret"], secret);
    keeping.seal("recorded");
    let rotated = receiver.wait_for(6, SOON).pop().unwrap();
    verify(
        &rotated,
        keys["webhook_secret"].as_str().unwrap(),
        keys["public_key"].as_str().unwrap(),
    );
    assert_eq!(rotated.header("webhook-signature").split(' ').count(), 4);
    let (v1, v1a) = (secret.to_owned(), public.to_owned());
    let before = Received { headers: rotated.headers.clone(), ..rotated.clone() };
    let only_old: Vec<_> = before.header("webhook-signature").split(' ').skip(2).collect();
    let headers = [("webhook-signature".to_owned(), only_old.join(" "))];
    let before =
        Received { headers: before.headers.into_iter().chain(headers).collect(), ..rotated };
    verify(&before, &v1, &v1a);
    // After the owner deletes the rule, no more events are sent.
    let ended = keeping.ask("DELETE", &format!("/v1/alerts/{name}"), token).found();
    assert_eq!(ended["ended"], "deleted");
    keeping.seal("missing");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(receiver.wait_for(7, Duration::ZERO).len(), 6);
}

/// The behavior of an endpoint, and how the service reports it.
#[test]
fn an_endpoint_that_does_not_take_it_is_tried_again_and_named() {
    let elsewhere = Receiver::taking().unwrap();
    let to = format!("location: {}\r\n", elsewhere.url("/stolen"));
    let cases = [
        (Does::Answers(500, String::new()), "it answered 500"),
        (Does::Answers(429, "retry-after: 9\r\n".to_owned()), "it answered 429"),
        (Does::Answers(302, to), "it answered 302; redirects are not followed"),
        (Does::Hangs, "it did not answer within 2 s"),
        (Does::Trickles, "it did not answer within 2 s"),
        (Does::Resets, "the connection ended before it answered"),
    ];
    for (does, said) in cases {
        let mut keeping = Keeping::new();
        let does_so = does.clone();
        let receiver = Receiver::start(Ipv4Addr::LOCALHOST, move |received| {
            let is_first = received.kind() == "alert.firing";
            if is_first && received.header("x-tried").is_empty() {
                does_so.clone()
            } else {
                Does::Takes
            }
        });
        let receiver = receiver.unwrap();
        let made = keeping.keep(&keeping.rule(Some(&receiver.url("/"))));
        keeping.wait_for_webhook(&made, "verified");
        keeping.seal("missing");
        keeping.seal("recorded");
        until(said, || keeping.alert(&made)["webhook"]["last_failure"] == said);
        // The second slot may only be evaluated after the first event has failed.
        until("the second waits for the first", || keeping.alert(&made)["webhook"]["pending"] == 2);
        let alert = keeping.alert(&made);
        assert!(alert["webhook"]["failing_since"].is_string());
        assert!(
            receiver.wait_for(2, Duration::ZERO).iter().all(|one| one.kind() == "alert.firing")
        );
        if does == Does::Answers(500, String::new()) {
            let both = receiver.wait_for(2, SOON);
            assert_eq!(both[0].header("webhook-id"), both[1].header("webhook-id"));
            assert_eq!(both[0].body, both[1].body);
        }
    }
    assert_eq!(elsewhere.connections(), 0, "a redirect is not followed");
}

#[test]
fn what_answers_with_a_flood_or_not_at_all_costs_others_nothing() {
    let mut keeping = Keeping::new();
    let flood = Receiver::start(Ipv4Addr::LOCALHOST, |received| match received.kind().as_str() {
        "endpoint.challenge" => Does::Takes,
        _ => Does::Floods,
    });
    let (flood, good) = (flood.unwrap(), Receiver::taking().unwrap());
    let flooded = keeping.keep(&keeping.rule(Some(&flood.url("/"))));
    let made = keeping.keep(&keeping.rule(Some(&good.url("/"))));
    keeping.wait_for_webhook(&flooded, "verified");
    keeping.wait_for_webhook(&made, "verified");
    keeping.seal("missing");
    assert_eq!(good.wait_for(1, SOON).len(), 1);
    // Only the 2xx status counts, not the rest of the answer.
    until("it counts", || keeping.alert(&flooded)["webhook"]["pending"] == 0);
}

#[test]
fn nothing_is_sent_before_the_endpoint_says_that_it_wants_it() {
    let mut keeping = Keeping::new();
    let refusing =
        Receiver::start(Ipv4Addr::LOCALHOST, |_| Does::Answers(200, String::new())).unwrap();
    let made = keeping.keep(&keeping.rule(Some(&refusing.url("/"))));
    let said = "its answer does not echo data.challenge";
    until(said, || keeping.alert(&made)["webhook"]["last_failure"] == said);
    keeping.seal("missing");
    until("it is evaluated", || keeping.alert(&made)["last_seq"] == 1);
    assert_eq!(keeping.alert(&made)["webhook"]["state"], "unverified");
    let name = made["alert"]["alert"].as_str().unwrap();
    // Verification is repeated on request, at most three times per hour and host.
    for asked in 2..=3 {
        let verify =
            keeping.send(&format!("/v1/alerts/{name}/verify"), made["token"].as_str(), &json!({}));
        assert_eq!(verify.status, 200);
        until("it is asked", || refusing.received().len() == asked);
        until("it is marked", || keeping.alert(&made)["webhook"]["last_failure"] == said);
        std::thread::sleep(Duration::from_millis(600));
    }
    keeping.send(&format!("/v1/alerts/{name}/verify"), made["token"].as_str(), &json!({}));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(refusing.received().len(), 3);
    assert!(refusing.received().iter().all(|one| one.kind() == "endpoint.challenge"));
    let gone =
        Receiver::start(Ipv4Addr::new(127, 0, 0, 2), |received| match received.kind().as_str() {
            "endpoint.challenge" => Does::Takes,
            _ => Does::Answers(410, String::new()),
        });
    let made = keeping.keep(&keeping.rule(Some(&gone.unwrap().url("/"))));
    keeping.wait_for_webhook(&made, "verified");
    keeping.seal("recorded");
    keeping.seal("missing");
    keeping.wait_for_webhook(&made, "disabled");
}

#[test]
fn rules_belong_to_whoever_shows_their_token() {
    let keeping = Keeping::new();
    let rule = keeping.rule(None);
    let (mine, theirs) = (keeping.keep(&rule), keeping.keep(&rule));
    let [my_token, their_token] = [&mine, &theirs].map(|made| made["token"].as_str().unwrap());
    let target = format!("/v1/alerts/{}", mine["alert"]["alert"].as_str().unwrap());
    for (method, rest) in [("GET", ""), ("GET", "/events"), ("DELETE", "")] {
        let target = format!("{target}{rest}");
        let refused = keeping.ask(method, &target, their_token).problem();
        assert_eq!((refused.0, refused.1.as_str()), (404, "unknown_alert"), "{method} {target}");
        // Two bits of the last character of 32 bytes are unused: a token with other bits there is invalid.
        let last = my_token.as_bytes()[46];
        for digit in [last + 1, if last == b'A' { b'E' } else { b'A' }] {
            let other = format!("{}{}", &my_token[..46], char::from(digit));
            let unknown = keeping.ask(method, &target, &other);
            assert_eq!(unknown.problem().1, "token_required", "{method} {target} {other}");
            assert_eq!(unknown.header("www-authenticate"), Some("Bearer"));
        }
        let none = keeping.here.get(&target);
        assert_eq!(none.problem().0, 401, "{target}");
    }
    let list = keeping.ask("GET", "/v1/alerts", my_token).found();
    assert_eq!(list["alerts"].as_array().unwrap().len(), 1);
    assert!(list["alerts"][0].get("token").is_none(), "a token is told once");
    // With the token, a second rule belongs to the same owner; requests with the same idempotency key create one rule.
    let named = |rule: &Value, name: &str| {
        let bearer = format!("Bearer {my_token}");
        let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", name)];
        post(keeping.here.address, "/v1/alerts", &headers, rule.to_string().as_bytes())
    };
    let (one, again) = (named(&rule, "a-1").json(), named(&rule, "a-1").json());
    assert_eq!(one["alert"]["alert"], again["alert"]["alert"]);
    assert!(one.get("token").is_none());
    let mut other = rule.clone();
    other["for_slots"] = json!(2);
    assert_eq!(named(&other, "a-1").problem().1, "request_differs");
    assert_eq!(
        keeping.ask("GET", "/v1/alerts", my_token).found()["alerts"].as_array().unwrap().len(),
        2
    );
    // The maximum number of rules per client counts across tokens.
    for _ in 0..2 {
        keeping.keep(&rule);
    }
    assert_eq!(
        keeping.send("/v1/alerts", None, &rule).problem(),
        (429, "too_many_alerts".to_owned(), None)
    );
    assert_eq!(keeping.ask("DELETE", &target, my_token).status, 200);
    keeping.keep(&rule);
}

#[test]
fn what_is_no_rule_or_no_address_is_refused_by_name() {
    let keeping = Keeping::new();
    let refused = |change: &dyn Fn(&mut Value), code: &str, field: Option<&str>| {
        let mut rule = keeping.rule(None);
        change(&mut rule);
        let answer = keeping.send("/v1/alerts", None, &rule);
        let (_, found, of) = answer.problem();
        assert_eq!((found.as_str(), of.as_deref()), (code, field), "{rule}: {}", answer.json());
        assert!(
            !answer.json()["hint"].as_str().unwrap_or_default().is_empty(),
            "{}",
            answer.json()
        );
    };
    let set = |name: &'static str, value: Value| move |rule: &mut Value| rule[name] = value.clone();
    refused(&set("sise", json!("1")), "unknown_parameter", Some("sise"));
    refused(&set("kind", json!("gap_over")), "invalid_parameter", Some("kind"));
    refused(&set("kind", json!({"a": 1})), "invalid_parameter", Some("kind"));
    refused(&set("kind", json!(["missing"])), "invalid_parameter", Some("kind"));
    refused(&set("for_slots", json!(0)), "invalid_parameter", Some("for_slots"));
    refused(&set("for_slots", json!(1.5)), "invalid_parameter", Some("for_slots"));
    refused(&set("pct", json!("2")), "invalid_parameter", Some("pct"));
    refused(
        &set("pool", json!("anvil:0x00000000000000000000000000000000000000cc")),
        "unknown_pool",
        Some("pool"),
    );
    refused(
        &|rule| {
            rule.as_object_mut().unwrap().remove("pool");
        },
        "invalid_parameter",
        Some("pool"),
    );
    for url in [
        "",
        "hooks.example",
        "ftp://hooks.example/",
        "https://user@hooks.example/",
        "https://hooks.example/#a",
        "http://hooks.example:81/",
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/",
        "https://[::1]/",
        "https://2130706433:444/",
        "https://hooks.example:22/ a",
    ] {
        // Host names are only checked when they are resolved; IP addresses are checked immediately.
        let is_name = url.contains("hooks.example:81");
        if !is_name {
            let unreachable = set("webhook_url", json!(url));
            if url.contains("2130706433") {
                continue;
            }
            refused(&unreachable, "invalid_parameter", Some("webhook_url"));
        }
    }
    let long = format!("https://hooks.example/{}", "a".repeat(2_100));
    refused(&set("webhook_url", json!(long)), "invalid_parameter", Some("webhook_url"));
    let address = keeping.here.address;
    let at = |headers: &[(&str, &str)], body: &[u8]| {
        post(address, "/v1/alerts", headers, body).problem()
    };
    assert_eq!(at(&[], b"{").1, "invalid_parameter");
    assert_eq!(at(&[], b"[]").1, "invalid_parameter");
    assert_eq!(at(&[], &vec![b' '; 5_000]).1, "body_not_accepted");
    assert_eq!(at(&[("Authorization", "Basic YTpi")], b"{}").1, "token_required");
    let rule = keeping.rule(None).to_string();
    assert_eq!(at(&[("Idempotency-Key", "a b")], rule.as_bytes()).1, "invalid_parameter");
    assert_eq!(at(&[("Idempotency-Key", "a")], rule.as_bytes()).1, "invalid_parameter");
    let put = exchange(address, b"PUT /v1/alerts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    let patch = exchange(
        address,
        b"PATCH /v1/alerts/al_a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    assert_eq!((patch.status, patch.header("allow")), (405, Some("GET, HEAD, DELETE, OPTIONS")));
    // An address in full comes before one with a variable part, with or without a body.
    let ticket = exchange(
        address,
        b"GET /v1/alerts/ticket HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    );
    assert_eq!((ticket.status, ticket.header("allow")), (405, Some("POST, OPTIONS")));
    let made = keeping.keep(&keeping.rule(None));
    let none = format!("/v1/alerts/{}/rotate", made["alert"]["alert"].as_str().unwrap());
    assert_eq!(
        keeping.send(&none, made["token"].as_str(), &json!({})).problem().1,
        "invalid_parameter"
    );
}

#[test]
fn a_service_that_begins_again_goes_on_where_it_was() {
    let mut keeping = Keeping::new();
    let receiver = Receiver::taking().unwrap();
    let made = keeping.keep(&keeping.rule(Some(&receiver.url("/"))));
    keeping.wait_for_webhook(&made, "verified");
    keeping.seal("missing");
    receiver.wait_for(1, SOON);
    // A process that ends between the delivery and its mark delivers the same event again; another test covers this.
    until("it is marked", || keeping.alert(&made)["webhook"]["pending"] == 0);
    let folder = keeping.folder.path().to_owned();
    let start = || {
        let alerts = Some((plan(&folder), machine_clock()));
        Here::start(&folder, With { alerts, ..With::default() })
    };
    // The service is down for some slots and sends their events late; two processes at once send them once.
    keeping.here = Here::start(&folder, With::default());
    for what in ["recorded", "missing", "missing", "recorded"] {
        keeping.seal(what);
    }
    let (one, two) = (start(), start());
    let events = receiver.wait_for(4, SOON);
    assert_eq!(events.len(), 4);
    std::thread::sleep(Duration::from_secs(1));
    let bodies: Vec<_> =
        receiver.wait_for(5, Duration::ZERO).into_iter().map(|event| event.body).collect();
    assert_eq!(bodies, computed(&folder, &made));
    drop((one, two));
}

#[test]
fn the_command_line_keeps_rules_and_tells_of_them() {
    let mut keeping = Keeping::new();
    let receiver = Receiver::taking().unwrap();
    let api = format!("http://{}", keeping.here.address);
    let run = |arguments: &[&str], token: Option<&str>| {
        let mut command = std::process::Command::new(binaries::path("exitgap"));
        command.args(arguments).args(["--api", &api]).env_remove("EXITGAP_ALERTS_TOKEN");
        let output =
            command.envs(token.map(|token| ("EXITGAP_ALERTS_TOKEN", token))).output().unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), out, err)
    };
    let pool = keeping.pool.id.to_string();
    let (url, once) = (receiver.url("/cli"), "1");
    let rule = [
        "alert",
        "keep",
        &pool,
        "--kind",
        "missing",
        "--for-slots",
        once,
        "--clear-for-slots",
        once,
        "--webhook-url",
        &url,
    ];
    let (code, made, err) = run(&[&rule[..], &["--json"]].concat(), None);
    assert_eq!(code, Some(0), "{err}");
    let made: Value = serde_json::from_str(&made).unwrap();
    let (token, name) = (made["token"].as_str().unwrap(), made["alert"]["alert"].as_str().unwrap());
    keeping.wait_for_webhook(&made, "verified");
    keeping.seal("missing");
    receiver.wait_for(1, SOON);
    until("it is marked", || keeping.alert(&made)["webhook"]["pending"] == 0);
    let token = Some(token);
    let (_, shown, _) = run(&["alert", "show", name], token);
    for said in ["missing", "firing, 1 events so far", "verified", &url, "whpk_"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let (_, events, _) = run(&["alert", "events", name], token);
    assert!(events.contains("alert.firing") && events.contains("delivered"), "{events}");
    let (_, resent, _) = run(&["alert", "resend", name], token);
    assert!(resent.contains("1 events"), "{resent}");
    assert_eq!(receiver.wait_for(2, SOON).len(), 2);
    let (_, rotated, _) = run(&["alert", "rotate", name], token);
    assert!(rotated.contains("whsec_") && rotated.contains("whpk_"), "{rotated}");
    // The text output says that the token is shown only once.
    let (code, words, err) = run(&rule[..rule.len() - 2], token);
    assert_eq!(code, Some(0), "{err}");
    assert!(words.contains("backtest") && !words.contains("exa_"), "{words}");
    let (_, list, _) = run(&["alert", "list"], token);
    assert_eq!(list.lines().count(), 3, "{list}");
    let (_, ended, _) = run(&["alert", "end", name], token);
    assert!(ended.contains("deleted"), "{ended}");
    for (arguments, token, said) in [
        (&["alert", "list"][..], None, "token_required"),
        (&["alert", "show", "al_none"], token, "unknown_alert"),
        (&["alert", "show", "No"], token, "invalid_parameter"),
        (&["alert", "keep", &pool, "--kind", "gap_under"], token, "invalid_parameter"),
    ] {
        let (code, _, err) = run(arguments, token);
        assert!(
            code != Some(0) && err.contains(said) && err.contains("hint"),
            "{arguments:?}: {err}"
        );
    }
}
