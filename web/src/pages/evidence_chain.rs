//! What the chain's own state says of the evidence: the proof that the recorder made before it signed, checked here, and the
//! reader's own wallet asked whether the chain has that block.

use std::sync::Arc;

use exitgap_api::{ProblemCode, StateReport};
use exitgap_client::{ClientError, EvidenceOf, Verification};
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::{BlockHash, Caip2};
use exitgap_core::proof::{StateCheck, StateCheckName};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::download::download;
use crate::parts::Asking;
use crate::service::client;
use crate::wallet::{self, WalletError};

/// What came of asking the wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    Not,
    Waiting,
    Said(Option<BlockHash>),
    Failed(WalletError),
}

/// The section.
#[component]
pub fn ByChain(
    /// The evidence.
    of: EvidenceOf,
    /// As it was verified.
    verified: Arc<Verification>,
) -> impl IntoView {
    let wanted = RwSignal::new(false);
    view! {
        <section id="by-chain">
            <h2>"What the chain itself says"</h2>
            {move || {
                if wanted.get() {
                    let (of, verified) = (of.clone(), Arc::clone(&verified));
                    return view! { <Fetched of verified/> }.into_any();
                }
                view! {
                    <p>"All of the above follows from what the operator signed. Whether the chain really held this state, a proof says that \
                       leads down from the block's hash."</p>
                    <p class="actions">
                        <button type="button" id="ask-chain" on:click=move |_| wanted.set(true)>"Check the state proof"</button>
                    </p>
                }
                .into_any()
            }}
        </section>
    }
}

/// The proof, fetched once it is wanted: it is many times as large as the evidence.
#[component]
fn Fetched(of: EvidenceOf, verified: Arc<Verification>) -> impl IntoView {
    let (pool, slot) = (of.pool, of.slot);
    let proof = Asking::new(
        || (),
        move |()| {
            let (pool, client) = (pool.clone(), client());
            async move { client.state_proof(&pool, slot).await.map(Arc::new) }
        },
    );
    let retry = proof.again();
    move || match proof.answer(&()) {
        None => {
            view! { <p class="quiet" role="status">"Fetching the state proof …"</p> }.into_any()
        }
        Some(Err(error)) => absent(&error, retry),
        Some(Ok(proof)) => view! { <Proven verified=Arc::clone(&verified) proof/> }.into_any(),
    }
}

/// Without a proof the number is what it was, and a node of the reader's makes one.
fn absent(error: &ClientError, retry: Callback<()>) -> AnyView {
    let not_kept = matches!(error, ClientError::Refused(problem) if problem.code == ProblemCode::NotFound.as_str());
    let node = view! { <code>"exitgap verify evidence.json --rpc <your node>"</code> };
    if not_kept {
        return view! {
            <p id="no-proof">"No proof is kept here that the chain held this state: this part is the operator's word. A node that still has the \
               block's state makes one: "{node}"."</p>
        }
        .into_any();
    }
    view! {
        <p role="status">"The state proof could not be fetched: "{error.to_string()}</p>
        <button type="button" on:click=move |_| retry.run(())>"Ask again"</button>
    }
    .into_any()
}

/// The checks, and the wallet.
#[component]
fn Proven(verified: Arc<Verification>, proof: Arc<Vec<u8>>) -> impl IntoView {
    let asked = RwSignal::new(Asked::Not);
    let block = verified.evidence.snapshot().map(|snapshot| {
        let observation = snapshot.observation();
        (observation.chain().caip2, observation.block().number)
    });
    let ask = move |_| {
        let Some((chain, number)) = block else { return };
        asked.set(Asked::Waiting);
        spawn_local(async move {
            let said = wallet::block_hash(chain, number).await;
            // The reader may have left the page.
            let _ = asked.try_set(said.map_or_else(Asked::Failed, Asked::Said));
        });
    };
    let bytes = Arc::clone(&proof);
    let report = move || {
        let said: Vec<(String, Option<BlockHash>)> = match asked.get() {
            Asked::Said(hash) => vec![("your wallet".to_owned(), hash)],
            Asked::Not | Asked::Waiting | Asked::Failed(_) => Vec::new(),
        };
        StateReport::of(&verified.evidence, &proof, &said)
    };
    view! {
        {move || match report() {
            Err(problem) => view! { <p role="status">{problem.detail}</p> }.into_any(),
            Ok(report) => shown(report),
        }}
        <p class="actions">
            <button type="button" id="ask-wallet" on:click=ask disabled=move || asked.get() == Asked::Waiting>
                "Ask your wallet for the block"
            </button>
            " "
            <button type="button" on:click=move |_| download(&bytes, "application/octet-stream", "state.egp")>
                "Download the proof"
            </button>
        </p>
        <p class="quiet" id="wallet" role="status">{move || wallet_words(&asked.get(), block)}</p>
    }
}

fn wallet_words(asked: &Asked, block: Option<(Caip2, u64)>) -> String {
    let chain = block.map_or(0, |(chain, _)| chain.0);
    match asked {
        Asked::Not => {
            "It is asked for the block of that number and nothing else: no account, no signature, and nothing is sent to this server."
                .to_owned()
        }
        Asked::Waiting => "Asking your wallet …".to_owned(),
        Asked::Said(_) => String::new(),
        Asked::Failed(WalletError::None) => {
            "There is no wallet in this browser (EIP-1193). Any node does as well: exitgap verify evidence.json --rpc <your node>."
                .to_owned()
        }
        Asked::Failed(WalletError::OtherChain(found)) => format!(
            "Your wallet is on chain {found}; this pool's is {chain:#x}. Switch it there, and ask again."
        ),
        Asked::Failed(WalletError::Refused(why)) => {
            format!("Your wallet did not answer: {why}. Allow the request, and ask again.")
        }
    }
}

/// The rung that was reached, in a sentence, and each check.
fn shown(report: StateReport) -> AnyView {
    let StateReport { checks, unproven } = report;
    let outcome = |name| checks.iter().find(|check| check.name == name).map(|check| check.outcome);
    let fails = checks.iter().any(|check| check.outcome == Outcome::Fail);
    let proven = [StateCheckName::Header, StateCheckName::PoolState]
        .map(outcome)
        .iter()
        .all(|outcome| *outcome == Some(Outcome::Pass));
    let (class, words) = match (fails, proven, outcome(StateCheckName::Canonical)) {
        (true, _, Some(Outcome::Fail)) => (
            "verdict fail",
            "Your wallet has another block there: the chain does not have the one that this rests on.",
        ),
        (true, ..) => (
            "verdict fail",
            "Not so: under this very block the chain's own state is another than was signed. Keep the proof and the file.",
        ),
        (_, true, Some(Outcome::Pass)) => (
            "verdict pass",
            "Confirmed by the chain: your wallet has this block, and its state is what was recorded. No key of this log counts in that.",
        ),
        (_, true, _) => (
            "verdict warn",
            "Proven down from the block's hash: a block with this hash held this state. That the chain has it, somebody of your choice must say.",
        ),
        _ => (
            "verdict warn",
            "Not proven: nothing contradicts it, but this proof does not cover it.",
        ),
    };
    let rows: Vec<_> = checks.into_iter().map(row).collect();
    let unproven = (!unproven.is_empty()).then(|| unproven.join("; "));
    view! {
        <div class=class role="status" id="chain-verdict"><p><strong>{words}</strong></p></div>
        <ol class="checks">{rows}</ol>
        {unproven.map(|unproven| view! { <p class="quiet" id="unproven">"Still somebody's word: "{unproven}"."</p> })}
    }
    .into_any()
}

fn row(check: StateCheck) -> impl IntoView {
    let (class, mark, word) = match check.outcome {
        Outcome::Pass => ("pass", "✓", "passed"),
        Outcome::Fail => ("fail", "✗", "FAILED"),
        Outcome::NotChecked => ("warn", "–", "not checked"),
    };
    let (name, title, means) = match check.name {
        StateCheckName::Header => (
            "header",
            "block",
            "The header's bytes hash to the block that the snapshot names, and the next block came after the slot.",
        ),
        StateCheckName::PoolState => (
            "pool_state",
            "pool",
            "Every word that this number reads of the pool's contract leads down from the block's state root.",
        ),
        StateCheckName::OracleState => (
            "oracle_state",
            "oracle",
            "The readings are the newest rounds of their feeds, in the same state.",
        ),
        StateCheckName::Canonical => {
            ("canonical", "canonical", "Whoever you asked has this block at this height.")
        }
    };
    let found = match check.outcome {
        Outcome::Pass => view! { <p class="found">{check.found}</p> }.into_any(),
        Outcome::Fail => view! {
            <p class="found">"expected "<code>{check.expected}</code></p>
            <p class="found">"found "<code>{check.found}</code>" ("{check.code}")"</p>
        }
        .into_any(),
        Outcome::NotChecked => {
            view! { <p class="found">{check.found}" ("{check.code}")"</p> }.into_any()
        }
    };
    let open = check.outcome == Outcome::Fail;
    view! {
        <li class=class data-check=name data-outcome=class>
            <details open=open>
                <summary>
                    <span class="mark" aria-hidden="true">{mark}</span>
                    <b>{title}</b>" "
                    <span class="quiet">{word}</span>
                </summary>
                {found}
                <p>{means}</p>
            </details>
        </li>
    }
}
