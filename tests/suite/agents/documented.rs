//! The page "For agents": the test copies every configuration on it and uses it.

use std::path::Path;
use std::process::Command;

use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::agents::{Agent, OLDER, document};
use crate::scenes::service::{Service, recorded};

const PAGE: &str = include_str!("../../../crates/exitgap-server/docs/agents.md");

/// Returns the code blocks of a language, with the address of the running service filled in.
fn blocks(language: &str, service: &Service) -> Vec<String> {
    let (begins, base) = (format!("```{language}\n"), format!("http://{}", service.address));
    let blocks = PAGE.split(&begins).skip(1);
    blocks
        .map(|rest| rest.split("\n```").next().unwrap().replace("https://exitgap.example", &base))
        .collect()
}

/// Starts the program that a configuration names.
async fn started(folder: &Path, words: &[String]) -> Agent {
    assert_eq!(words[0], "exitgap");
    let mut command = tokio::process::Command::new(binaries::path("exitgap"));
    command.args(&words[1..]).current_dir(folder);
    Agent::of_command(command).await
}

/// Requires that a configured server answers.
async fn require_answer(agent: Agent, pool: &str) {
    assert_eq!(agent.tools().await.len(), 8);
    let estimate = agent.call("estimate_exit", &json!({"pool": pool, "size_usd": 1000})).await;
    assert!(document(&estimate)["exit_gap_pct"].is_number());
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_says_to_copy_works() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (folder, pool) = (recorded.folder.path(), recorded.pool(0));
    let words = |value: &Value| -> Vec<String> {
        let args = value["args"].as_array().unwrap();
        std::iter::once(&value["command"])
            .chain(args)
            .map(|word| word.as_str().unwrap().to_owned())
            .collect()
    };
    let mut tried = 0;
    for block in blocks("json", &service) {
        let configuration: Value = serde_json::from_str(&block).unwrap();
        let servers = configuration.get("mcpServers").or(configuration.get("servers")).unwrap();
        let server = &servers["exitgap"];
        let agent = match server["url"].as_str() {
            Some(url) => {
                assert_eq!(url, format!("http://{}/mcp", service.address));
                Agent::over_http(service.address, OLDER).await
            }
            None => started(folder, &words(server)).await,
        };
        require_answer(agent, &pool).await;
        tried += 1;
    }
    assert_eq!(tried, 5);
    let shell = blocks("sh", &service).join("\n");
    let mut tried = Vec::new();
    for line in shell.lines() {
        if let Some((_, program)) = line.split_once(" -- ") {
            let words: Vec<String> = program.split(' ').map(str::to_owned).collect();
            require_answer(started(folder, &words).await, &pool).await;
            tried.push("program");
        } else if line.starts_with("curl ") {
            let output = Command::new("sh").args(["-c", line]).output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(!document(&answer["result"])["pools"].as_array().unwrap().is_empty());
            tried.push("curl");
        } else {
            let url = line.split(' ').next_back().unwrap();
            assert_eq!(url, format!("http://{}/mcp", service.address));
            tried.push("address");
        }
    }
    assert_eq!(tried, ["address", "program", "curl"]);
    // The table on the page equals the list of tools, and each address is that of the tool's operation.
    for tool in exitgap_mcp::ToolName::ALL {
        assert!(PAGE.contains(&format!("| `{}` |", tool.name())), "{}", tool.name());
    }
    assert_eq!(service.end(), Some(0));
}
