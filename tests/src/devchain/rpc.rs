//! JSON-RPC to our own development node: one connection pool, no retries, every answer awaited. (`exitgap-chain` reads
//! other people's nodes.)

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{DevChainError, Result};

/// The node's URL, and connections to it.
#[derive(Debug)]
pub struct Rpc {
    client: reqwest::Client,
    url: String,
}

impl Rpc {
    /// Connects at the first request.
    pub fn new(url: String) -> Self {
        exitgap_chain::provide_tls();
        Self { client: reqwest::Client::new(), url }
    }

    /// One request.
    pub async fn request<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<R> {
        let call = call(0, method, params).map_err(|error| failed(method, error))?;
        let answer = self.post(&call).await.map_err(|error| failed(method, error))?;
        result_of(method, answer)
    }

    /// Several requests at once, with the answers in their order.
    pub async fn batch(&self, calls: &[(&str, Value)]) -> Result<Vec<Value>> {
        const WHAT: &str = "a batch of transactions";
        let body: std::result::Result<Vec<Value>, _> =
            calls.iter().zip(0..).map(|((method, params), id)| call(id, method, params)).collect();
        let body = body.map_err(|error| failed(WHAT, error))?;
        let answer = self.post(&body.into()).await.map_err(|error| failed(WHAT, error))?;
        let Value::Array(mut answers) = answer else {
            return Err(failed(WHAT, format!("no list was answered: {answer}")));
        };
        answers.sort_by_key(|answer| answer["id"].as_u64());
        if answers.len() != calls.len() {
            return Err(failed(WHAT, format!("{} answers", answers.len())));
        }
        calls.iter().zip(answers).map(|((method, _), answer)| result_of(method, answer)).collect()
    }

    async fn post(&self, body: &Value) -> std::result::Result<Value, Box<dyn std::error::Error>> {
        let request = self.client.post(&self.url).header("content-type", "application/json");
        let answer = request.body(serde_json::to_vec(body)?).send().await?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }
}

fn call(id: u64, method: &str, params: impl Serialize) -> serde_json::Result<Value> {
    let params = match serde_json::to_value(params)? {
        // A node expects an empty list if there are no parameters.
        Value::Null => json!([]),
        params => params,
    };
    Ok(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// The `result` of an answer, or the node's error message.
fn result_of<R: DeserializeOwned>(method: &str, mut answer: Value) -> Result<R> {
    if let Some(error) = answer.get("error") {
        let message = error["message"].as_str().unwrap_or_default();
        return Err(failed(method, format!("error code {}: {message}", error["code"])));
    }
    serde_json::from_value(answer["result"].take()).map_err(|error| failed(method, error))
}

fn failed(what: &str, error: impl Into<Box<dyn std::error::Error>>) -> DevChainError {
    DevChainError::Rpc { what: what.to_owned(), message: error.into().to_string() }
}
