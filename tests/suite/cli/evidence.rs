//! `exitgap verify` in complete sessions (`sessions/evidence/`), and with every shared vector of evidence, valid and
//! invalid.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_core::log_folder::PartRef;
use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::log::{Log, MISSING, recorded, signer, snapshot};

fn vectors() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/evidence");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let vectors: Vec<Value> =
        files.map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap()).collect();
    assert!(vectors.len() > 30, "the vectors must be there");
    vectors
}

/// Writes the parts of a vector to files in `folder` and returns the arguments that verify them.
fn write(vector: &Value, folder: &Path) -> Vec<String> {
    let name = vector["name"].as_str().unwrap();
    let lines = |list: &Value| {
        let lines = list.as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        lines.flat_map(|line| [line, "\n"]).collect::<String>()
    };
    let put = |kind: &str, text: &str| {
        let file = folder.join(format!("{name}.{kind}"));
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let policy = &vector["policy"];
    let mut args = vec!["verify".to_owned(), put("json", vector["evidence"].as_str().unwrap())];
    let mut add = |flag: &str, file: String| args.extend([flag.to_owned(), file]);
    let keys = lines(&policy["keys"]);
    if !keys.is_empty() {
        add("--trust", put("keys", &keys));
    }
    if let Some(seen) = policy["seen"].as_object() {
        add("--since", put("checkpoint", seen["note"].as_str().unwrap()));
        add("--proof", put("proof", &lines(&seen["proof"])));
    }
    if let Some(window) = policy["window"].as_str() {
        add("--window", put("window", window));
    }
    args
}

fn exitgap(args: &[String]) -> Output {
    Command::new(binaries::path("exitgap")).args(args).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn every_vector_has_its_verdict_checks_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for vector in vectors() {
        let mut args = write(&vector, folder.path());
        let text = exitgap(&args);
        args.push("--json".to_owned());
        let output = exitgap(&args);
        let name = &vector["name"];
        if name == "seen_with_crlf" {
            // A checkpoint that cannot be read is an invalid argument and is rejected before any file.
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(5), "{complaint}");
            assert!(complaint.contains("LF, not CR LF"), "{complaint}");
            continue;
        }
        let (report, expected) = (document(&output), &vector["expected"]);
        let checks: Vec<Value> = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|check| {
                let field = |name: &str| check[name].clone();
                Value::Array(vec![field("name"), field("outcome"), field("code")])
            })
            .collect();
        assert_eq!(Value::Array(checks), expected["checks"], "{name}");
        // The caller supplied a window, so a window that cannot be checked makes the verdict incomplete.
        let unknown = expected["checks"][7][2].as_str().unwrap().starts_with("unsupported_");
        let verdict = match expected["verdict"].as_str().unwrap() {
            "valid" if unknown => "incomplete",
            other => other,
        };
        assert_eq!(report["verdict"], verdict, "{name}");
        assert_eq!(report["unknown_signers"], expected["unknown_signers"], "{name}");
        let code = match verdict {
            "valid" => 0,
            "invalid" => 6,
            _ => 7,
        };
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert_eq!(text.status.code(), Some(code), "{name}: a person gets the same verdict");
        let split = expected["checks"].to_string().contains("split_view");
        assert_eq!(report.get("contradiction").is_some(), split, "{name}");
        let shown = String::from_utf8_lossy(&text.stdout).contains("PROOF OF MISBEHAVIOUR");
        assert_eq!(shown, split, "{name}");
    }
}

#[test]
fn a_verdict_is_explained_check_by_check() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["true_constant_product", "gap_off_by_one_digit"] {
        let vector = vectors().into_iter().find(|v| v["name"] == name).unwrap();
        let mut args = write(&vector, folder.path());
        let plain = exitgap(&args);
        args.push("--explain".to_owned());
        let explained = exitgap(&args);
        assert_eq!(explained.status.code(), plain.status.code());
        let (plain, text) = (plain.stdout, String::from_utf8(explained.stdout).unwrap());
        let plain = String::from_utf8(plain).unwrap();
        // The text output keeps the findings and explains every check.
        assert!(plain.lines().all(|line| text.contains(line)), "{text}");
        assert!(!plain.contains("does not prove"), "{plain}");
        assert_eq!(text.matches("    does not prove  ").count(), 10, "{text}");
        args.push("--json".to_owned());
        let document = document(&exitgap(&args));
        let names = |list: &str, name: &str| -> Vec<Value> {
            document[list].as_array().unwrap().iter().map(|one| one[name].clone()).collect()
        };
        assert_eq!(names("explanations", "check"), names("checks", "name"));
        assert_eq!(document["verdict"], vector["expected"]["verdict"]);
    }
}

#[test]
fn standard_input_is_read_like_a_file_and_no_file_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let vector = vectors().into_iter().find(|v| v["name"] == "true_constant_product").unwrap();
    let args = write(&vector, folder.path());
    let from_stdin = |file: &Path| {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["verify", "-", "--trust", &args[3]]).stdin(File::open(file).unwrap());
        command.output().unwrap()
    };
    let file = PathBuf::from(&args[1]);
    let (piped, named) = (from_stdin(&file), exitgap(&args));
    assert_eq!(piped.status.code(), Some(0));
    assert_eq!(piped.stdout, named.stdout);
    let hostile = fs::read_to_string(&file).unwrap();
    let hostile = hostile.replacen("\"preview\"}", "\"\\u001b[2Jlive\"}", 1);
    let hostile = hostile.replacen("\"status\":\"preview\"", "\"status\":\"\\u001b[2Jlive\"", 1);
    fs::write(&file, hostile).unwrap();
    let output = from_stdin(&file);
    assert_eq!(output.status.code(), Some(6));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("\\u{1b}[2Jlive"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn files_larger_than_any_evidence_are_not_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.json");
    File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let large = large.to_str().unwrap().to_owned();
    let output = exitgap(&["verify".to_owned(), large.clone(), "--json".to_owned()]);
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(document(&output)["checks"][0]["code"], "format_invalid");
    let vector = vectors().into_iter().find(|v| v["name"] == "window").unwrap();
    let args = write(&vector, folder.path());
    for flag in ["--window", "--trust", "--since"] {
        let args = ["verify", &args[1], flag, &large].map(str::to_owned);
        let code = if flag == "--window" { 6 } else { 5 };
        assert_eq!(exitgap(&args).status.code(), Some(code), "{flag}");
    }
}

/// A window of 120 KB in which one text, after reconstruction, appears in each of 2,016 heads, and an evidence file of
/// long texts: either verified within 192 MiB of address space, or rejected.
#[test]
fn no_text_is_repeated_beyond_memory() {
    let folder = tempfile::tempdir().unwrap();
    let vector = vectors().into_iter().find(|v| v["name"] == "window").unwrap();
    let args = write(&vector, folder.path());
    let bomb = folder.path().join("bomb");
    let version = "9".repeat(120_000);
    let missing = r#"[[0,2016,"recorder_down"]]"#;
    let text = format!(
        r#"{{"commits":[],"depth_usd":[[],[]],"first_height":0,"first_prev":null,"first_slot":5957856,"heads":2016,"leaf":{{}},"log_proof":"","lowest_depth_7d_usd":[[0,null,null]],"lowest_snapshots":[],"method_versions":[[0,"{version}"]],"missing":{missing},"pool":"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","pool_proof":{{"hashes":[],"index":0}},"recorded_before":0,"retired":false,"retracts":[],"snapshots":"","v":1}}"#
    );
    fs::write(&bomb, &text).unwrap();
    let within = |args: &[&str]| {
        let exitgap = binaries::path("exitgap");
        let limited = r#"ulimit -v 196608; exec "$@""#;
        let mut command = Command::new("bash");
        command.args(["-c", limited, "limited"]).arg(exitgap).args(args).arg("--json");
        command.output().unwrap()
    };
    let verify = ["verify", &args[1], "--trust", &args[3], "--window"];
    let output = within(&[&verify[..], &[bomb.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let window = document(&output)["checks"][7].clone();
    assert_eq!(window["code"], "window_invalid");
    assert_eq!(window["found"], "method_version must be 1 to 20 printable characters");
    // The same window with a short version name can be verified within the same memory.
    fs::write(&bomb, text.replace(&version, "1.0.0")).unwrap();
    let output = within(&[&verify[..], &[bomb.to_str().unwrap()]].concat());
    let window = document(&output)["checks"][7].clone();
    assert_eq!(window["code"], "window_invalid");
    assert!(window["found"].as_str().unwrap().contains("the last head's proof"), "{window}");

    let file = vector["evidence"].as_str().unwrap();
    let long = "9".repeat(1 << 20);
    let swollen = file.replacen("\"1000.5\"", &format!("\"{long}\""), 1).replacen(
        "\"status\":\"preview\"",
        &format!("\"status\":\"{long}\""),
        1,
    );
    assert!(swollen.len() > 2 << 20);
    fs::write(&args[1], swollen).unwrap();
    let output = within(&["verify", &args[1], "--trust", &args[3]]);
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert!(output.stdout.len() < 16_000, "{} bytes are said of it", output.stdout.len());
}

/// Runs a session of `sessions/evidence/` in a separate folder, with the files that it names and those that `fill`
/// writes.
fn session(name: &str, fill: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join(name).with_extension("in");
    fs::create_dir(&files).unwrap();
    fill(&files);
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli/sessions/evidence").join(name);
    let source = source.with_extension("trycmd");
    let session = folder.path().join(name).with_extension("trycmd");
    fs::copy(&source, &session).unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("exitgap", binaries::path("exitgap").as_path())
        .env("NO_COLOR", "1")
        .case(session.to_str().unwrap());
    cases.run();
    // trycmd itself rewrites sessions with this setting.
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::copy(&session, &source).unwrap();
    }
}

#[test]
fn sessions_of_verify_read_as_written() {
    session("verify", |files| {
        for vector in vectors() {
            write(&vector, files);
        }
        let key = files.join("true_constant_product.keys");
        fs::copy(key, files.join("verifier-key")).unwrap();
    });
}

/// Reports with two evidence files: complete, truncated, and inconsistent with their first line.
#[test]
fn sessions_of_a_report_read_as_written() {
    session("report", |files| {
        let vector = |name: &str| vectors().into_iter().find(|v| v["name"] == name).unwrap();
        let [one, other] = ["true_concentrated_liquidity", "true_constant_product"].map(vector);
        let key = one["policy"]["keys"][0].as_str().unwrap();
        fs::write(files.join("verifier-key"), key).unwrap();
        let [one, other] = [&one, &other].map(|vector| vector["evidence"].as_str().unwrap());
        let named = [one, other].map(|file| format!("\"{}\"", PartRef::hash_of(file.as_bytes())));
        let first = format!("{{\"files\":[{}],\"report\":1}}", named.join(","));
        let changed = other.replacen("\"size_usd\":\"0.5\"", "\"size_usd\":\"0.6\"", 1);
        assert_ne!(changed, other);
        let put = |name: &str, lines: &[&str]| {
            let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
            fs::write(files.join(name).with_extension("jsonl"), text).unwrap();
        };
        put("whole", &[&first, one, other]);
        put("cut", &[&first, one]);
        put("nothing", &[&first]);
        put("doubled", &[&first, one, one, other]);
        put("reordered", &[&first, other, one]);
        put("changed", &[&first, one, &changed]);
        put("unstated", &[one, other]);
        put("newer", &[&first.replace("\"report\":1", "\"report\":2"), one, other]);
    });
}

#[test]
fn sessions_of_audit_read_as_written() {
    session("audit", |files| {
        let honest = Log::honest(12);
        honest.publish(&files.join("log"));
        fs::write(files.join("verifier-key"), signer().verifier().to_string()).unwrap();
        fs::write(files.join("checkpoint.kept"), honest.checkpoint(5)).unwrap();
        let mut rewritten = honest.clone();
        let taken = snapshot(0, MISSING);
        rewritten.head(MISSING).entry = recorded(&taken);
        rewritten.slots[MISSING as usize][0].snapshot = Some(taken.to_canonical().unwrap());
        rewritten.settle();
        rewritten.publish(&files.join("rewritten"));
        let mut dropped = honest;
        dropped.slots[3].remove(1);
        dropped.settle();
        dropped.publish(&files.join("dropped"));
    });
}
