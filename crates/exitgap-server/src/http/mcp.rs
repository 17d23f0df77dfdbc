//! Requests at `/mcp`, taken apart into messages for the tools: a body may hold one message, several or none, and each has its
//! answer as the protocol has it.

use std::num::NonZeroU32;
use std::slice;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use exitgap_mcp::http::messages::{
    BATCH_REVISION, ErrorCode, MAX_BATCH, accepts_answers, check_message, error_message,
    takes_batches,
};
use exitgap_mcp::http::{HttpTools, MAX_BODY_BYTES};
use exitgap_mcp::{Backend, ToolName};
use serde_json::Value;

use super::edge::{FurtherRequests, cost_of};

const JSON: &str = "application/json";

/// The longest answers to the messages of one body together, bytes.
const MAX_ANSWER: usize = 4 << 20;

/// Answers a request.
pub async fn answer<B: Backend>(tools: HttpTools<B>, request: Request) -> Response {
    if *request.method() != Method::POST || !is_json(request.headers()) {
        return tools.handle(request).await.map(Body::new);
    }
    let (mut parts, body) = request.into_parts();
    if accepts_answers(&parts.headers) {
        // The library reads no ranges.
        let both = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, both);
    }
    let calls = Calls { tools, parts };
    let Ok(bytes) = to_bytes(body, MAX_BODY_BYTES).await else {
        return calls.send(" ".repeat(MAX_BODY_BYTES + 1)).await;
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(messages)) => calls.answer_all(messages).await,
        Ok(message) => {
            let error = check_message(&message).err().map(|id| {
                let what = "the body is not a JSON-RPC 2.0 message";
                error_message(&id, ErrorCode::InvalidRequest, what)
            });
            if let Err(refused) = calls.count(slice::from_ref(&message)) {
                return refused;
            }
            calls.answer_one(String::from_utf8_lossy(&bytes).into_owned(), error).await
        }
        Err(error) => {
            let error =
                error_message(&Value::Null, ErrorCode::Parse, &format!("not JSON: {error}"));
            calls.answer_one(String::new(), Some(error)).await
        }
    }
}

/// The tools, asked by one request.
struct Calls<B> {
    tools: HttpTools<B>,
    parts: Parts,
}

impl<B: Backend> Calls<B> {
    /// What the tools answer to a body.
    async fn send(&self, body: String) -> Response {
        let request = Request::from_parts(self.parts.clone(), body);
        self.tools.handle(request).await.map(Body::new)
    }

    /// Answers a body that holds no list of messages. The tools see it all the same: they also judge hosts, pages and media
    /// types, and refuse with another status what they do not get as far as reading.
    async fn answer_one(&self, body: String, error: Option<Value>) -> Response {
        let response = self.send(body).await;
        if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return response;
        }
        let error = error.unwrap_or_else(|| {
            error_message(&Value::Null, ErrorCode::InvalidRequest, "the message cannot be read")
        });
        document(StatusCode::BAD_REQUEST, &error)
    }

    /// Counts what these messages ask beyond one request, or refuses it.
    fn count(&self, messages: &[Value]) -> Result<(), Response> {
        let Some(rate) = self.parts.extensions.get::<FurtherRequests>() else { return Ok(()) };
        let asked: u32 = messages.iter().map(cost_of_message).sum();
        rate.take(asked.saturating_sub(1))
    }

    /// Answers several messages, where their revision has that.
    async fn answer_all(&self, messages: Vec<Value>) -> Response {
        let refusal = if !takes_batches(&self.parts.headers) {
            Some(format!("only revision {BATCH_REVISION} has several messages in one body"))
        } else if messages.is_empty() {
            Some("the body holds no message".to_owned())
        } else if messages.len() > MAX_BATCH {
            Some(format!("a body may hold at most {MAX_BATCH} messages"))
        } else {
            None
        };
        if let Some(refusal) = refusal {
            let error = error_message(&Value::Null, ErrorCode::InvalidRequest, &refusal);
            return self.answer_one(String::new(), Some(error)).await;
        }
        if let Err(refused) = self.count(&messages) {
            return refused;
        }
        let (mut answers, mut left) = (Vec::new(), MAX_ANSWER);
        for message in &messages {
            match self.answer_part(message, &mut left).await {
                Ok(answer) => answers.extend(answer),
                Err(refused) => return refused,
            }
        }
        if answers.is_empty() {
            return StatusCode::ACCEPTED.into_response();
        }
        document(StatusCode::OK, &Value::Array(answers))
    }

    /// The answer to one message of several, if it has one. A request from a host or a page that may not ask is refused as
    /// a whole.
    async fn answer_part(
        &self,
        message: &Value,
        left: &mut usize,
    ) -> Result<Option<Value>, Response> {
        let invalid = |id: &Value, why| error_message(id, ErrorCode::InvalidRequest, why);
        if let Err(id) = check_message(message) {
            return Ok(Some(invalid(&id, "this is not a JSON-RPC 2.0 message")));
        }
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        if message.get("method").is_some_and(|method| method == "initialize") {
            return Ok(Some(invalid(&id, "initialize must be the only message of its body")));
        }
        let response = self.send(message.to_string()).await;
        let status = response.status();
        if [StatusCode::FORBIDDEN, StatusCode::NOT_ACCEPTABLE].contains(&status) {
            return Err(response);
        }
        if status == StatusCode::ACCEPTED {
            return Ok(None);
        }
        let bytes = to_bytes(response.into_body(), *left).await.unwrap_or_default();
        *left = left.saturating_sub(bytes.len());
        let failed = || error_message(&id, ErrorCode::Internal, "the message has no answer");
        Ok(Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| failed())))
    }
}

/// How many requests a message counts as: a call, as many as the address that answers the same.
fn cost_of_message(message: &Value) -> u32 {
    if message["method"] != "tools/call" {
        return 1;
    }
    let call = &message["params"];
    let tool = call["name"].as_str().and_then(ToolName::from_name);
    let cost = tool.zip(call["arguments"].as_object()).and_then(|(tool, arguments)| {
        let (operation, query) = tool.asks_for(arguments)?;
        Some(cost_of(operation, &query))
    });
    cost.map_or(1, NonZeroU32::get)
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(JSON))
}

fn document(status: StatusCode, document: &Value) -> Response {
    (status, [(CONTENT_TYPE, JSON)], document.to_string()).into_response()
}
