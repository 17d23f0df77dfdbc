//! Checks whether witnesses that the reader trusts cosigned the log's checkpoint, by the reader's own policy, which
//! stays in this browser.

use std::sync::Arc;

use exitgap_client::{Storage, Verification};
use exitgap_core::proof::{Rung, WitnessesSay};
use js_sys::{Array, Date};
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use crate::browser::LocalStorage;
use crate::module::{EXITGAP, Module, bytes, field, text};
use crate::parts::CollapsibleSection;

/// The storage name of the policy.
const KEPT: &str = "exitgap witness policy";

/// The result of the check.
#[derive(Clone)]
enum State {
    NotAsked,
    Checking,
    Found(WitnessResult),
    Failed(String),
}

/// The check, in the package's format.
#[derive(Clone)]
struct WitnessResult {
    outcome: String,
    code: String,
    expected: String,
    found: String,
    /// The latest time at which the checkpoint first existed, RFC 3339.
    before: Option<String>,
    /// The witnesses that cosigned.
    cosigned: Vec<String>,
}

impl WitnessResult {
    fn from_js(check: &JsValue) -> Self {
        let before = field(check, "recorded_before_s").as_f64();
        let before = before.map(|seconds| Date::new(&(seconds * 1_000.0).into()).to_iso_string());
        let cosigned = Array::from(&field(check, "cosigned"));
        Self {
            outcome: text(check, "outcome"),
            code: text(check, "code"),
            expected: text(check, "expected"),
            found: text(check, "found"),
            before: before.map(String::from),
            cosigned: cosigned.iter().map(|one| text(&one, "witness")).collect(),
        }
    }
}

async fn check_witnesses(evidence: &[u8], policy: &str) -> Result<WitnessResult, String> {
    let checker = Module::load(EXITGAP).await?;
    let now_s = (Date::now() / 1_000.0).floor();
    let asked = [bytes(evidence), bytes(policy.as_bytes()), now_s.into()];
    Ok(WitnessResult::from_js(&checker.call("witnessed", &asked)?))
}

/// The section.
#[component]
pub fn ByWitnesses(
    /// The verified evidence.
    verified: Arc<Verification>,
    /// The verification level shown on the page.
    rung: RwSignal<Rung>,
) -> impl IntoView {
    let policy = RwSignal::new(LocalStorage.get(KEPT).unwrap_or_default());
    let (state, set) = signal_local(State::NotAsked);
    let check = move |_| {
        let (policy, verified) = (policy.get_untracked(), Arc::clone(&verified));
        LocalStorage.put(KEPT, &policy);
        set.set(State::Checking);
        spawn_local(async move {
            let found = check_witnesses(&verified.bytes, &policy).await;
            let is = |outcome: &str| found.as_ref().is_ok_and(|found| found.outcome == outcome);
            let said = match (is("pass"), is("fail")) {
                (true, _) => WitnessesSay::Cosigned,
                (_, true) => WitnessesSay::Forged,
                _ => WitnessesSay::Nothing,
            };
            // The reader may have left the page.
            let _ = rung.try_update(|rung| rung.witnesses = said);
            drop(set.try_set(found.map_or_else(State::Failed, State::Found)));
        });
    };
    view! {
        <CollapsibleSection id="by-witnesses" title="Witnesses of this log">
            <p>
                "A witness signs a log only if it extends the version it last signed, and records the time. You choose which witnesses to trust \
                 and how many of them must have signed. This policy stays in this browser."
            </p>
            <label for="witness-policy">"Your witnesses"</label>
            <textarea id="witness-policy" rows="4" spellcheck="false"
                placeholder="witness one <its key>\nwitness two <its key>\ngroup both all one two\nquorum both"
                prop:value=move || policy.get()
                on:input=move |event| policy.set(event_target_value(&event))></textarea>
            <p class="actions">
                <button type="button" id="ask-witnesses" on:click=check
                    disabled=move || policy.get().trim().is_empty() || matches!(state.get(), State::Checking)>
                    "Check cosignatures"
                </button>
            </p>
            <div aria-live="polite">{move || shown(state.get())}</div>
        </CollapsibleSection>
    }
}

fn shown(state: State) -> AnyView {
    let found = match state {
        State::NotAsked => return ().into_any(),
        State::Checking => {
            return view! { <p class="quiet">"Checking the cosignatures …"</p> }.into_any();
        }
        State::Failed(why) => {
            return view! { <p class="failed" id="witnessed" data-outcome="failed">{why}</p> }
                .into_any();
        }
        State::Found(found) => found,
    };
    let (class, words) = match found.outcome.as_str() {
        "pass" => {
            let who = found.cosigned.join(", ");
            let when = found.before.map_or(String::new(), |before| {
                format!(" This version of the log existed before {before}.")
            });
            ("verdict pass", format!("Cosigned by {who}, which you trust.{when}"))
        }
        "fail" => (
            "verdict fail",
            format!(
                "Forged: a signature in the name of a witness you trust is not from that witness. Expected {}, found {}.",
                found.expected, found.found
            ),
        ),
        _ => (
            "verdict warn",
            format!(
                "Not cosigned as your policy requires: expected {}, found {}.",
                found.expected, found.found
            ),
        ),
    };
    view! {
        <div class=class id="witnessed" data-outcome=found.outcome data-code=found.code><p>{words}</p></div>
    }
    .into_any()
}
