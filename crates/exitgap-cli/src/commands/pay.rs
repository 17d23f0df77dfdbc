//! `exitgap pay`: the payments in the ledger, and what the chain shows about unresolved ones.

use std::cell::OnceCell;
use std::io::Write;
use std::time::Duration;

use exitgap_api::{Problem, ProblemCode};
use exitgap_chain::config::{ChainConfig, Config, LogsCheck, Plan};
use exitgap_chain::settle::TokenNode;
use exitgap_core::ids::{Address, Caip2, ChainSlug, Word};
use exitgap_core::series::rfc3339;
use exitgap_pay::{AuthorizationState, Chain, Entry, Ledger, Reconciliation, State, Usdc};
use serde::Serialize;
use tokio::time::Instant;

use super::print_json;
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::pay_arguments::{PayCommand, network};
use crate::source::{rpc, unreadable};

/// Time limit for one request to the chain, including retries.
const DEADLINE: Duration = Duration::from_secs(20);

pub fn run(command: &PayCommand, json: bool) -> Result<(), Failure> {
    match command {
        PayCommand::Ledger(ledger) => list(&ledger.open()?, json),
        PayCommand::Reconcile { ledger, rpc, network: named } => {
            reconcile(&ledger.open()?, network(named)?, rpc, json)
        }
    }
}

/// A payment as listed.
#[derive(Serialize)]
struct LedgerRow<'a> {
    id: &'a str,
    reserved_at: String,
    host: &'a str,
    path: &'a str,
    network: String,
    asset: String,
    payee: String,
    amount_usdc: String,
    /// Its state: `reserved`, `withdrawn`, `sent`, `settled` or `released`.
    state: &'static str,
}

#[derive(Serialize)]
struct List<'a> {
    ledger: String,
    payments: Vec<LedgerRow<'a>>,
}

impl<'a> From<&'a Entry> for LedgerRow<'a> {
    fn from(entry: &'a Entry) -> Self {
        let of = &entry.reserved;
        Self {
            id: &of.id,
            reserved_at: rfc3339(of.at_ms / 1000),
            host: &of.host,
            path: &of.path,
            network: of.network.to_string(),
            asset: of.asset.to_string(),
            payee: of.payee.to_string(),
            amount_usdc: Usdc::from(of.units).to_string(),
            state: match entry.state {
                State::Reserved => "reserved",
                State::Withdrawn => "withdrawn",
                State::Sent => "sent",
                State::Settled => "settled",
                State::Released => "released",
            },
        }
    }
}

fn list(ledger: &Ledger, json: bool) -> Result<(), Failure> {
    let entries = ledger.entries()?;
    let payments: Vec<LedgerRow<'_>> = entries.iter().map(LedgerRow::from).collect();
    if json {
        return print_json(&List { ledger: ledger.path().display().to_string(), payments });
    }
    let mut rows = Columns::new(&["<reserved", "USDC", "<state", "<on", "<to", "<for"]);
    for LedgerRow { reserved_at, amount_usdc, state, network, payee, host, path, .. } in payments {
        let of = printable(&format!("{host}{path}"));
        rows.row(vec![reserved_at, amount_usdc, state.to_owned(), network, payee, of]);
    }
    write!(anstream::stdout(), "{rows}")?;
    let counted = |state| {
        let of_state = entries.iter().filter(|entry: &&Entry| entry.state == state);
        of_state.fold(Usdc(0), |sum, entry| sum.plus(entry.reserved.units.into()))
    };
    writeln!(
        anstream::stdout(),
        "\nsettled {} USDC, sent with unknown outcome {} USDC, reserved {} USDC",
        counted(State::Settled),
        counted(State::Sent),
        counted(State::Reserved),
    )?;
    Ok(())
}

/// Reads the chain's final block, as a wallet's witness.
struct Final {
    urls: Vec<String>,
    network: Caip2,
    /// The first error: later requests would only repeat the wait for each payment.
    failed: OnceCell<String>,
}

impl Final {
    /// The token, read from the chain's nodes.
    fn token(&self, asset: Address) -> Result<TokenNode, Problem> {
        let plan = Plan::new(&Config { chain: vec![self.config()?], ..Config::default() });
        let plan = plan.map_err(|error| unreadable(format!("--rpc: {error}")))?;
        let token = plan.chains().first().map(|chain| TokenNode::new(chain, asset));
        let token = token.ok_or_else(|| unreadable("--rpc: no chain id"))?;
        token.map_err(|error| unreadable(format!("--rpc: {error}")))
    }

    fn config(&self) -> Result<ChainConfig, Problem> {
        let rpc_urls = self.urls.iter().map(|url| rpc::parse_url(url)).collect::<Result<_, _>>()?;
        let slug: Result<ChainSlug, _> = "paid".parse();
        Ok(ChainConfig {
            slug: slug.map_err(|error| unreadable(error.to_string()))?,
            chain_id: self.network.0,
            rpc_urls,
            genesis_hash: None,
            known_block: None,
            number_source: None,
            check_logs_by: LogsCheck::Auto,
            second_rpc_url: None,
            sequencer_uptime_feed: None,
            sequencer_grace_s: None,
            multicall3: None,
            confirmations: None,
            factory: Vec::new(),
        })
    }

    async fn fetch_authorization(
        &self,
        asset: Address,
        payer: Address,
        nonce: Word,
    ) -> Result<AuthorizationState, String> {
        let token = self.token(asset).map_err(|problem| problem.detail)?;
        let deadline = Instant::now() + DEADLINE;
        let (block, hash) =
            token.finalized_head(deadline).await.map_err(|error| error.to_string())?;
        let used = token.was_used_at(hash, payer, nonce, deadline).await;
        let used = used.map_err(|error| error.to_string())?;
        Ok(AuthorizationState { used, block_time_s: block.timestamp_s })
    }
}

impl Chain for Final {
    fn network(&self) -> Caip2 {
        self.network
    }

    async fn authorization(
        &self,
        asset: Address,
        payer: Address,
        nonce: Word,
    ) -> Result<AuthorizationState, String> {
        if let Some(why) = self.failed.get() {
            return Err(why.clone());
        }
        let told = self.fetch_authorization(asset, payer, nonce).await;
        told.map_err(|why| self.failed.get_or_init(|| why).clone())
    }
}

/// The result of `reconcile`: amounts in whole tokens.
#[derive(Serialize)]
struct Done {
    network: String,
    /// Paid, and now confirmed.
    settled_usdc: String,
    /// Expired unused: no longer counted.
    released_usdc: String,
    /// Still counted.
    left_usdc: String,
}

fn reconcile(ledger: &Ledger, network: Caip2, urls: &[String], json: bool) -> Result<(), Failure> {
    let chain = Final { urls: urls.to_vec(), network, failed: OnceCell::new() };
    // Report invalid arguments even if there is nothing to check.
    chain.config()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(ledger.reconcile(&chain))?;
    let Reconciliation { released, settled, left, unanswered } = done;
    if json {
        print_json(&Done {
            network: network.to_string(),
            settled_usdc: settled.to_string(),
            released_usdc: released.to_string(),
            left_usdc: left.to_string(),
        })?;
    } else {
        let mut out = anstream::stdout().lock();
        writeln!(out, "payments on {network} with unknown outcome, in USDC:")?;
        writeln!(out, "{:<10}{settled}  made, still counted", "settled")?;
        writeln!(out, "{:<10}{released}  expired unused, no longer counted", "released")?;
        writeln!(out, "{:<10}{left}  not final yet or no answer, still counted", "left")?;
    }
    match unanswered {
        None => Ok(()),
        Some(why) => {
            let problem = Problem::new(ProblemCode::ChainUnreadable, why);
            let hint = format!("give a node of {network} with --rpc; nothing was released");
            Err(problem.hint(hint).into())
        }
    }
}
