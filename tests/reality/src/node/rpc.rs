//! One node, asked by JSON-RPC.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// How often a request is sent that gets no answer.
const ATTEMPTS: u64 = 4;

/// The pause before it is sent again, each time as much longer.
const PAUSE: Duration = Duration::from_millis(400);

/// A node.
#[derive(Debug)]
pub struct Node {
    client: reqwest::Client,
    url: String,
    asked: AtomicU64,
}

/// Why there is no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// None came.
    #[error("{method}: {reason}")]
    NoAnswer {
        /// What was asked.
        method: &'static str,
        /// What happened instead.
        reason: String,
    },
    /// The node refuses.
    #[error("{method}: the node answered {message:?}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// Its words.
        message: String,
    },
    /// What it answered contradicts itself.
    #[error("the node contradicts itself: {0}")]
    Contradiction(String),
}

impl Node {
    /// The node at this address. Sends nothing yet.
    pub fn new(url: &str) -> Result<Self, NodeError> {
        // An error says that it was chosen before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(TIMEOUT).no_proxy().build();
        let client = client.map_err(|error| no_answer("connecting", error.to_string()))?;
        Ok(Self { client, url: url.to_owned(), asked: AtomicU64::new(0) })
    }

    /// How many requests were sent.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The answer to a request.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, NodeError> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut answer = self.send(method, &request).await;
        for attempt in 1..ATTEMPTS {
            if !matches!(answer, Err(NodeError::NoAnswer { .. })) {
                break;
            }
            tokio::time::sleep(PAUSE * u32::try_from(attempt).unwrap_or(1)).await;
            answer = self.send(method, &request).await;
        }
        let result = answer?;
        serde_json::from_value(result).map_err(|error| NodeError::Refused {
            method,
            message: format!("what is unreadable: {error}"),
        })
    }

    async fn send(&self, method: &'static str, request: &Value) -> Result<Value, NodeError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let sent = self.client.post(&self.url).header("content-type", "application/json");
        // The address may hold a key.
        let failed = |error: reqwest::Error| no_answer(method, error.without_url().to_string());
        let response = sent.body(request.to_string()).send().await.map_err(failed)?;
        let status = response.status();
        let body = response.bytes().await.map_err(failed)?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|_| no_answer(method, format!("HTTP {status} without a JSON document")))?;
        let error = &answer["error"];
        match (error.is_null(), answer.get("result")) {
            (true, Some(result)) => Ok(result.clone()),
            // One that has too much to do says so by its status.
            _ if status.as_u16() == 429 || status.is_server_error() => {
                Err(no_answer(method, format!("HTTP {status}")))
            }
            _ => {
                let message = error["message"].as_str().unwrap_or("neither a result nor an error");
                Err(NodeError::Refused { method, message: message.to_owned() })
            }
        }
    }
}

fn no_answer(method: &'static str, reason: String) -> NodeError {
    NodeError::NoAnswer { method, reason }
}
