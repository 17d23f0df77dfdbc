//! The evidence of one result: what was claimed, and whether this browser could confirm it.

use exitgap_api::{Answers, Direct, Provenance, SlotState, SlotStatus};
use exitgap_client::{ClientError, EvidenceOf, TrustBasis, Verification};
use exitgap_core::snapshot::Snapshot;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::evidence_break::BreakIt;
use super::pool::{base_name, parse_pool, slippage};
use crate::app::client;
use crate::check;
use crate::parts::{Checks, Drawn, Failed, Loading, PreviewNotice, Verdicts};
use crate::paths::Page;
use crate::text;

/// What the page shows.
#[derive(Debug, Clone)]
struct Found {
    of: EvidenceOf,
    verification: Verification,
    /// What became of the slot since; absent where the service does not say.
    status: Option<SlotStatus>,
}

/// The page.
#[component]
pub fn EvidencePage() -> impl IntoView {
    let location = use_location();
    let address = Memo::new(move |_| {
        format!("{}?{}", location.pathname.get(), location.search.get().trim_start_matches('?'))
    });
    let found = LocalResource::new(move || {
        let (address, client) = (address.get(), client());
        async move {
            let of = match EvidenceOf::from_url(&address) {
                Some(of) => of,
                None => newest(&client, &address).await?,
            };
            let verification = check::remote(&client, &of, true).await?;
            let status = client.slot_status(&of.pool, of.slot).await.ok();
            Ok::<_, ClientError>(Found { of, verification, status })
        }
    });
    view! {
        <h1>"Evidence"</h1>
        {move || match found.get() {
            None => view! { <Loading what="and verifying the evidence"/> }.into_any(),
            Some(Err(error)) => view! { <Failed error=error/> }.into_any(),
            Some(Ok(found)) => view! { <Evidence found=found/> }.into_any(),
        }}
    }
}

/// The evidence that an address without a slot means: that of the pool's newest.
async fn newest(
    client: &exitgap_client::Client<exitgap_client::Browser>,
    address: &str,
) -> Result<EvidenceOf, ClientError> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let name = path.rsplit('/').next().unwrap_or_default().replace("%3A", ":");
    let pool = parse_pool(&name)?;
    let params = web_sys::UrlSearchParams::new_with_str(query).ok();
    let one = |name: &str| params.as_ref().and_then(|params| params.get(name));
    let size = exitgap_api::parse_size(&one("size_usd").unwrap_or_default())?;
    let recorded = client.recorded(&pool, None).await?;
    let direction = recorded.direction(one("base").as_deref())?;
    let method_version = exitgap_core::exit::METHOD_VERSION.to_owned();
    let slot = recorded.snapshot.slot();
    Ok(EvidenceOf { pool, base: direction.into(), slot, size, method_version })
}

fn trust_words(verification: &Verification) -> String {
    let keys: Vec<_> =
        verification.log.keys.iter().map(|key| format!("{}+{}", key.name(), key.id())).collect();
    let keys = keys.join(", ");
    let basis = match verification.log.basis {
        TrustBasis::Named => "a key you named",
        TrustBasis::Kept => "the key this browser has kept since its first visit",
        TrustBasis::FirstUse => {
            "the key this server named just now, on first use; this browser keeps it from here on"
        }
    };
    let seen = match (&verification.log.seen, &verification.log.contradiction) {
        (_, Some(_)) => "It contradicts the state this browser saw before.",
        (Some(_), None) => "It continues the state this browser saw before.",
        (None, None) => "This browser had seen no state of this log before; it keeps this one.",
    };
    format!("Trusts {keys}: {basis}. {seen}")
}

#[component]
fn Evidence(found: Found) -> impl IntoView {
    let Found { of, verification, status } = found;
    let claim = verification.report.claim.clone();
    let preview = claim.as_ref().is_some_and(|claim| claim.status == "preview");
    let trust = trust_words(&verification);
    let checks = verification.report.report.checks.clone();
    let published = claim.as_ref().map(|claim| claim.exit_gap_pct.clone()).unwrap_or_default();
    let snapshot = snapshot_of(&verification.evidence);
    let recomputed = snapshot.as_ref().map_or_else(
        || "cannot be: the snapshot is unreadable".to_owned(),
        |snapshot| recompute(snapshot, &of),
    );
    let sold = snapshot.as_ref().and_then(|snapshot| sold_of(snapshot, of.base));
    let points = snapshot.map(|snapshot| drawn(&snapshot, &of)).unwrap_or_default();
    let bytes = verification.evidence.len();
    let file = StoredValue::new(verification.evidence.clone());
    let window_note = window_words(&checks);
    view! {
        <PreviewNotice shown=preview/>
        <Verdicts report=verification.report.clone() trust=trust sold=sold/>
        <Later status=status/>
        <dl class="facts">
            <div><dt>"Published"</dt><dd id="published">{text::percent(&published)}</dd></div>
            <div><dt>"Recomputed here"</dt><dd id="recomputed">{recomputed}</dd></div>
            <div><dt>"Pool"</dt><dd><a href=Page::Pool(of.pool.to_string()).href()>{of.pool.to_string()}</a></dd></div>
            <div><dt>"Slot"</dt><dd>{text::instant(&of.slot.to_string())}</dd></div>
            <div><dt>"Method"</dt><dd>{exitgap_core::exit::METHOD_VERSION}</dd></div>
            <div><dt>"Window"</dt><dd>{window_note}</dd></div>
        </dl>
        <p class="actions">
            <button type="button" on:click=move |_| download(&file.read_value(), "application/json", "evidence.json")>
                {format!("Download the file ({bytes} bytes)")}
            </button>
            " "<span class="quiet">"Check it offline: "<code>"exitgap verify evidence.json --trust <key>"</code>
            ", or on "<a href="/verify">"Verify"</a>"."</span>
        </p>
        <h2>"Every check"</h2>
        <Checks checks=checks/>
        <BreakIt verification=verification/>
        <h2>"The depth snapshot"</h2>
        <Drawn points=points/>
    }
}

/// What became of the slot since it was sealed.
#[component]
fn Later(status: Option<SlotStatus>) -> impl IntoView {
    let retraction = status.filter(|status| status.state == SlotState::Retracted)?.retraction?;
    Some(view! {
        <section class="failed" role="alert">
            <p><strong>"This slot was retracted later."</strong></p>
            <p>{format!(
                "Its block {} was orphaned and gave way to {}. What is proved below was recorded, and no later figure counts it.",
                retraction.orphaned_block_hash, retraction.canonical_block_hash
            )}</p>
        </section>
    })
}

fn window_words(checks: &[exitgap_core::evidence::Check]) -> String {
    use exitgap_core::evidence::{CheckName, Outcome};
    let window = checks.iter().find(|check| check.name == CheckName::Window);
    match window.map(|check| check.outcome) {
        Some(Outcome::Pass) => {
            "the entries of up to seven days, fetched, chained up to this one".to_owned()
        }
        Some(Outcome::Fail) => "does not lead to this entry".to_owned(),
        _ => "not checked".to_owned(),
    }
}

/// The symbol of the token sold.
fn sold_of(snapshot: &Snapshot, base: exitgap_core::evidence::Base) -> Option<String> {
    let index = usize::from(base == exitgap_core::evidence::Base::Token1);
    Some(snapshot.observation().tokens().get(index)?.symbol.as_str().to_owned())
}

/// The snapshot that an evidence file carries.
fn snapshot_of(evidence: &[u8]) -> Option<Snapshot> {
    let file: serde_json::Value = serde_json::from_slice(evidence).ok()?;
    let bytes = serde_json::to_vec(file.get("snapshot")?).ok()?;
    Snapshot::from_canonical(&bytes).ok()
}

fn direction_of(snapshot: &Snapshot, of: &EvidenceOf) -> Option<exitgap_core::pools::Direction> {
    let index = usize::from(of.base == exitgap_core::evidence::Base::Token1);
    snapshot.observation().direction_of(base_name(index)).ok()
}

fn provenance(snapshot: &Snapshot) -> Provenance {
    let hash = snapshot.to_canonical().map(|bytes| Snapshot::hash_of(&bytes));
    hash.map_or(Provenance::Direct(Direct::LatestBlock), |hash| {
        Provenance::Direct(Direct::SnapshotFile(snapshot.slot(), hash))
    })
}

fn recompute(snapshot: &Snapshot, of: &EvidenceOf) -> String {
    let Some(direction) = direction_of(snapshot, of) else { return "unknown base".to_owned() };
    let provenance = provenance(snapshot);
    match Answers::new(snapshot.observation(), &provenance, direction).estimate(of.size) {
        Ok(result) => text::percent(result.figures.exit_gap_pct.as_str()),
        Err(problem) => problem.detail,
    }
}

fn drawn(snapshot: &Snapshot, of: &EvidenceOf) -> Vec<(String, String)> {
    let Some(direction) = direction_of(snapshot, of) else { return Vec::new() };
    let provenance = provenance(snapshot);
    slippage(&Answers::new(snapshot.observation(), &provenance, direction))
}

/// Hands bytes to the reader as a file.
pub fn download(bytes: &[u8], media_type: &str, name: &str) {
    use wasm_bindgen::JsCast;
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(media_type);
    let Ok(blob) = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &options) else {
        return;
    };
    let Ok(url) = web_sys::Url::create_object_url_with_blob(&blob) else { return };
    let anchor = document()
        .create_element("a")
        .ok()
        .and_then(|a| a.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    let _ = web_sys::Url::revoke_object_url(&url);
}
