//! The check of the evidence against the chain's own state: the proof that the recorder made before it signed is
//! checked here, and the reader's own wallet can be asked whether the chain has that block.

use std::sync::Arc;

use exitgap_api::{ProblemCode, state_claim};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf, Verification};
use exitgap_core::evidence::Evidence;
use exitgap_core::ids::{BlockHash, Caip2};
use exitgap_core::proof::{ChainSays, ClaimedState, Rung};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::download;
use crate::module::{Module, PROOF, bytes};
use crate::parts::LiveQuery;
use crate::service::client;
use crate::wallet::{self, WalletError};

/// The result of asking the wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WalletState {
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
    /// The verified evidence.
    verified: Arc<Verification>,
    /// The verification level shown on the page.
    rung: RwSignal<Rung>,
) -> impl IntoView {
    let wanted = RwSignal::new(false);
    view! {
        <section id="by-chain">
            <h2>"Check against the chain"</h2>
            {move || {
                if wanted.get() {
                    let (of, evidence) = (of.clone(), Arc::clone(&verified.evidence));
                    return view! { <ProofLoader of evidence rung/> }.into_any();
                }
                view! {
                    <p>"Everything above follows from what the operator signed. A state proof, which starts at the block's hash, shows whether \
                       the chain really had this state."</p>
                    <p class="actions">
                        <button type="button" id="ask-chain" on:click=move |_| wanted.set(true)>"Check the state proof"</button>
                    </p>
                }
                .into_any()
            }}
        </section>
    }
}

/// The module that checks a proof, the proof, and the evidence's claim.
#[derive(Clone)]
struct ProofInputs {
    judge: Module,
    claim: Arc<Vec<u8>>,
    proof: Arc<Vec<u8>>,
}

/// Why there is nothing to check.
#[derive(Clone)]
enum Absent {
    /// The storage layout of this kind of pool is not known.
    NoLayout(&'static str),
    /// The service did not give a proof.
    Refused(ClientError),
    /// The evidence has no snapshot, or the module could not be loaded.
    Failed(String),
}

async fn fetch_proof(
    client: &Client<Browser>,
    of: &EvidenceOf,
    evidence: &Evidence,
) -> Result<ProofInputs, Absent> {
    let claim = state_claim(evidence).map_err(|problem| Absent::Failed(problem.detail))?;
    if let (ClaimedState::Other, Some(snapshot)) = (&claim.state, evidence.snapshot()) {
        return Err(Absent::NoLayout(snapshot.observation().state().protocol()));
    }
    let proof = client.state_proof(&of.pool, of.slot).await.map_err(Absent::Refused)?;
    let judge = Module::load(PROOF).await.map_err(Absent::Failed)?;
    Ok(ProofInputs { judge, claim: Arc::new(claim.to_bytes()), proof: Arc::new(proof) })
}

/// Loads the proof and the module that checks it on demand: the proof is many times as large as the evidence, and few
/// readers want it.
#[component]
fn ProofLoader(of: EvidenceOf, evidence: Arc<Evidence>, rung: RwSignal<Rung>) -> impl IntoView {
    let block = evidence.snapshot().map(|snapshot| {
        let observation = snapshot.observation();
        (observation.chain().caip2, observation.block().number)
    });
    let proof = LiveQuery::new(
        || (),
        move |()| {
            let (client, of, evidence) = (client(), of.clone(), Arc::clone(&evidence));
            async move { fetch_proof(&client, &of, &evidence).await }
        },
    );
    let retry = proof.again();
    move || match proof.answer(&()) {
        None => {
            view! { <p class="quiet" role="status">"Fetching the state proof …"</p> }.into_any()
        }
        Some(Err(absent)) => render_absent(absent, retry),
        Some(Ok(judged)) => view! { <Proven block judged rung/> }.into_any(),
    }
}

/// Without a proof the number is unchanged, and the reader's own node can create one.
fn render_absent(absent: Absent, retry: Callback<()>) -> AnyView {
    let node = || view! { <code>"exitgap verify evidence.json --rpc <your node>"</code> };
    let why = match absent {
        Absent::NoLayout(protocol) => {
            return view! {
                <p id="no-proof" data-code="unsupported_layout">
                    "No state proof is possible: this version does not know the storage layout of contracts of the kind "<code>{protocol}</code>". \
                     You have to trust the operator that the chain had this state."
                </p>
            }
            .into_any();
        }
        Absent::Refused(ClientError::Refused(problem))
            if problem.code == ProblemCode::NotFound.as_str() =>
        {
            return view! {
                <p id="no-proof">"This service has no state proof for this slot. You have to trust the operator that the chain had this state, or create \
                   a proof with a node that still has the block's state: "{node()}"."</p>
            }
            .into_any();
        }
        Absent::Refused(error) => error.to_string(),
        Absent::Failed(why) => why,
    };
    view! {
        <p role="status">"The state proof could not be checked: "{why}</p>
        <button type="button" on:click=move |_| retry.run(())>"Try again"</button>
    }
    .into_any()
}

/// Renders the checks, and the wallet.
#[component]
fn Proven(block: Option<(Caip2, u64)>, judged: ProofInputs, rung: RwSignal<Rung>) -> impl IntoView {
    let asked = RwSignal::new(WalletState::Not);
    let ask = move |_| {
        let Some((chain, number)) = block else { return };
        asked.set(WalletState::Waiting);
        spawn_local(async move {
            let said = wallet::block_hash(chain, number).await;
            // The reader may have left the page.
            let _ = asked.try_set(said.map_or_else(WalletState::Failed, WalletState::Said));
        });
    };
    let bytes = Arc::clone(&judged.proof);
    let judged = StoredValue::new_local(judged);
    let report = move || {
        let line = match asked.get() {
            WalletState::Said(Some(hash)) => format!("{hash} {WALLET}"),
            WalletState::Said(None) => format!("- {WALLET}"),
            WalletState::Not | WalletState::Waiting | WalletState::Failed(_) => String::new(),
        };
        judged.with_value(|judged| Report::from_proof(judged, &line))
    };
    view! {
        {move || match report() {
            Err(why) => view! { <p role="status">{why}</p> }.into_any(),
            Ok(report) => {
                rung.update(|rung| rung.chain = report.says);
                shown(report)
            }
        }}
        <p class="actions">
            <button type="button" id="ask-wallet" on:click=ask disabled=move || asked.get() == WalletState::Waiting>
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

/// The name of the wallet among the sources for the block.
const WALLET: &str = "your wallet";

/// The result of the check.
struct Report {
    checks: Vec<ProofCheck>,
    unproven: Vec<String>,
    says: ChainSays,
}

/// A check, in the checking module's output format.
struct ProofCheck {
    name: String,
    outcome: String,
    code: String,
    expected: String,
    found: String,
}

impl Report {
    /// Runs the module; `asked` has one line for each source asked about the block.
    fn from_proof(judged: &ProofInputs, asked: &str) -> Result<Self, String> {
        let ProofInputs { judge, claim, proof } = judged;
        let all = 0.into();
        let said =
            judge.call("check", &[bytes(claim), bytes(proof), asked.into(), all, "".into()])?;
        Self::parse(&said.as_string().unwrap_or_default()).ok_or_else(|| {
            "the proof checker returned a result that this page cannot read".to_owned()
        })
    }

    /// Parses six lines per check, then what still rests on trust, the chain's result, and the line for this page.
    fn parse(said: &str) -> Option<Self> {
        let lines: Vec<&str> = said.split('\n').collect();
        let (of_checks, last) = lines.split_at_checked(lines.len().checked_sub(4)?)?;
        let checks = of_checks.chunks_exact(6).map(|lines| {
            let [name, outcome, code, expected, found] =
                [0, 1, 2, 3, 4].map(|at| lines[at].to_owned());
            ProofCheck { name, outcome, code, expected, found }
        });
        let unproven = last[0].split('\t').filter(|what| !what.is_empty()).map(str::to_owned);
        let (checks, unproven) = (checks.collect(), unproven.collect());
        Some(Self { checks, unproven, says: ChainSays::of_code(last[1])? })
    }
}

fn wallet_words(asked: &WalletState, block: Option<(Caip2, u64)>) -> String {
    let chain = block.map_or(0, |(chain, _)| chain.0);
    match asked {
        WalletState::Not => {
            "Your wallet is asked only for the block with this number. It shares no account and signs nothing, and nothing is sent to this server."
                .to_owned()
        }
        WalletState::Waiting => "Asking your wallet …".to_owned(),
        WalletState::Said(_) => String::new(),
        WalletState::Failed(WalletError::None) => {
            "No wallet was found in this browser (EIP-1193). You can use any node instead: exitgap verify evidence.json --rpc <your node>."
                .to_owned()
        }
        WalletState::Failed(WalletError::OtherChain(found)) => format!(
            "Your wallet is on chain {found}, but this pool is on {chain:#x}. Switch the wallet to that chain and try again."
        ),
        WalletState::Failed(WalletError::Refused(why)) => {
            format!("Your wallet did not answer: {why}. Allow the request and try again.")
        }
    }
}

/// Renders the chain's result, and each check.
fn shown(report: Report) -> AnyView {
    let class = match report.says {
        ChainSays::OtherState | ChainSays::OtherBlock => "verdict fail",
        ChainSays::Confirmed => "verdict pass",
        ChainSays::Nothing | ChainSays::Uncovered | ChainSays::Proven => "verdict warn",
    };
    let Report { checks, unproven, says } = report;
    let rows: Vec<_> = checks.into_iter().map(row).collect();
    let unproven = (!unproven.is_empty()).then(|| unproven.join("; "));
    view! {
        <div class=class role="status" id="chain-verdict"><p><strong>{says.words()}"."</strong></p></div>
        <ol class="checks">{rows}</ol>
        {unproven.map(|unproven| view! { <p class="quiet" id="unproven">"Still taken on trust: "{unproven}"."</p> })}
    }
    .into_any()
}

const PASS: &str = "pass";
const FAIL: &str = "fail";

fn row(check: ProofCheck) -> impl IntoView {
    let (class, mark, word) = match check.outcome.as_str() {
        PASS => ("pass", "✓", "passed"),
        FAIL => ("fail", "✗", "FAILED"),
        _ => ("warn", "–", "not checked"),
    };
    let (title, means) = match check.name.as_str() {
        "header" => (
            "block",
            "The header's bytes hash to the block named in the snapshot, and the next block came after the slot.",
        ),
        "pool_state" => (
            "pool",
            "Every storage word of the pool's contract that this number reads is proven from the block's state root.",
        ),
        "oracle_state" => {
            ("oracle", "The oracle prices are the newest rounds of their feeds in the same state.")
        }
        "code" => ("code", "The pool's contract runs the code that is published for its kind."),
        _ => ("canonical", "The sources you asked have this block at this height."),
    };
    let found = match class {
        "pass" => view! { <p class="found">{check.found}</p> }.into_any(),
        "fail" => view! {
            <p class="found">"expected "<code>{check.expected}</code></p>
            <p class="found">"found "<code>{check.found}</code>" ("{check.code}")"</p>
        }
        .into_any(),
        _ => view! { <p class="found">{check.found}" ("{check.code}")"</p> }.into_any(),
    };
    view! {
        <li class=class data-check=check.name data-outcome=class>
            <details open=class == "fail">
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
