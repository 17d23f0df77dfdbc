//! The arguments of `exit` and `pay`, and the wallet that they define.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use exitgap_api::x402::{TokenDomain, X402Error};
use exitgap_api::{Problem, invalid_parameter};
use exitgap_client::{BaseUrl, Native};
use exitgap_core::ids::{Address, Caip2};
use exitgap_core::secrets::LooseMode;
use exitgap_pay::{
    Asset, Budget, Ledger, LocalSigner, Payees, PayingTransport, Policy, Usdc, Window,
};

use crate::arguments::GuardArgs;
use crate::failure::Failure;
use crate::receipts::Receipts;
use crate::source::{api, unreadable};

pub const EXIT_NOTES: &str = "\
Without --pay, nothing is paid. With --pay, at most one payment is made, by a signed authorization for the price, and only if
the price is within --max-per-call and every --budget. All runs with this ledger count towards the budgets.
A payment with unknown outcome still counts. This program never spends more than the budget, whatever the service
returns; still, use a key that controls no more than you can afford to lose. The receipt is checked against the answer.

Examples:
  exitgap exit ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example
  exitgap exit ethereum:0x88e6… --size-usd 250000 --api https://exitgap.example \\
    --pay --pay-key key --max-per-call 0.02 --budget 1.00/24h --receipt receipt.jws
  exitgap exit … --pay --pay-key key --max-per-call 0.02 --budget 1.00/24h --budget 20/30d --payee 0x2096…

Exit codes:
  0  answered       6  answered and paid, but the receipt is not for this answer; 7: no receipt, or its key is unknown
                    8  not paid: the price, a budget, the offer or the ledger did not allow it;
                       or paid, and the outcome is unknown (payment_unknown) or refused (payment_refused):
                       run it again to continue with the same payment
  Other exit codes: see `exitgap --help`";

#[derive(Debug, Args)]
pub struct ExitArgs {
    #[arg(help = "The pool, <chain>:<address>")]
    pub pool: String,
    /// The token to sell: token0, token1, its symbol or its address [default: the pool's].
    #[arg(long, value_name = "TOKEN")]
    pub base: Option<String>,
    /// Size in USD at the oracle price, 0.01 to 1000000000, such as 250000, $250,000, 250k or 1.5m.
    #[arg(long, value_name = "USD", allow_hyphen_values = true)]
    pub size_usd: String,
    /// URL of an exitgap service; its answer is recomputed here from the snapshot it names.
    #[arg(long, value_name = "URL")]
    pub api: String,
    #[command(flatten)]
    pub guards: GuardArgs,
    #[command(flatten)]
    pub wallet: WalletArgs,
}

#[derive(Debug, Args)]
pub struct WalletArgs {
    /// Pay if the service requires payment.
    #[arg(
        long,
        help_heading = "Payment",
        requires_all = ["max_per_call", "budget", "pay_key"]
    )]
    pub pay: bool,
    /// The most this call may cost, in USDC, such as 0.02.
    #[arg(long, value_name = "USDC", help_heading = "Payment", requires = "pay")]
    max_per_call: Option<String>,
    /// Spending limit at this service per period, in USDC, such as 1.00/24h, 20/30d or 100/total.
    /// If several are given, all apply.
    #[arg(long, value_name = "USDC/TIME", help_heading = "Payment", requires = "pay")]
    budget: Vec<String>,
    /// The file with the private key that signs payments: 64 hex digits, readable only by its owner.
    #[arg(long, value_name = "FILE", help_heading = "Payment", requires = "pay")]
    pay_key: Option<PathBuf>,
    /// The file that records payments. Budgets are per ledger: runs that share a budget must use
    /// the same file [default: exitgap/pay-ledger.jsonl in `$XDG_STATE_HOME` or ~/.local/state].
    #[arg(long, value_name = "FILE", help_heading = "Payment", requires = "pay")]
    ledger: Option<PathBuf>,
    /// Save the receipt to this file, which must not exist yet; `exitgap verify-receipt` checks it again.
    #[arg(long, value_name = "FILE", help_heading = "Payment", requires = "pay")]
    receipt: Option<PathBuf>,
    /// The key that receipts of this service are checked with, or a file with it [default: the key
    /// that the service named first, remembered next to the ledger].
    #[arg(
        long,
        value_name = "KEY|FILE",
        help_heading = "Payment",
        requires = "pay",
        allow_hyphen_values = true
    )]
    receipt_key: Option<String>,
    /// A chain on which payment is allowed, by CAIP-2 id.
    #[arg(
        long,
        value_name = "CHAIN",
        help_heading = "Payment",
        requires = "pay",
        default_value = "eip155:8453"
    )]
    network: Vec<String>,
    /// An allowed payee [default: the first payee that the service named, remembered in the ledger].
    #[arg(long, value_name = "ADDRESS", help_heading = "Payment", requires = "pay")]
    payee: Vec<String>,
    /// Another US dollar token with six decimals besides USDC, as
    /// CHAIN/ADDRESS/SYMBOL/NAME/VERSION, where NAME and VERSION are those of its EIP-712 domain.
    #[arg(long, value_name = "TOKEN", help_heading = "Payment", requires = "pay")]
    asset: Vec<String>,
}

pub const LEDGER_NOTES: &str = "\
A payment that was sent counts against its budgets until the chain shows that it was not made and can no longer be made,
because a service that returns \"failed\" can still settle it. `reconcile` checks each payment with your node, at its newest final block.
Payments that were made are marked as settled. Payments that expired unused no longer count. All others still count, including
those for which the node gives no answer. This command sends, signs and pays nothing.

Examples:
  exitgap pay ledger
  exitgap pay reconcile --rpc https://…
  exitgap pay reconcile --rpc https://… --network eip155:1 --ledger spent.jsonl

Exit codes:
  0  done       5  the chain could not be reached: payments without an answer still count; or the ledger does not exist
                8  the ledger cannot be read       2  wrong arguments";

/// Payments made.
#[derive(Debug, Subcommand)]
pub enum PayCommand {
    /// List the ledger's payments and their outcomes.
    Ledger(LedgerArgs),
    /// Check on the chain which payments of unknown outcome were made, and release those that can
    /// no longer be made.
    Reconcile {
        #[command(flatten)]
        ledger: LedgerArgs,
        /// A node of the chain used for payment; several nodes are tried in turn.
        #[arg(long, value_name = "URL", required = true)]
        rpc: Vec<String>,
        /// The chain, by CAIP-2 id; the node must be on it.
        #[arg(long, value_name = "CHAIN", default_value = "eip155:8453")]
        network: String,
    },
}

#[derive(Debug, Args)]
pub struct LedgerArgs {
    /// The ledger [default: exitgap/pay-ledger.jsonl in `$XDG_STATE_HOME` or ~/.local/state].
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

impl LedgerArgs {
    /// Opens the ledger, which must exist.
    pub fn open(&self) -> Result<Ledger, Failure> {
        let path = match &self.ledger {
            Some(path) => path.clone(),
            None => ledger_folder()?.join(LEDGER),
        };
        if !path.is_file() {
            let why =
                format!("ledger {} does not exist: no payment was made with it", path.display());
            return Err(unreadable(why).hint("give another file with --ledger").into());
        }
        Ok(Ledger::open(&path)?)
    }
}

/// Parses a chain's id from an argument.
pub fn network(text: &str) -> Result<Caip2, Problem> {
    let hint = "write a CAIP-2 id such as eip155:8453 (Base)";
    text.parse::<Caip2>()
        .map_err(|error| invalid_parameter("network", &format!("--network: {error}"), hint))
}

/// The default file name of the ledger.
const LEDGER: &str = "pay-ledger.jsonl";

/// Upper bound on the size of a key file.
const MAX_KEY_BYTES: u64 = 1024;

const BUDGET_HINT: &str = "write an amount, a slash and a period, such as 1.00/24h, 0.5/30m or 20/30d; 100/total has no time limit";

impl WalletArgs {
    /// The wallet for a service, and what to do with its receipts. Sends no request yet.
    pub fn wallet(
        &self,
        url: &str,
    ) -> Result<(PayingTransport<Native, LocalSigner>, Receipts), Failure> {
        let policy = self.policy(url)?;
        let key = self.pay_key.as_deref().unwrap_or(Path::new(""));
        let signer = LocalSigner::of_hex(read_key(key)?.trim())
            .map_err(|why| key_problem(key, &why, "the file must contain only the key"))?;
        let path = match &self.ledger {
            Some(path) => path.clone(),
            None => default_ledger()?,
        };
        let receipts = Receipts::new(self.receipt.as_deref(), self.receipt_key.as_deref(), &path)?;
        let ledger = Ledger::open(&path)?;
        Ok((PayingTransport::new(api::native()?, signer, policy, ledger), receipts))
    }

    fn policy(&self, url: &str) -> Result<Policy, Problem> {
        let base: BaseUrl = url.parse()?;
        let base = base.to_string();
        let (_, place) = base.split_once("://").unwrap_or_default();
        let (host, path) = place.split_once('/').unwrap_or((place, ""));
        let path_prefix =
            if path.is_empty() { "/v1/exit".to_owned() } else { format!("/{path}/v1/exit") };
        let networks =
            self.network.iter().map(|text| network(text)).collect::<Result<Vec<_>, _>>()?;
        let mut budgets = Vec::new();
        for text in &self.budget {
            let (limit, window) = budget(text)?;
            budgets.extend(networks.iter().map(|network| Budget {
                host: host_of(host),
                path_prefix: path_prefix.clone(),
                network: *network,
                limit,
                window,
            }));
        }
        let address = |text: &String| {
            let hint = "write 0x and 40 hex digits";
            let address = text.to_ascii_lowercase().parse::<Address>();
            address.map_err(|error| invalid_parameter("payee", &format!("--payee: {error}"), hint))
        };
        let payees = self.payee.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        let assets = self.asset.iter().map(|text| asset(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(Policy {
            max_per_call: usdc("max-per-call", self.max_per_call.as_deref().unwrap_or_default())?,
            budgets,
            networks,
            assets: [Asset::known(), assets].concat(),
            payees: if payees.is_empty() { Payees::FirstUse } else { Payees::Listed(payees) },
        })
    }
}

/// A host as the ledger spells it: in lower case, and without the default port of `https`.
fn host_of(text: &str) -> String {
    let host = text.to_ascii_lowercase();
    host.strip_suffix(":443").map_or(host.clone(), str::to_owned)
}

fn usdc(name: &str, text: &str) -> Result<Usdc, Problem> {
    text.parse().map_err(|error: X402Error| {
        let hint = "write a plain USDC amount with at most six decimals, such as 0.02";
        invalid_parameter(&name.replace('-', "_"), &format!("--{name}: {error}"), hint)
    })
}

fn budget(text: &str) -> Result<(Usdc, Window), Problem> {
    let wrong = || {
        let shown: String = text.chars().take(40).collect();
        invalid_parameter(
            "budget",
            &format!("--budget: {shown:?} is not a valid budget"),
            BUDGET_HINT,
        )
    };
    let (limit, time) = text.split_once('/').ok_or_else(wrong)?;
    let limit = usdc("budget", limit)?;
    if time == "total" {
        return Ok((limit, Window::Total));
    }
    let unit_s = match time.chars().next_back() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => return Err(wrong()),
    };
    let number: u32 = time[..time.len() - 1].parse().map_err(|_| wrong())?;
    if number == 0 || time.starts_with('+') {
        return Err(wrong());
    }
    Ok((limit, Window::Sliding(Duration::from_secs(u64::from(number) * unit_s))))
}

fn asset(text: &str) -> Result<Asset, Problem> {
    let wrong = || {
        let hint = "write it like eip155:31337/0x5fbd…/USDC/USD Coin/2";
        let shown: String = text.chars().take(120).collect();
        invalid_parameter("asset", &format!("--asset: {shown:?} is not a valid token"), hint)
    };
    let parts: Vec<&str> = text.split('/').collect();
    let [network, address, symbol, name, version] = parts[..] else { return Err(wrong()) };
    let filled = [symbol, name, version].iter().all(|part| !part.is_empty());
    match (network.parse(), address.to_ascii_lowercase().parse()) {
        (Ok(network), Ok(address)) if filled => Ok(Asset {
            network,
            address,
            symbol: symbol.to_owned(),
            domain: TokenDomain { name: name.to_owned(), version: version.to_owned() },
        }),
        _ => Err(wrong()),
    }
}

fn key_problem(path: &Path, why: &str, hint: &str) -> Problem {
    unreadable(format!("--pay-key {}: {why}", path.display())).hint(hint)
}

/// Reads a key file, which only its owner may be able to read.
fn read_key(path: &Path) -> Result<String, Problem> {
    let hint = "--pay-key takes a file with 64 hex digits that only you can read";
    let failed = |error: std::io::Error| key_problem(path, &error.to_string(), hint);
    let found = fs::metadata(path).map_err(failed)?;
    // Reading anything but a regular file could block forever.
    if !found.is_file() || found.len() > MAX_KEY_BYTES {
        return Err(key_problem(path, "not a key file", hint));
    }
    if let Err(loose) = check_mode(&found) {
        let hint = format!("run chmod 600 {}", path.display());
        return Err(key_problem(path, &loose.to_string(), &hint));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

#[cfg(unix)]
fn check_mode(found: &fs::Metadata) -> Result<(), LooseMode> {
    LooseMode::check(std::os::unix::fs::PermissionsExt::mode(&found.permissions()))
}

#[cfg(not(unix))]
fn check_mode(_: &fs::Metadata) -> Result<(), LooseMode> {
    Ok(())
}

/// The default path of the ledger, which all runs of this user share; creates its folder.
fn default_ledger() -> Result<PathBuf, Problem> {
    let folder = ledger_folder()?;
    fs::create_dir_all(&folder).map_err(|error| {
        unreadable(format!("{}: {error}", folder.display())).hint("give a file with --ledger")
    })?;
    Ok(folder.join(LEDGER))
}

fn ledger_folder() -> Result<PathBuf, Problem> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = named.filter(|path| path.is_absolute());
    let state = state.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| {
        unreadable("no home folder found for the ledger").hint("give a file with --ledger")
    })?;
    Ok(state.join("exitgap"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_exactly() {
        let day = Window::Sliding(Duration::from_hours(24));
        for (text, expected) in [
            ("1.00/24h", (Usdc(1_000_000), day)),
            ("0.000001/1d", (Usdc(1), day)),
            ("20/1440m", (Usdc(20_000_000), day)),
            ("9007199254.740993/total", (Usdc(9_007_199_254_740_993), Window::Total)),
        ] {
            assert_eq!(budget(text), Ok(expected), "{text}");
        }
        for wrong in [
            "1.00", "1/24", "/24h", "1/0h", "1/-1h", "1/+1h", "1/h", "1e3/24h", "NaN/24h", "1/24H",
            "1/",
        ] {
            let problem = budget(wrong).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("budget"), "{wrong}");
            assert!(problem.hint.is_some(), "{wrong}");
        }
    }

    #[test]
    fn tokens_and_hosts_are_named_as_the_ledger_names_them() {
        let token = "eip155:31337/0x5FbDB2315678afecb367f032d93F642f64180aa3/USDC/USD Coin/2";
        let read = asset(token).unwrap();
        assert_eq!((read.network, read.domain.name.as_str()), (Caip2(31337), "USD Coin"));
        for wrong in
            ["", "eip155:1/0x12/USDC/USD Coin/2", &token[..token.len() - 1], &format!("{token}/3")]
        {
            assert!(asset(wrong).is_err(), "{wrong}");
        }
        assert_eq!(host_of("Exitgap.example:443"), "exitgap.example");
        assert_eq!(host_of("127.0.0.1:8080"), "127.0.0.1:8080");
    }
}
