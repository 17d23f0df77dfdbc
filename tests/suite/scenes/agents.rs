//! Requests of agents and their answers: raw messages, and real clients over both transports.

use std::net::SocketAddr;
use std::path::Path;

use exitgap_tests::binaries;
use rmcp::model::{CallToolRequestParams, ClientConfig, JsonObject, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::scenes::service::{Answer, post};

/// The revision without sessions and handshake.
pub const NEWEST: &str = "2026-07-28";

/// The last revision with a handshake.
pub const OLDER: &str = "2025-11-25";

/// A message of the older revisions.
pub fn older(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A message of the newest revision, each of which contains what the older ones send once.
pub fn newest(method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    older(method, &params)
}

/// The headers of a message of the older revisions.
pub fn older_headers() -> Vec<(&'static str, String)> {
    vec![
        ("Host", "127.0.0.1".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("Content-Type", "application/json".to_owned()),
        ("MCP-Protocol-Version", OLDER.to_owned()),
    ]
}

/// The headers of a message of the newest revision, which repeat parts of the message.
pub fn newest_headers(message: &Value) -> Vec<(&'static str, String)> {
    let mut headers = older_headers();
    headers.pop();
    headers.push(("MCP-Protocol-Version", NEWEST.to_owned()));
    headers.push(("Mcp-Method", message["method"].as_str().unwrap().to_owned()));
    if let Some(name) = message["params"]["name"].as_str() {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    headers
}

/// Sends a message to the service's tools.
pub fn send(address: SocketAddr, headers: &[(&'static str, String)], message: &Value) -> Answer {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    post(address, "/mcp", &headers, message.to_string().as_bytes())
}

/// The result of a message that has one.
pub fn result(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
    let message = answer.found();
    assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)), "{message}");
    message["result"].clone()
}

/// Calls a tool as an older client does.
pub fn call_older(address: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let message = older("tools/call", &json!({"name": tool, "arguments": arguments}));
    result(&send(address, &older_headers(), &message))
}

/// Calls a tool as a newest client does.
pub fn call_newest(address: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let message = newest("tools/call", &json!({"name": tool, "arguments": arguments}));
    let result = result(&send(address, &newest_headers(&message), &message));
    assert_eq!(result["resultType"], "complete", "{result}");
    result
}

/// The document in the result of a call, which must be the same as structured content and as text.
pub fn document(result: &Value) -> Value {
    assert_eq!(result["isError"], false, "{result}");
    let document = &result["structuredContent"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *document);
    for (member, name) in [("evidence_url", "evidence"), ("snapshot_url", "snapshot")] {
        let links = result["content"].as_array().unwrap();
        let link = links.iter().find(|link| link["name"] == name);
        assert_eq!(link.map(|link| &link["uri"]), document.get(member), "{result}");
        assert!(link.is_none_or(|link| link["type"] == "resource_link"));
    }
    document.clone()
}

/// The problem in the result of a rejected call, which contains only text.
pub fn problem(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result.get("structuredContent"), None, "{result}");
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap()
}

/// A client of the tools.
pub struct Agent(RunningService<RoleClient, ClientConfig>);

impl Agent {
    /// Connects over HTTP, with the handshake of the older revisions or as the newest does.
    pub async fn over_http(address: SocketAddr, version: &str) -> Self {
        // Its HTTP client has no cryptography of its own.
        exitgap_chain::provide_tls();
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        Self(match version {
            NEWEST => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
                ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap()
            }
            _ => ClientConfig::default().serve(transport).await.unwrap(),
        })
    }

    /// Connects over standard input and output to `exitgap mcp` with these arguments, in a folder.
    pub async fn over_stdio(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = tokio::process::Command::new(binaries::path("exitgap"));
        command.arg("mcp").args(arguments).current_dir(folder);
        Self::of_command(command).await
    }

    /// Connects over standard input and output to a program.
    pub async fn of_command(command: tokio::process::Command) -> Self {
        let transport = TokioChildProcess::new(command).unwrap();
        Self(ClientConfig::default().serve(transport).await.unwrap())
    }

    /// The names of the tools.
    pub async fn tools(&self) -> Vec<String> {
        let tools = self.0.list_all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &'static str, arguments: &Value) -> Value {
        let arguments: JsonObject = serde_json::from_value(arguments.clone()).unwrap();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        serde_json::to_value(self.0.call_tool(call).await.unwrap()).unwrap()
    }

    /// Ends the client.
    pub async fn end(self) {
        self.0.cancel().await.unwrap();
    }
}
