//! Recomputes a figure over many snapshots in this browser.

use exitgap_client::{Browser, Client, ClientError};
use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use crate::browser::kept_keys;
use crate::module::{EXITGAP, Module, bytes, field, method, text};
use crate::service::client;

/// The state of a check.
#[derive(Clone)]
enum State {
    NotAsked,
    At(usize, usize),
    Found(FigureFindings, bool),
    Failed(String),
}

/// The result of checking a figure.
#[derive(Clone)]
struct FigureFindings {
    verdict: String,
    checks: Vec<Check>,
}

#[derive(Clone)]
struct Check {
    passed: bool,
    code: String,
    expected: String,
    found: String,
}

impl FigureFindings {
    /// The result from a report, in the package's format.
    fn from_js(report: &JsValue) -> Self {
        let checks = Array::from(&field(report, "checks")).into_iter().map(|check| Check {
            passed: text(&check, "outcome") == "pass",
            code: text(&check, "code"),
            expected: text(&check, "expected"),
            found: text(&check, "found"),
        });
        Self { verdict: text(report, "verdict"), checks: checks.collect() }
    }
}

/// A button, and the result.
#[component]
pub fn CheckedFigure<F, R>(
    /// The element's id: `check-` and the name of the figure.
    #[prop(into)]
    at: String,
    /// Downloads its file.
    fetch: F,
) -> impl IntoView
where
    F: Fn() -> R + Clone + 'static,
    R: Future<Output = Result<Vec<u8>, ClientError>> + 'static,
{
    let (state, set) = signal_local(State::NotAsked);
    let service = client();
    let check = move |_| {
        set.set(State::At(0, 0));
        let (file, service) = (fetch(), service.clone());
        spawn_local(async move {
            let found = check_figure(&service, file, move |seen, all| {
                drop(set.try_set(State::At(seen, all)));
            })
            .await;
            // The reader may have left the page meanwhile.
            drop(set.try_set(match found {
                Ok((report, kept)) => State::Found(report, kept),
                Err(error) => State::Failed(error),
            }));
        });
    };
    let said = move || match state.get() {
        State::NotAsked => view! { <p class="quiet">"Not checked here."</p> }.into_any(),
        State::At(_, 0) => view! { <p role="status">"Fetching the figure's file …"</p> }.into_any(),
        State::At(seen, all) => view! {
            <p role="status"><progress max=all.to_string() value=seen.to_string()></progress>
                {format!(" {seen} of {all}")}</p>
        }
        .into_any(),
        State::Failed(why) => view! { <p class="failed" role="alert">{why}</p> }.into_any(),
        State::Found(report, kept) => shown(&report, kept),
    };
    view! {
        <div class="checked-figure" id=at>
            <button type="button" on:click=check>"Recompute in this browser"</button>
            <div aria-live="polite">{said}</div>
        </div>
    }
}

/// Checks a figure; also returns whether with keys that this browser had stored before.
async fn check_figure(
    client: &Client<Browser>,
    file: impl Future<Output = Result<Vec<u8>, ClientError>>,
    mut told: impl FnMut(usize, usize),
) -> Result<(FigureFindings, bool), String> {
    let words = |error: ClientError| error.to_string();
    let file = file.await.map_err(words)?;
    if !is_figure_file(&file) {
        return Err("The service did not send a figure file.".to_owned());
    }
    let kept = kept_keys();
    let own = !kept.is_empty();
    let named = if own { kept } else { client.verifier_key().await.map_err(words)? };
    let keys = named.lines().map(str::trim).filter(|key| !key.is_empty());
    let keys: Array = keys.map(JsValue::from_str).collect();
    let checker = Module::load(EXITGAP).await?;
    let checked = method(&checker.class("CheckedFigure"), "read", &[bytes(&file), keys.into()])?;
    while let Some((pool, slot, is_fills)) = parse_page_request(&method(&checked, "wanted", &[])?)?
    {
        let page = if is_fills {
            client.fills(&pool, slot).await
        } else {
            client.series(&pool, slot).await
        };
        let page = page.map_err(words)?;
        method(&checked, "take", &[bytes(&page)])?;
        let progress = method(&checked, "progress", &[])?;
        told(count(&field(&progress, "0")), count(&field(&progress, "1")));
    }
    Ok((FigureFindings::from_js(&method(&checked, "report", &[])?), own))
}

/// The pool and slot of the next required input, and whether it is a logs document; `None` if there are no more.
fn parse_page_request(wanted: &JsValue) -> Result<Option<(PoolId, Slot, bool)>, String> {
    if wanted.is_undefined() {
        return Ok(None);
    }
    let slot = count(&field(wanted, "slot"));
    let slot =
        Slot::new(u64::try_from(slot).unwrap_or(u64::MAX)).map_err(|error| error.to_string())?;
    let pool = text(wanted, "pool").parse::<PoolId>().map_err(|error| error.to_string())?;
    Ok(Some((pool, slot, !field(wanted, "fills").is_undefined())))
}

/// An integer of 32 bits.
fn count(number: &JsValue) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was made of a whole number of 32 bits"
    )]
    let count = number.as_f64().unwrap_or_default() as u32;
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn shown(found: &FigureFindings, kept: bool) -> AnyView {
    let whose = if kept {
        "by the key stored in this browser"
    } else {
        "by the key that the service gave today (this browser had stored none yet)"
    };
    if found.verdict == "valid" {
        let of_snapshots =
            |check: &&Check| check.code == "ok" && check.found.ends_with("snapshots");
        let snapshots = found.checks.iter().find(of_snapshots);
        let many =
            snapshots.map_or(String::new(), |check| format!(" from {}, each hashed", check.found));
        return view! {
            <p class="confirmed">{format!("Confirmed by this browser: the figure was recomputed{many}. No entry of the log signed {whose} was left out.")}</p>
        }
        .into_any();
    }
    let rows: Vec<_> = found
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| view! { <li>{format!("{}: expected {}, found {}", check.code, check.expected, check.found)}</li> })
        .collect();
    let words = if found.verdict == "invalid" {
        "Not confirmed: the figure does not follow from its data."
    } else {
        "Not everything could be checked."
    };
    view! { <div class="refused" role="alert"><p>{words}</p><ul>{rows}</ul></div> }.into_any()
}
