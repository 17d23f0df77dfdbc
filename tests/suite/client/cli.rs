//! The command line with a service that sends invalid answers.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use exitgap_tests::binaries;
use serde_json::{Value, json};

/// Answers every request with the status and the body that `answer` returns for its target.
fn hostile(
    answer: impl Fn(&str) -> (u16, String) + Send + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let Some(Ok(first)) = lines.next() else { continue };
            lines.map_while(Result::ok).find(String::is_empty);
            let target = first.split(' ').nth(1).unwrap().to_owned();
            let (status, body) = answer(&target);
            log.lock().unwrap().push(target);
            let head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\n");
            let payment = "x-payment-amount: 0.01\r\nx-payment-currency: USDC\r\n\
                 x-payment-network: eip155:8453\r\nx-payment-recipient: 0xabc\r\n";
            let payment = if status == 402 { payment } else { "" };
            let length = body.len();
            // The client may close the connection before reading everything.
            let _ = write!(stream, "{head}{payment}content-length: {length}\r\n\r\n{body}");
        }
    });
    (address, asked)
}

fn exitgap(arguments: &[&str], address: SocketAddr) -> (Output, String, String) {
    let mut command = Command::new(binaries::path("exitgap"));
    let output =
        command.args(arguments).args(["--api", &format!("http://{address}")]).output().unwrap();
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8(text.clone()).unwrap());
    (output, stdout, stderr)
}

const EVIL: &str = "\u{1b}[2J\u{9b}31m\u{202e}";

#[test]
fn no_word_of_a_service_moves_the_cursor() {
    let entry = json!({
        "pool": format!("anvil:0x1{EVIL}"), "chain": "anvil",
        "base": {"address": "0x", "symbol": EVIL, "decimals": 18},
        "series_start": EVIL, "days_observed": 1, "slots_recorded": 1, "slots_missing": 0,
        "last_slot": EVIL, "last_slot_missing": EVIL,
    });
    let (address, _) = hostile(move |target| {
        if target == "/v1/pools" {
            return (200, json!({ "pools": [entry] }).to_string());
        }
        let hint = format!("hint {EVIL}");
        let problem = json!({"code": EVIL, "detail": EVIL, "hint": hint, "status": 418});
        (418, problem.to_string())
    });
    let ladder = ["ladder", "anvil:0x1111111111111111111111111111111111111111"];
    for (arguments, shown) in [(&["pools"][..], 5), (&ladder, 3)] {
        let (_, stdout, stderr) = exitgap(arguments, address);
        let text = stdout + &stderr;
        assert_eq!(text.matches("\\u{1b}[2J\\u{9b}31m\\u{202e}").count(), shown, "{text}");
        let moves = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(moves), "{text:?}");
    }
}

#[test]
fn pages_without_end_are_not_followed() {
    let circle = |target: &str| {
        let next = if target.contains("cursor=a") { "b" } else { "a" };
        (200, json!({ "pools": [], "next_cursor": next }).to_string())
    };
    let (address, asked) = hostile(circle);
    let (output, _, stderr) = exitgap(&["pools"], address);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(
        stderr.contains("[not_as_specified]") && stderr.contains("its pages repeat"),
        "{stderr}"
    );
    let targets = ["/v1/pools", "/v1/pools?cursor=a", "/v1/pools?cursor=b"];
    assert_eq!(*asked.lock().unwrap(), targets);

    // An endless sequence of new cursors ends, too, and the output says that the list is incomplete.
    let endless = |target: &str| {
        let next = format!("{}x", target.split_once("cursor=").map_or("", |(_, cursor)| cursor));
        (200, json!({ "pools": [], "next_cursor": next }).to_string())
    };
    let (address, asked) = hostile(endless);
    let (output, stdout, _) = exitgap(&["--json", "pools"], address);
    assert!(output.status.success());
    let list: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(list["next_cursor"], "x".repeat(50));
    assert_eq!(asked.lock().unwrap().len(), 50);
}

#[test]
fn a_services_own_code_is_kept() {
    let pool = "anvil:0x1111111111111111111111111111111111111111";
    for (status, body, code, exit) in [
        (402, "{}", "payment_required", 5),
        (451, r#"{"code":"from_the_future","detail":"x","status":451}"#, "from_the_future", 5),
        (404, r#"{"code":"unknown_pool","detail":"x","status":404}"#, "unknown_pool", 4),
        (500, "<html>", "not_as_specified", 5),
    ] {
        let (address, _) = hostile(move |_| (status, body.to_owned()));
        let (output, _, stderr) = exitgap(&["--json", "ladder", pool], address);
        let problem: Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!(problem["code"], code, "{stderr}");
        assert_eq!(output.status.code(), Some(exit), "{stderr}");
        assert!(problem["hint"].is_string(), "{stderr}");
    }
}
