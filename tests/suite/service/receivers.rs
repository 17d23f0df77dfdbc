//! The receivers that `webhooks.md` shows, and the unmodified reference libraries, verify real deliveries.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use exitgap_server::alerts::{AlertKey, Networks, Poster, SystemLookup, machine_clock};
use exitgap_store::alerts::{DeliveryTask, EndpointKeys, Outcome, Sent};
use exitgap_tests::receiver::{Received, Receiver};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::npm::tools;

/// A delivery with the keys that its receiver knows.
fn delivered() -> Value {
    let receiver = Receiver::taking().unwrap();
    let networks = Networks::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let key = AlertKey::from_seed([8; 32]);
    let lookup: std::sync::Arc<dyn exitgap_server::alerts::Lookup> =
        std::sync::Arc::new(SystemLookup);
    let poster =
        Poster::new(&lookup, networks, key.clone(), std::time::Duration::from_secs(5)).unwrap();
    // The keys were just rotated, so two of each kind sign.
    let now_ms = machine_clock()();
    let keys = EndpointKeys { salt: [4; 16], generation: 2, rotated_ms: Some(now_ms - 1_000) };
    let document =
        "{\"type\":\"alert.firing\",\"data\":{\"value\":\"2.5 \u{20ac}\"}}".to_owned().into_bytes();
    let what = Sent::Event { alert: 1, seq: 1, id: "evt_abc".to_owned(), document };
    let sending = DeliveryTask {
        what,
        endpoint: 1,
        url: receiver.url("/"),
        host: String::new(),
        keys,
        attempt: 1,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(runtime.block_on(poster.attempt(&sending, now_ms)), Outcome::Taken);
    let Received { headers, body, .. } = receiver.received().pop().unwrap();
    let told = [2, 1].map(|generation| {
        let keys = key.webhook(&[4; 16], generation);
        json!({"secret": keys.secret_text(), "public": keys.public_text()})
    });
    let other = key.webhook(&[5; 16], 1);
    json!({
        "headers": headers,
        "body": String::from_utf8(body).unwrap(),
        "keys": told,
        "other": {"secret": other.secret_text(), "public": other.public_text()},
    })
}

/// The page's code blocks in a language.
fn blocks(language: &str) -> Vec<String> {
    let page = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/exitgap-server/docs/webhooks.md"
    ));
    let page = page.unwrap();
    let begins = format!("```{language}\n");
    page.split(&begins).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a program in a folder, with the delivery on its standard input.
fn run(program: &mut Command, folder: &Path, given: &Value) {
    let mut child = program
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let [out, err] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out, "sound\n", "{err}");
}

const DRIVER: &str = r"
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { verify } from './shared.mjs';
import { verifyPublic } from './public.mjs';
import { Webhook } from 'standardwebhooks';

const { headers, body, keys, other } = JSON.parse(readFileSync(0, 'utf8'));
const at = Number(headers['webhook-timestamp']);
const stale = { ...headers, 'webhook-timestamp': String(at - 1) };
const ways = [
  [verify, 'secret'],
  [verifyPublic, 'public'],
  [(found, text, key) => new Webhook(key).verify(text, found), 'secret'],
];
for (const [check, kind] of ways) {
  for (const key of keys) assert.equal(check(headers, body, key[kind]).type, 'alert.firing');
  assert.throws(() => check(headers, body, other[kind]), 'another key');
  assert.throws(() => check(headers, body.replace('2.5', '2.6'), keys[0][kind]), 'another body');
  assert.throws(() => check(stale, body, keys[0][kind]), 'another time');
  assert.throws(() => check({ ...headers, 'webhook-id': 'evt_abd' }, body, keys[0][kind]), 'another id');
  if (check.length > 3 || kind !== 'secret' || check === verify) {
    assert.throws(() => check(headers, body, keys[0][kind], at + 301), 'an old one');
    assert.throws(() => check(headers, body, keys[0][kind], at - 301), 'another clock');
  }
}
console.log('sound');
";

#[test]
fn javascript_of_the_page_and_the_reference_library_take_what_is_sent() {
    let folder = TempDir::new().unwrap();
    let blocks = blocks("js");
    assert_eq!(blocks.len(), 2);
    for (name, text) in [("shared.mjs", &blocks[0]), ("public.mjs", &blocks[1])] {
        assert!(
            text.lines().filter(|line| !line.is_empty()).count() <= 12,
            "ten lines and a brace: {text}"
        );
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("driver.mjs"), DRIVER).unwrap();
    std::os::unix::fs::symlink(tools().join("node_modules"), folder.path().join("node_modules"))
        .unwrap();
    run(Command::new("node").arg("driver.mjs"), folder.path(), &delivered());
}

const PYTHON_DRIVER: &str = r#"
import json, sys
from receive import Refused, verify

given = json.load(sys.stdin)
headers, body, keys = given["headers"], given["body"].encode(), given["keys"]
at = int(headers["webhook-timestamp"])
checks = [verify]
if "--reference" in sys.argv:
    from standardwebhooks.webhooks import Webhook
    checks.append(lambda found, text, key: Webhook(key).verify(text.decode(), found))

def refused(check, *given):
    try:
        check(*given)
    except Exception:
        return
    raise SystemExit(f"taken: {given}")

for check in checks:
    for key in keys:
        assert check(headers, body, key["secret"])["type"] == "alert.firing"
    refused(check, headers, body, given["other"]["secret"])
    refused(check, headers, body.replace(b"2.5", b"2.6"), keys[0]["secret"])
    refused(check, {**headers, "webhook-timestamp": str(at - 1)}, body, keys[0]["secret"])
    refused(check, {**headers, "webhook-id": "evt_abd"}, body, keys[0]["secret"])
refused(verify, headers, body, keys[0]["secret"], at + 301)
refused(verify, headers, body, keys[0]["secret"], at - 301)

# Headers that no sender makes are refused like those of another sender, and raise nothing else.
names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
hostile = [None, "", " ", "-1", "nan", "inf", "1e9", "0x10", "\u0661\u0662", "\u00b2", "\u00e9", "\udc80", "\ud800",
    "\x00", "9" * 13, "9" * 400, "9" * 5000, str(at) + " ", "+" + str(at), str(at) + ".0", f"{at:_}", str(at) + "0" * 300,
    "v1,", "v1,\u00e9", "v1", ",", "v1a,AAAA", "v1," + "A" * 100_000, " ".join(["v1,AAAA"] * 10_000), "v2,AAAA", 5, [], {}]
changed = [{name: headers[name] for name in names if name != left} for left in names] + [{}]
changed += [{**headers, name: value} for name in names for value in hostile]
fired = 0
for found in changed:
    try:
        verify(found, body, keys[0]["secret"])
    except Refused:
        fired += 1
        continue
    raise SystemExit(f"taken: {str(found)[:200]}")
assert fired == 4 + 3 * len(hostile), fired
print("sound")
"#;

fn python(program: &Path, arguments: &[&str]) {
    let folder = TempDir::new().unwrap();
    let blocks = blocks("python");
    assert_eq!(blocks.len(), 1);
    assert!(blocks[0].lines().count() <= 12, "ten lines, and what they import");
    fs::write(folder.path().join("receive.py"), &blocks[0]).unwrap();
    fs::write(folder.path().join("driver.py"), PYTHON_DRIVER).unwrap();
    run(Command::new(program).arg("driver.py").args(arguments), folder.path(), &delivered());
}

#[test]
#[ignore = "needs Python: with `cargo xtask test --all`, which fetches its reference library"]
fn python_of_the_page_and_the_reference_library_take_what_is_sent() {
    let fetched = exitgap_tests::fixtures::folder().join("standardwebhooks-python/bin/python");
    python(&fetched, &["--reference"]);
}
