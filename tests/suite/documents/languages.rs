//! Sends the reference's example requests in each language to a service, and compares the answers with those of the
//! addresses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use exitgap_api::operations::{Answer as Answers, Operation};
use exitgap_client::{Client, Native};
use exitgap_tests::fixtures;
use serde_json::{Value, json};

use super::every_address;
use crate::scenes::npm::Project;
use crate::scenes::reference::{BASE, HOOK, RULE, Reference};

/// The code snippets of a language, by operation; `""` contains the common beginning. The placeholders in the examples
/// are replaced by names from the scene.
fn snippets(reference: &Reference, language: &str) -> BTreeMap<String, String> {
    let page = String::from_utf8(reference.service.get("/docs").body).unwrap();
    let opened = format!("<pre class=\"{language}\">");
    let within = |part: &str, opened: &str| {
        let (_, rest) = part.split_once(opened)?;
        let text = rest.split_once("</pre>")?.0.replace("&lt;", "<").replace("&gt;", ">");
        Some(text.replace("&quot;", "\"").replace("&amp;", "&"))
    };
    let mut found = BTreeMap::new();
    let mut parts = page.split("<section id=\"");
    let head = parts.next().unwrap().split(&format!("<div class=\"{language}\">")).nth(1).unwrap();
    found.insert(String::new(), within(head, "<pre>").unwrap());
    let kept: Value =
        serde_json::from_str(&super::document("crates/exitgap-server/docs/examples.json")).unwrap();
    let asked = reference.asked();
    let path = |target: &str| target.split('?').next().unwrap().to_owned();
    for part in parts {
        let id = part.split('"').next().unwrap();
        let snippet = within(part, &opened).unwrap_or_else(|| panic!("{id} is not asked"));
        let [was, is] = [
            path(kept[id]["request"].as_str().unwrap()),
            path(&asked.iter().find(|asked| asked.id == id).unwrap().target),
        ];
        let hash = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        let snippet =
            if hash(&was).len() == 66 { snippet.replace(&hash(&was), &hash(&is)) } else { snippet };
        found.insert(id.to_owned(), snippet);
    }
    assert_eq!(found.len(), 1 + Operation::list_all().len());
    found
}

/// The arguments for each address, in an order in which all requests succeed.
fn told(reference: &Reference) -> Value {
    let asked = reference.asked();
    let kind = |id: &str| match Operation::list_all()
        .map(Operation::row)
        .find(|row| row.id == id)
        .unwrap()
        .answer
    {
        Answers::Document(_) | Answers::Readiness => "json",
        Answers::Bytes(_) | Answers::Nothing => "bytes",
    };
    asked
        .iter()
        .map(|asked| {
            json!({"id": asked.id, "method": asked.method, "target": asked.target, "kind": kind(asked.id)})
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_of_the_reference_is_answered_as_its_addresses_are() {
    let reference = Reference::new().await;
    let snippets = snippets(&reference, "javascript");
    let mut program = format!("{}\n\nexport const run = {{\n", snippets[""]);
    for (id, snippet) in snippets.iter().filter(|(id, _)| !id.is_empty()) {
        let snippet = snippet.replace(HOOK, &reference.receiver.url("/exits"));
        let _ = write!(program, "async {id}(token, alert) {{\n{snippet}\nreturn answer;\n}},\n");
    }
    program.push_str("};\n");
    let project = Project::new();
    project.add(&["reference.mjs"]);
    project.write("snippets.mjs", &program);
    project.write("asked.json", &told(&reference).to_string());
    assert_eq!(project.node(&["reference.mjs", &reference.here(), RULE]), "sound\n");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, or after `cargo xtask py`, which builds the wheel and its environment"]
async fn python_of_the_reference_is_answered_as_its_addresses_are() {
    let reference = Reference::new().await;
    let snippets = snippets(&reference, "python");
    let mut program = format!("{}\n", snippets[""]);
    for (id, snippet) in snippets.iter().filter(|(id, _)| !id.is_empty()) {
        let snippet =
            snippet.replace(HOOK, &reference.receiver.url("/exits")).replace('\n', "\n    ");
        let _ = write!(program, "\n\ndef {id}(token, alert):\n    {snippet}\n    return answer\n");
    }
    let folder = tempfile::TempDir::new().unwrap();
    fs::write(folder.path().join("snippets.py"), program).unwrap();
    fs::write(folder.path().join("asked.json"), told(&reference).to_string()).unwrap();
    let driver =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/exitgap-py/tests/reference.py");
    let mut python = Command::new(fixtures::folder().join("exitgap-python/bin/python"));
    python.arg(driver).arg(reference.here()).arg(RULE).env("PYTHONPATH", folder.path());
    let ran =
        python.current_dir(folder.path()).output().expect("`cargo xtask py` made the environment");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "sound\n");
}

/// The Python package has every function that the reference names, with these parameters.
#[tokio::test(flavor = "multi_thread")]
async fn python_of_the_reference_names_what_the_package_has() {
    let reference = Reference::new().await;
    let client = super::document("crates/exitgap-py/python/exitgap/_client.py");
    let client: String = client.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut called = 0;
    for (id, snippet) in snippets(&reference, "python") {
        let Some((_, call)) = snippet.split_once("client.").filter(|_| !id.is_empty()) else {
            continue;
        };
        let (name, arguments) = call.split_once('(').unwrap();
        let taken = client
            .split_once(&format!("def {name}("))
            .and_then(|(_, rest)| rest.split_once(" -> "));
        let (taken, _) = taken.unwrap_or_else(|| panic!("{id}: the client has no {name}"));
        let words: Vec<&str> = arguments.split([',', '(', ')']).map(str::trim).collect();
        for argument in words.iter().filter_map(|word| word.split_once('=')).map(|(name, _)| name) {
            let takes_it = if name == "read" {
                let row =
                    Operation::list_all().map(Operation::row).find(|row| row.id == id).unwrap();
                row.parameters.iter().any(|known| known.name == argument)
            } else {
                taken.contains(&format!("{argument}:"))
            };
            assert!(takes_it || argument.contains('"'), "{id}: {name} takes no {argument}");
        }
        called += 1;
    }
    assert!(called > 25, "{called}");
}

/// `every_address.rs` contains the reference's Rust snippets in compiled form.
#[tokio::test(flavor = "multi_thread")]
async fn rust_of_the_reference_is_compiled_and_answered_as_its_addresses_are() {
    let reference = Reference::new().await;
    let (here, file) = (reference.here(), "tests/suite/documents/every_address.rs");
    let written = every_address_of(&snippets(&reference, "rust"), &here);
    if std::env::var_os("EXITGAP_WRITE_EXAMPLES").is_some() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        fs::write(root.join(file), &written).unwrap();
    }
    assert!(super::document(file) == written, "EXITGAP_WRITE_EXAMPLES makes {file} anew");
    let client = Client::new(Native::new().unwrap(), here.parse().unwrap());
    let mut rule = (String::from("none"), String::new());
    for asked in reference.asked() {
        let found = every_address::ask(asked.id, &client, &rule.1, rule.0.parse().unwrap()).await;
        let bytes = match found {
            Ok(bytes) => bytes,
            // If the service rejects the request, the client reports the reason.
            Err(error) => {
                let problem = reference.ask(&asked, Some(&rule));
                assert!(problem.status >= 400, "{}: {error}", asked.id);
                continue;
            }
        };
        if asked.id == "keepAlert" {
            let made: Value = serde_json::from_slice(&bytes).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            rule = (text(&made["alert"]["alert"]), text(&made["token"]));
        }
        if asked.method == "GET" {
            let (mut bytes, mut tries) = (bytes, 0);
            loop {
                let expected = reference.ask(&asked, Some(&rule)).body;
                let same = match asked.id {
                    "streamSlots" => !bytes.is_empty(),
                    "readMetrics" => bytes.starts_with(b"#"),
                    _ => without_age(&bytes) == without_age(&expected),
                };
                if same {
                    break;
                }
                // A rule may have been evaluated between the two answers, and is not the next time.
                tries += 1;
                assert!(tries < 20, "{}: {}", asked.id, String::from_utf8_lossy(&bytes));
                tokio::time::sleep(Duration::from_millis(250)).await;
                let again = every_address::ask(asked.id, &client, &rule.1, rule.0.parse().unwrap());
                bytes = again.await.unwrap();
            }
        }
    }
}

/// Removes the age, which changes between two requests, from a document; other bytes stay unchanged.
fn without_age(bytes: &[u8]) -> Value {
    fn age(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !name.ends_with("age_s") && name != "webhook");
                members.values_mut().for_each(age);
            }
            Value::Array(all) => all.iter_mut().for_each(age),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(bytes).unwrap_or_else(|_| json!(bytes));
    age(&mut value);
    value
}

/// Combines the snippets into one function.
fn every_address_of(snippets: &BTreeMap<String, String>, here: &str) -> String {
    let imports = snippets[""].split_once("\n\nlet client").unwrap().0;
    let mut file = format!(
        "//! Every address, asked as the reference shows it in Rust. Written by a test of `languages.rs`, which then asks them:\n\
         //! `EXITGAP_WRITE_EXAMPLES=1` writes it anew.\n\n{imports}\n\n\
         /// Asks an address by its operation.\n#[rustfmt::skip]\n\
         #[expect(clippy::too_many_lines, clippy::let_and_return, reason = \"a snippet for each address, as it is shown\")]\npub async fn ask(\n    id: &str,\n    \
         client: &Client<Native>,\n    token: &str,\n    alert: Code,\n) -> Result<Vec<u8>, Box<dyn std::error::Error>> {{\n    \
         Ok(match id {{\n"
    );
    for row in Operation::list_all().map(Operation::row) {
        let answer = match (row.id, row.answer) {
            ("readSnapshot", _) => "answer.snapshot",
            ("readLog", _) => "answer.into_bytes()",
            ("streamSlots", _) => "answer.unwrap_or_default()",
            (_, Answers::Document(_)) => "serde_json::to_vec(&answer)?",
            _ => "answer",
        };
        let snippet = snippets[row.id].replace(here, BASE).replace('\n', "\n            ");
        let _ = write!(
            file,
            "        \"{}\" => {{\n            {snippet}\n            {answer}\n        }}\n",
            row.id
        );
    }
    file + "        other => return Err(format!(\"{other} is not asked\").into()),\n    })\n}\n"
}
