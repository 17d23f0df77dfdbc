//! Stored rules: the caller is read from the request's headers, the parameters from its path and body.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use exitgap_api::operations::{Given, Keep, Method, Operation, Question};
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::alerts::MAX_RULE_BYTES;
use serde::Serialize;
use serde_json::{Map, Value};

use super::SharedApp;
use super::address::Address;
use super::edge::Client;
use super::reply::{HttpRefusal, Reply};
use crate::alerts::{AlertService, Caller, OwnerToken};

/// Handles an operation on stored rules.
pub fn answer<Q, D, F>(
    operation: Operation,
    answer: impl Fn(AlertService, Caller, Q) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<SharedApp>
where
    Q: Question + Send + 'static,
    D: Serialize + Send + 'static,
    F: Future<Output = Result<D, Problem>> + Send + 'static,
{
    let status = match operation {
        Operation::KeepAlert => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    let handle = move |State(app): State<SharedApp>, address: Address, request: Request| {
        let answer = answer.clone();
        async move {
            let desk = app.desk.clone().ok_or_else(not_kept)?;
            let (parts, body) = request.into_parts();
            let caller = caller(&parts)?;
            let asked = match operation.row().method {
                Method::Get | Method::Delete => address.parse_question(operation)?,
                Method::Post => {
                    let members = members(body).await?;
                    Q::from_parameters(&Given::body(
                        operation.row().parameters,
                        address.path(),
                        &members,
                    )?)?
                }
            };
            let answered = answer(desk, caller, asked).await?;
            let reply = Reply::json(&answered, Keep::Never)?;
            Ok::<Response, HttpRefusal>((status, reply).into_response())
        }
    };
    match operation.row().method {
        Method::Get => get(handle),
        Method::Post => post(handle),
        Method::Delete => delete(handle),
    }
}

/// The error for a service that stores no rules.
pub fn not_kept() -> Problem {
    let preview = Operation::AlertsOf.template();
    Problem::new(ProblemCode::NotAvailable, "this deployment keeps no rules for others").hint(format!(
        "evaluate a rule where it is asked: {preview}, or `exitgap alert replay` over the published log"
    ))
}

fn caller(parts: &Parts) -> Result<Caller, Problem> {
    Ok(Caller {
        client: parts.extensions.get::<Client>().and_then(|Client(client)| *client),
        token: token(&parts.headers)?,
        idempotency: idempotency(&parts.headers)?,
    })
}

fn token(headers: &HeaderMap) -> Result<Option<OwnerToken>, Problem> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let shown = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
    let token = shown.and_then(|text| OwnerToken::parse(text.trim()));
    token.map(Some).ok_or_else(|| {
        Problem::new(ProblemCode::TokenRequired, "Authorization: it shows no token of an owner")
            .hint("send Authorization: Bearer exa_…, with the token shown when the first alert was created")
    })
}

fn idempotency(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let name = "Idempotency-Key";
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > 64 || !is_plain {
        return Err(Problem::new(
            ProblemCode::InvalidParameter,
            "Idempotency-Key: it is not a name of 1 to 64 printable characters",
        )
        .field(name)
        .hint("a name that no other request has, such as a UUID"));
    }
    Ok(Some(text.to_owned()))
}

/// The members of a body, which must be a JSON object; none if there is no body.
async fn members(body: Body) -> Result<Map<String, Value>, Problem> {
    let too_long = |_| {
        Problem::new(ProblemCode::BodyNotAccepted, "the body is too long, or ended early")
            .hint(format!("a rule has at most {MAX_RULE_BYTES} bytes"))
    };
    let bytes = to_bytes(body, MAX_RULE_BYTES).await.map_err(too_long)?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        Problem::new(
            ProblemCode::InvalidParameter,
            format!("the body is not a JSON object: {error}"),
        )
        .field("body")
        .hint("an object of parameters, such as {\"pool\": …, \"kind\": \"gap_above\"}")
    })
}
