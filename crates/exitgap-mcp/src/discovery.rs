//! Documents through which agents and registries find a server before they connect to it.
//!
//! [`server_json`] has the registry's format (schema of 2025-12-11). The card and the catalog belong to an experimental
//! extension: they contain nothing beyond `server/discover`, and clients should not rely on them.

use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

/// The path of the tools, below a service's base URL.
pub const MCP_PATH: &str = "/mcp";

/// The path of the registry's description, for operators who publish it there.
pub const SERVER_PATH: &str = "/mcp/server.json";

/// The path of the card.
pub const CARD_PATH: &str = "/mcp/server-card";

/// The two paths of the catalog.
pub const CATALOG_PATHS: [&str; 2] =
    ["/.well-known/ai-catalog.json", "/.well-known/mcp/catalog.json"];

/// The media type of a card.
pub const CARD_TYPE: &str = "application/mcp-server-card+json";

const SERVER_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const CARD_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json";

const TITLE: &str = "exitgap";
const DESCRIPTION: &str =
    "How far below the oracle price an on-chain exit of a given size really fills, with evidence.";

/// The registry's description of the service at `base`, a URL without a slash at its end.
pub fn server_json(base: &str) -> Value {
    json!({
        "$schema": SERVER_SCHEMA,
        "name": name(base),
        "title": TITLE,
        "description": DESCRIPTION,
        "version": env!("CARGO_PKG_VERSION"),
        "remotes": [{"type": "streamable-http", "url": format!("{base}{MCP_PATH}")}],
    })
}

/// The card of the server at `base`.
pub fn server_card(base: &str) -> Value {
    let versions: Vec<&str> =
        ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    json!({
        "$schema": CARD_SCHEMA,
        "name": name(base),
        "title": TITLE,
        "description": DESCRIPTION,
        "version": env!("CARGO_PKG_VERSION"),
        "websiteUrl": base,
        "remotes": [{
            "type": "streamable-http",
            "url": format!("{base}{MCP_PATH}"),
            "supportedProtocolVersions": versions,
        }],
    })
}

/// The catalog of the host of `base`, with this one server.
pub fn catalog(base: &str) -> Value {
    json!({
        "specVersion": "draft",
        "entries": [{
            "identifier": format!("urn:air:{}:{TITLE}", host(base)),
            "displayName": TITLE,
            "type": CARD_TYPE,
            "url": format!("{base}{CARD_PATH}"),
        }],
    })
}

/// The name of the server at `base`: its host's labels in reverse order, as registries require.
fn name(base: &str) -> String {
    let labels: Vec<&str> = host(base).split('.').rev().collect();
    format!("{}/{TITLE}", labels.join("."))
}

/// The host of a URL, without its port.
fn host(base: &str) -> &str {
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    match authority.strip_prefix('[') {
        // An IPv6 address contains colons.
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_host_the_other_way_round() {
        assert_eq!(name("https://api.example.org:8443/x"), "org.example.api/exitgap");
        assert_eq!(name("http://[::1]:8080"), "::1/exitgap");
    }

    #[test]
    fn the_documents_agree() {
        let base = "https://api.example.org";
        let (json, card, catalog) = (server_json(base), server_card(base), catalog(base));
        for member in ["name", "title", "description", "version"] {
            assert_eq!(json[member], card[member], "{member}");
        }
        assert_eq!(json["remotes"][0]["url"], "https://api.example.org/mcp");
        assert_eq!(card["remotes"][0]["url"], json["remotes"][0]["url"]);
        assert_eq!(catalog["entries"][0]["url"], "https://api.example.org/mcp/server-card");
        assert_eq!(catalog["entries"][0]["identifier"], "urn:air:api.example.org:exitgap");
        // The registry's length limit.
        assert!(DESCRIPTION.len() <= 100);
    }
}
