//! Verifies a file that was dropped, chosen or pasted. The file is never sent; only tiles of its log are downloaded if
//! they are needed to prove that the log continues what this browser has stored.

use exitgap_api::{VerificationReport, check_name};
use exitgap_core::analytics::figure::MAX_FIGURE_BYTES;
use exitgap_core::evidence::Evidence;
use exitgap_core::tlog::VerifierKey;
use leptos::ev::DragEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::verify_report::{FoundReport, report_found};
use crate::browser::kept_keys;
use crate::check;
use crate::evidence_summary::EvidenceSummary;
use crate::parts::{Checks, LiveQuery, LoadingNotice, PreviewNotice, Verdicts};
use crate::service::client;

/// A file that was read, or why it could not be.
type Given = Result<Vec<u8>, String>;

/// A file with the keys to check it, once both are available.
type CheckInput = Option<(Vec<u8>, Vec<VerifierKey>)>;

/// The result for the input.
#[derive(Debug, Clone)]
enum CheckResult {
    One(Box<FoundFile>),
    Report(FoundReport),
}

/// The result for a file.
#[derive(Debug, Clone)]
struct FoundFile {
    report: VerificationReport,
    keys: Vec<VerifierKey>,
    /// The result of comparing its log with what this browser has stored.
    compared: String,
    /// The summary of its claims.
    told: EvidenceSummary,
}

/// The page.
#[component]
pub fn VerifyPage() -> impl IntoView {
    let (given, set_given) = signal(None::<Given>);
    let (keys, set_keys) = signal(kept_keys());
    let parsed = Memo::new(move |_| parse_keys(&keys.read()));
    let found = LiveQuery::new(
        move || Some((given.get()?.ok()?, parsed.get().ok()?)),
        |asked: CheckInput| {
            let client = client();
            async move {
                let (bytes, keys) = asked?;
                if let Some(report) = FoundReport::from_bytes(&bytes, &keys) {
                    return Some(CheckResult::Report(report));
                }
                let evidence = Evidence::from_bytes(&bytes);
                let told = EvidenceSummary::from_evidence(&evidence);
                let (report, compared) = check::file(&client, &evidence, keys.clone()).await;
                Some(CheckResult::One(Box::new(FoundFile { report, keys, compared, told })))
            }
        },
    );
    let found = move || match (given.get(), parsed.get()) {
        (None, _) => view! { <p class="empty">"No file yet."</p> }.into_any(),
        (Some(Err(why)), _) => view! { <p class="failed" role="alert">{why}</p> }.into_any(),
        (Some(Ok(_)), Err(_)) => {
            view! { <p class="empty">"File loaded. Fix the key above to run the checks."</p> }
                .into_any()
        }
        (Some(Ok(bytes)), Ok(keys)) => match found.answer(&Some((bytes, keys))) {
            Some(Some(CheckResult::One(found))) => view! { <Report found=*found/> }.into_any(),
            Some(Some(CheckResult::Report(found))) => report_found(&found).into_any(),
            _ => view! { <LoadingNotice what="the stored log version and checking the file"/> }
                .into_any(),
        },
    };
    view! {
        <h1>"Verify a file"</h1>
        <p class="lead">"Files never leave your browser. Once loaded, this page works offline, except for the check against the log version \
            this browser saw before."</p>
        <FileInput set_given=set_given/>
        <label for="keys">"Trusted keys, one per line (the keys stored in this browser are filled in)"</label>
        <textarea id="keys" rows="2" spellcheck="false" prop:value=move || keys.get()
            on:input=move |event| set_keys.set(event_target_value(&event))></textarea>
        {move || parsed.get().err().map(|why| view! { <p class="refused" role="alert">{why}</p> })}
        {found}
        <p class="quiet">
            {format!("This page runs {} checks: ", exitgap_core::evidence::CheckName::ALL.len())}
            {exitgap_core::evidence::CheckName::ALL.map(check_name).join(", ").replace('_', " ")}"."
        </p>
    }
}

/// Accepts a file: dropped, chosen or pasted.
#[component]
fn FileInput(set_given: WriteSignal<Option<Given>>) -> impl IntoView {
    let read_file = move |file: web_sys::File| {
        if file.size() > MAX_BYTES_F64 {
            set_given.set(Some(Err(format!(
                "{} is larger than {MAX_FIGURE_BYTES} bytes, the limit for a report.",
                file.name()
            ))));
            return;
        }
        spawn_local(async move {
            let bytes = JsFuture::from(file.array_buffer()).await;
            let bytes = bytes.map(|buffer| js_sys::Uint8Array::new(&buffer).to_vec());
            let given = bytes.map_err(|_| "The file could not be read.".to_owned());
            // The reader may have left the page meanwhile.
            drop(set_given.try_set(Some(given)));
        });
    };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            read_file(file);
        }
    };
    let chosen = move |event: leptos::ev::Event| {
        let input =
            event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        if let Some(file) = input.and_then(|input| input.files()).and_then(|files| files.get(0)) {
            read_file(file);
        }
    };
    let pasted = move |event: leptos::ev::Event| {
        let text = event_target_value(&event);
        // Pasted text often ends with a line break that is not part of the file.
        let text = text.trim();
        let given = (!text.is_empty()).then(|| {
            let fits = text.len() <= MAX_FIGURE_BYTES;
            if fits {
                Ok(text.as_bytes().to_vec())
            } else {
                Err("The text is too long for a report.".to_owned())
            }
        });
        set_given.set(given);
    };
    view! {
        <div class="drop" on:dragover=|event: DragEvent| event.prevent_default() on:drop=dropped>
            <p><label>"Evidence or report file " <input type="file" accept=".json,.jsonl,application/json" on:change=chosen/></label>
            " or drop it here."</p>
            <label for="pasted">"Or paste the text"</label>
            <textarea id="pasted" rows="4" spellcheck="false" on:input=pasted></textarea>
        </div>
    }
}

/// [`MAX_FIGURE_BYTES`] in the type of browser file sizes.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
const MAX_BYTES_F64: f64 = MAX_FIGURE_BYTES as f64;

#[component]
fn Report(found: FoundFile) -> impl IntoView {
    let FoundFile { report, keys, compared, told } = found;
    let names: Vec<_> = keys.iter().map(|key| format!("{}+{}", key.name(), key.id())).collect();
    let trust = if names.is_empty() {
        "No trusted key entered, so the signature was not checked.".to_owned()
    } else {
        format!("Trusted key: {}.", names.join(", "))
    };
    let preview = told.preview;
    let stated = report.claim.is_some();
    let checks = report.report.checks.clone();
    view! {
        <PreviewNotice shown=preview/>
        <Verdicts report=report trust=format!("{trust} {compared}") told=told/>
        {stated.then(|| view! {
            <p class="quiet" id="later">
                "A file cannot show whether its slot was retracted later. The evidence page of the server that recorded it \
                 checks this."
            </p>
        })}
        <Checks checks=checks/>
    }
}

fn parse_keys(text: &str) -> Result<Vec<VerifierKey>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            line.trim()
                .parse()
                .map_err(|error: exitgap_core::tlog::NoteError| format!("Key {number}: {error}"))
        })
        .collect()
}
