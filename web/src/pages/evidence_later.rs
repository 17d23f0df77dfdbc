//! What happened to a slot after it was sealed. This is a separate request, because the evidence's validity does not
//! depend on it.

use std::sync::Arc;

use exitgap_api::{RetractionNotice, SlotState, SlotStatus};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf, Since, Verification};
use exitgap_core::evidence::{Check, MAX_RETRACTION_SLOTS, Outcome};
use leptos::prelude::*;

use crate::check::{NEWER, is_newer};
use crate::parts::LiveQuery;
use crate::service::client;
use crate::text;

/// What is known about the slots after the evidence's slot.
#[derive(Debug, Clone)]
enum Known {
    /// The server's statement, and the later entries as far as there are any.
    Since(Since),
    /// Only the server's statement, and why there are no entries to check it with.
    Claimed(SlotStatus, ClientError),
}

/// Requests what came after the slot. The server's statement is shown even if the later entries are not available.
async fn ask(
    client: &Client<Browser>,
    of: &EvidenceOf,
    verified: &Verification,
) -> Result<Known, ClientError> {
    match client.since(of, verified).await {
        Ok(since) => Ok(Known::Since(since)),
        Err(error) => {
            let status = client.slot_status(&of.pool, of.slot).await?;
            Ok(Known::Claimed(status, error))
        }
    }
}

/// The section.
#[component]
pub fn Later(
    /// The evidence.
    of: EvidenceOf,
    /// The verified evidence.
    verified: Arc<Verification>,
) -> impl IntoView {
    let known = LiveQuery::new(
        || (),
        move |()| {
            let (of, verified, client) = (of.clone(), Arc::clone(&verified), client());
            async move { ask(&client, &of, &verified).await }
        },
    );
    let retry = known.again();
    move || match known.answer(&())? {
        Err(error) => {
            let again = move |_| retry.run(());
            Some(
                view! {
                    <section class="refused" role="status" id="later">
                        <p><strong>"Could not check whether this slot was retracted later."</strong></p>
                        <p>{error.to_string()}</p>
                        <button type="button" on:click=again>"Try again"</button>
                    </section>
                }
                .into_any(),
            )
        }
        Ok(Known::Claimed(status, error)) => Some(match taken_back(&status, None, false) {
            Some(view) => view,
            None => quiet(format!(
                "Not retracted, according to this server. Its later entries could not be fetched: {error}."
            )),
        }),
        Ok(Known::Since(since)) => {
            let Since { status, heads, proven } = since;
            Some(
                taken_back(&status, heads.as_ref(), proven)
                    .unwrap_or_else(|| stands(heads.as_ref(), proven)),
            )
        }
    }
}

/// The notice that the slot was retracted, according to the server or to a later entry.
fn taken_back(status: &SlotStatus, heads: Option<&Check>, proven: bool) -> Option<AnyView> {
    let by_head = heads.filter(|check| check.code == "slot_retracted");
    let said = status.state == SlotState::Retracted;
    if !said && by_head.is_none() {
        return None;
    }
    let whose = match by_head {
        Some(_) if proven => "according to a later entry of the signed log",
        Some(_) => "according to a later entry that this server reports",
        None => "according to this server",
    };
    let why = match (&status.retraction, by_head) {
        (Some(notice), _) if said => because(notice),
        (_, Some(check)) => format!("It was {}.", check.found),
        _ => "No reason was given.".to_owned(),
    };
    let words =
        format!("{why} The state proven below was recorded, but no later figure counts it.");
    Some(
        view! {
            <section class="failed" role="alert" id="later">
                <p><strong>{format!("This slot was retracted later, {whose}.")}</strong></p>
                <p>{words}</p>
            </section>
        }
        .into_any(),
    )
}

/// The cause of a retraction, as a sentence.
fn because(notice: &RetractionNotice) -> String {
    match (notice.code.as_str(), &notice.orphaned_block_hash, &notice.canonical_block_hash) {
        ("orphaned", Some(orphaned), Some(canonical)) => {
            format!("Its block {orphaned} was orphaned and replaced by {canonical}.")
        }
        ("orphaned", ..) => "Its block was orphaned.".to_owned(),
        ("misread", ..) => {
            "It was misread: a later full reading of the pool proved that the ticks recorded here \
                            differ from the contract's."
                .to_owned()
        }
        (other, ..) => format!("The cause {other:?} was {NEWER}."),
    }
}

/// The notice that no later entry retracts the slot, and who says so.
fn stands(heads: Option<&Check>, proven: bool) -> AnyView {
    let Some(check) = heads else {
        return quiet(
            "Not retracted, according to this server: its log shows no later slot.".to_owned(),
        );
    };
    match check.outcome {
        Outcome::Pass if proven => quiet(format!(
            "Not retracted: none of {} withdraws it (proven by the signed log).",
            describe_entries(&check.found)
        )),
        Outcome::Pass => quiet(format!(
            "Not retracted, according to this server: none of {} that it reports withdraws it.",
            describe_entries(&check.found)
        )),
        _ if is_newer(check) => quiet(format!(
            "Not retracted, according to this server. Not confirmed here: {}.",
            check.found
        )),
        _ => {
            let words =
                format!("Expected {}, found {} ({}).", check.expected, check.found, check.code);
            view! {
                <section class="failed" role="alert" id="later">
                    <p><strong>"The later entries that this server shows are not consistent."</strong></p>
                    <p>"It is not known whether the slot was retracted later. "{words}</p>
                </section>
            }
            .into_any()
        }
    }
}

/// The number of later entries, from the check.
fn describe_entries(found: &str) -> String {
    let count = found.split_once(", then ").and_then(|(_, rest)| rest.split_once(" heads"));
    let Some((count, _)) = count else { return "the later entries".to_owned() };
    let reach = if count.parse() == Ok(MAX_RETRACTION_SLOTS) {
        ", as many as a retraction can reach back,"
    } else {
        ""
    };
    format!("the {} later entries{reach}", text::group_digits(count))
}

fn quiet(words: String) -> AnyView {
    view! { <p class="quiet" id="later">{words}</p> }.into_any()
}
