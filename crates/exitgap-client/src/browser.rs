//! Requests with the browser's `fetch`.

use core::time::Duration;

use exitgap_api::operations::Method;
use gloo_net::http;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader};

use crate::transport::{Request, Response, Transport, TransportError};

/// The page's own `fetch`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Browser;

/// The longest time that a browser's timer supports, in milliseconds: with a longer time it fires immediately.
const LONGEST_MS: u32 = u32::MAX / 2;

fn timer(time: Duration) -> TimeoutFuture {
    TimeoutFuture::new(u32::try_from(time.as_millis()).map_or(LONGEST_MS, |ms| ms.min(LONGEST_MS)))
}

/// Abandons the request when it is dropped, whether finished or not.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn unreachable(error: &JsValue) -> TransportError {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
    TransportError::Unreachable(message.unwrap_or_else(|| "the connection failed".to_owned()))
}

impl Transport for Browser {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let abort = Abort(AbortController::new().map_err(|error| unreachable(&error))?);
        let answer = core::pin::pin!(fetch(request, &abort));
        let timeout = core::pin::pin!(timer(request.timeout));
        first(answer, timeout).await.unwrap_or(Err(TransportError::TimedOut(request.timeout)))
    }

    async fn pause(&self, time: Duration) {
        timer(time).await;
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any bits do")]
    fn random(&self) -> u32 {
        (js_sys::Math::random() * f64::from(u32::MAX)) as u32
    }
}

/// The result of the future, unless the timeout ends first.
async fn first<T>(
    mut answer: core::pin::Pin<&mut impl Future<Output = T>>,
    mut timeout: core::pin::Pin<&mut TimeoutFuture>,
) -> Option<T> {
    core::future::poll_fn(|context| {
        if let core::task::Poll::Ready(answer) = answer.as_mut().poll(context) {
            return core::task::Poll::Ready(Some(answer));
        }
        timeout.as_mut().poll(context).map(|()| None)
    })
    .await
}

async fn fetch(request: &Request, abort: &Abort) -> Result<Response, TransportError> {
    let cache =
        if request.fresh { web_sys::RequestCache::NoCache } else { web_sys::RequestCache::Default };
    let asked = match request.method {
        Method::Get => http::Request::get(&request.url),
        Method::Post => http::Request::post(&request.url),
        Method::Delete => http::Request::delete(&request.url),
    };
    let asked = asked.header("accept", request.accept);
    let asked =
        request.headers.iter().fold(asked, |asked, (name, value)| asked.header(name, value));
    let asked = asked
        .cache(cache)
        .redirect(web_sys::RequestRedirect::Error)
        .abort_signal(Some(&abort.0.signal()));
    let asked = match request.body.as_slice() {
        [] => asked.build(),
        body => asked.body(String::from_utf8_lossy(body).into_owned()),
    };
    let unreachable = |error: gloo_net::Error| TransportError::Unreachable(error.to_string());
    let answer = asked.map_err(unreachable)?.send().await.map_err(unreachable)?;
    let headers = Response::HEADERS
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), answer.headers().get(name)?)))
        .collect();
    let mut body = Vec::new();
    if let Some(stream) = answer.body() {
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        while let Some(chunk) = next(&reader).await? {
            let length = usize::try_from(chunk.length()).unwrap_or(usize::MAX);
            // Check before copying the bytes: WebAssembly memory, once allocated, is never returned.
            if length > request.max_bytes.saturating_sub(body.len()) {
                return Err(TransportError::TooLarge { max_bytes: request.max_bytes });
            }
            body.extend_from_slice(&chunk.to_vec());
        }
    }
    Ok(Response { status: answer.status(), headers, body })
}

/// The next bytes of a body; `None` at its end.
async fn next(reader: &ReadableStreamDefaultReader) -> Result<Option<Uint8Array>, TransportError> {
    let step = JsFuture::from(reader.read()).await.map_err(|error| unreachable(&error))?;
    let field = |name: &str| Reflect::get(&step, &name.into()).map_err(|error| unreachable(&error));
    if field("done")?.is_truthy() {
        return Ok(None);
    }
    Ok(Some(field("value")?.unchecked_into()))
}
