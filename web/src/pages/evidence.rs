//! The evidence of a result: what was claimed, and whether this browser could confirm it.

use std::sync::Arc;

use exitgap_api::operations::{EvidenceAsked, Operation};
use exitgap_api::{Answers, Direct, PoolName, Provenance};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf, TrustBasis, Verification};
use exitgap_core::evidence::{Check, CheckName, EvidenceStatement, Outcome};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::proof::Rung;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::evidence_break::BreakIt;
use super::evidence_chain::ByChain;
use super::evidence_later::Later;
use super::evidence_witnesses::ByWitnesses;
use super::pool::slippage;
use crate::browser::download;
use crate::check;
use crate::evidence_summary::{self, EvidenceSummary};
use crate::parts::{
    Checks, CollapsibleSection, Conditions, Drawn, FailureNotice, LiveQuery, LoadingNotice,
    PreviewNotice, Verdicts, soon,
};
use crate::paths::{self, Page};
use crate::prerender::Meanwhile;
use crate::service::client;
use crate::text;

/// The content of the page.
#[derive(Debug, Clone)]
struct FetchedEvidence {
    of: EvidenceOf,
    verification: Verification,
    /// Why the window of earlier heads could not be downloaded.
    without_window: Option<String>,
}

/// The page.
#[component]
pub fn EvidencePage() -> impl IntoView {
    let location = use_location();
    let address = Memo::new(move |_| {
        format!("{}?{}", location.pathname.get(), location.search.get().trim_start_matches('?'))
    });
    let found = LiveQuery::new(
        move || address.get(),
        |address| {
            let client = client();
            async move { find(&client, &address).await }
        },
    );
    let retry = found.again();
    view! {
        {move || match found.answer(&address.get()) {
            None => view! {
                <Meanwhile heading="Evidence".to_owned()/>
                <LoadingNotice what="and verifying the evidence"/>
            }.into_any(),
            Some(Err(error)) => view! {
                <h1>"Evidence"</h1>
                <FailureNotice error=error retry=retry/>
            }.into_any(),
            Some(Ok(found)) => view! {
                <h1>"Evidence"</h1>
                <Evidence found=found/>
            }.into_any(),
        }}
    }
}

/// Downloads and verifies the evidence. The file can be verified even without the window of earlier heads.
async fn find(client: &Client<Browser>, address: &str) -> Result<FetchedEvidence, ClientError> {
    let of = meant(client, address).await?;
    let (verification, without_window) = match check::remote(client, &of, true).await {
        Ok(verification) => (verification, None),
        Err(error) => (check::remote(client, &of, false).await?, Some(error.to_string())),
    };
    Ok(FetchedEvidence { of, verification, without_window })
}

/// The evidence that an address refers to, parsed like in the service: by default the newest slot, and the token that
/// the pool sells by default.
async fn meant(client: &Client<Browser>, address: &str) -> Result<EvidenceOf, ClientError> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.replace("%3A", ":").replace("%3a", ":");
    let asked: EvidenceAsked = Operation::Evidence.parse_question(Some(&name), query)?;
    let EvidenceAsked { pool, base, slot, size, .. } = asked;
    let (base, slot) = match (base, slot) {
        (Some(base), Some(slot)) => (base, slot),
        (base, slot) => {
            let recorded = client.fetch_snapshot(&pool, None).await?;
            let by_default = recorded.direction(None)?.into();
            (base.unwrap_or(by_default), slot.unwrap_or_else(|| recorded.snapshot.slot()))
        }
    };
    Ok(EvidenceOf { pool, base, slot, size, method_version: METHOD_VERSION.to_owned() })
}

fn trust_words(verification: &Verification) -> String {
    let keys: Vec<_> =
        verification.log.keys.iter().map(|key| format!("{}+{}", key.name(), key.id())).collect();
    let keys = keys.join(", ");
    let basis = match verification.log.basis {
        TrustBasis::Named => "a key you entered",
        TrustBasis::Kept => "the key this browser has stored since its first visit",
        TrustBasis::FirstUse => {
            "the key this server gave on this first visit, which this browser stores from now on"
        }
    };
    let seen = check::describe_continuity(verification.log.continuity);
    format!("Trusted key: {keys} ({basis}). {seen}")
}

#[component]
fn Evidence(found: FetchedEvidence) -> impl IntoView {
    let FetchedEvidence { of, verification, without_window } = found;
    let told = EvidenceSummary::from_evidence(&verification.evidence);
    let preview = told.preview;
    let trust = trust_words(&verification);
    let checks = verification.report.report.checks.clone();
    let evidence = Arc::clone(&verification.evidence);
    let stated = evidence.statement();
    let published = stated.map_or_else(
        || "not readable".to_owned(),
        |stated| evidence_summary::words(&stated.answer),
    );
    let recomputed = evidence.recompute().map_or_else(
        |why| format!("not recomputed: {why}"),
        |found| evidence_summary::words(&found.computed),
    );
    let snapshot = evidence.snapshot();
    let genesis = snapshot.and_then(|one| one.observation().chain().kind.configured_genesis());
    let venue = snapshot.map(|snapshot| PoolName::from_observation(snapshot.observation()).name());
    if let Some(snapshot) = snapshot {
        let [token0, token1] = snapshot.observation().tokens();
        let (token0, token1) = (&token0.symbol, &token1.symbol);
        let venue = venue.as_deref().unwrap_or_default();
        paths::set_title(&format!("Evidence for {token0} / {token1}, {venue} | exitgap"));
    }
    let context = snapshot.and_then(|snapshot| {
        ask_snapshot(snapshot, &of, |answers| answers.ladder(&[], &[]).context)
    });
    let drawn = (snapshot.cloned(), of.clone());
    let bytes = verification.bytes.len();
    let file = StoredValue::new(verification.bytes.clone());
    let window_note = window_words(&checks, of.slot, without_window);
    let window_note = format!("{window_note}. {}", describe_observation(stated));
    let (later, by_chain) = (of.clone(), of.clone());
    let verified = Arc::new(verification.clone());
    let proven = Arc::clone(&verified);
    let rung = RwSignal::new(Rung::default());
    view! {
        <PreviewNotice shown=preview/>
        <Verdicts report=verification.report.clone() trust=trust told=told/>
        <Later of=later verified=verified/>
        <dl class="facts">
            <div><dt>"Published"</dt><dd id="published">{published}</dd></div>
            <div><dt>"Recomputed here"</dt><dd id="recomputed">{recomputed}</dd></div>
            <div><dt>"Pool"</dt><dd><a href=Page::Pool(of.pool.to_string()).href()>{of.pool.to_string()}</a></dd></div>
            {genesis.map(|hash| view! {
                <div><dt>"Chain"</dt><dd id="genesis">"Unknown chain, treated as live because its operator configured its genesis block, "<code>{hash.to_string()}</code></dd></div>
            })}
            {venue.map(|venue| view! { <div><dt>"Venue and fee"</dt><dd id="venue">{venue}</dd></div> })}
            <div><dt>"Slot"</dt><dd>{text::instant(&of.slot.to_string())}</dd></div>
            <div><dt>"Window"</dt><dd id="window">{window_note}</dd></div>
            {match context {
                Some(context) => view! { <Conditions context=context/> }.into_any(),
                None => view! { <div><dt>"Method"</dt><dd>{of.method_version}</dd></div> }.into_any(),
            }}
        </dl>
        <p class="actions">
            <button type="button" on:click=move |_| download(&file.read_value(), "application/json", "evidence.json")>
                {format!("Download the file ({bytes} bytes)")}
            </button>
            " "<span class="quiet">"Verify with independent software: "
            <code>"exitgap verify evidence.json --trust <key>"</code>"."</span>
        </p>
        <h2>"All checks"</h2>
        <Checks checks=checks/>
        <p id="rung" role="status" data-rung=move || rung.get().code()>{move || rung.get().sentence()}</p>
        <ByChain of=by_chain verified=Arc::clone(&proven) rung/>
        <ByWitnesses verified=proven rung/>
        <BreakIt verification=verification/>
        <CollapsibleSection id="drawn" title="Depth snapshot">
            {soon(move || {
                let (snapshot, of) = &drawn;
                let points = snapshot.as_ref().and_then(|one| ask_snapshot(one, of, slippage));
                view! { <Drawn points=points.unwrap_or_default()/> }.into_any()
            })}
        </CollapsibleSection>
    }
}

/// How long the pool was observed, and its lowest depth, as stated in the file. A refusal states neither.
fn describe_observation(stated: Option<&EvidenceStatement>) -> String {
    let Some(result) = stated.and_then(|stated| stated.answer.result()) else {
        return String::new();
    };
    let lowest = result.lowest_depth_7d_usd.as_deref();
    let lowest = lowest.map_or_else(|| "none".to_owned(), text::usd);
    format!("Days observed: {}. Lowest depth at 2% in seven days: {lowest}.", result.days_observed)
}

fn window_words(checks: &[Check], last: Slot, without: Option<String>) -> String {
    if let Some(why) = without {
        return format!("not checked: it could not be fetched ({why})");
    }
    let window = checks.iter().find(|check| check.name == CheckName::Window);
    match window.map(|check| (check.outcome, check)) {
        Some((Outcome::Pass, check)) => {
            let found = entries(&check.found, last)
                .unwrap_or_else(|| "the entries of up to seven days".to_owned());
            format!("{found}; fetched and chained to this one")
        }
        Some((Outcome::Fail, check)) if check.code == "window_not_trusted" => {
            "not signed by a trusted key".to_owned()
        }
        Some((Outcome::Fail, _)) => "does not lead to this entry".to_owned(),
        Some((_, check)) if check::is_newer(check) => format!("not checked: {}", check.found),
        _ => "not checked".to_owned(),
    }
}

/// The entries up to a slot, one for each slot, if the check gives their number.
fn entries(found: &str, last: Slot) -> Option<String> {
    let (count, _) = found.split_once(" heads")?;
    let first = (u64::from(last.number()) + 1).checked_sub(count.parse().ok()?)?;
    let (first, last) = (Slot::new(first).ok()?.to_string(), last.to_string());
    let (first, last) = (text::instant(&first), text::instant(&last));
    Some(format!("{} entries, {first} to {last}", text::group_digits(count)))
}

/// Answers from the recorded state: the conditions of the number, and the fills of other sizes.
fn ask_snapshot<T>(
    snapshot: &Snapshot,
    of: &EvidenceOf,
    asked: impl FnOnce(&Answers<'_>) -> T,
) -> Option<T> {
    let hash = snapshot.to_canonical().ok()?.hash();
    let provenance = Provenance::Direct(Direct::SnapshotFile(snapshot.slot(), hash));
    Some(asked(&Answers::new(snapshot.observation(), &provenance, of.base.into())))
}
