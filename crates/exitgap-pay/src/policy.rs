//! Which payments are allowed at all.

use core::fmt;
use core::time::Duration;

use exitgap_api::x402::{Terms, TokenDomain};
use exitgap_core::ids::{Address, Caip2};

use crate::{PayError, Usdc};

/// The allowed payments: recipients and amounts. Every part of a payment must be allowed, and every budget that covers
/// it must have room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The maximum cost of one call, including its retries.
    pub max_per_call: Usdc,
    /// The budgets, by address and chain. A payment that no budget covers is not made.
    pub budgets: Vec<Budget>,
    /// The allowed chains.
    pub networks: Vec<Caip2>,
    /// The allowed tokens.
    pub assets: Vec<Asset>,
    /// The allowed payees.
    pub payees: Payees,
}

/// The maximum to be spent on a host's addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The host, in lower case, with `:port` unless it is the scheme's default.
    pub host: String,
    /// The path's prefix in whole segments: `/v1/exit` also covers `/v1/exit/a`, but not `/v1/exits`; `/` covers all
    /// paths.
    pub path_prefix: String,
    /// The chain.
    pub network: Caip2,
    /// The limit, for all tokens together.
    pub limit: Usdc,
    /// The period of the limit.
    pub window: Window,
}

/// The period of a budget's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// As long as the ledger exists.
    Total,
    /// Any interval of this length. A payment counts from its reservation until this long after the last moment at
    /// which it can be made.
    Sliding(Duration),
}

/// Who may be paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payees {
    /// These.
    Listed(Vec<Address>),
    /// The first payee that a host named on each chain, as remembered in the ledger.
    FirstUse,
}

/// A dollar token with six decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its chain.
    pub network: Caip2,
    /// Its contract.
    pub address: Address,
    /// Its symbol in plain offers.
    pub symbol: String,
    /// Its name and version in the signing domain.
    pub domain: TokenDomain,
}

/// Circle's own contracts: chain, address, EIP-712 name.
const USDC: [(u64, &str, &str); 6] = [
    (1, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USD Coin"),
    (10, "0x0b2c639c533813f4aa9d7837caf62653d097ff85", "USD Coin"),
    (137, "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", "USD Coin"),
    (8453, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USD Coin"),
    (42161, "0xaf88d065e77c8cc2239327c5edb3a432268e5831", "USD Coin"),
    (84532, "0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC"),
];

impl Asset {
    /// USDC on the chains with known contracts.
    pub fn known() -> Vec<Self> {
        let asset = |(id, address, name): &(u64, &str, &str)| {
            let domain = TokenDomain { name: (*name).to_owned(), version: "2".to_owned() };
            let address = address.parse().ok()?;
            Some(Self { network: Caip2(*id), address, symbol: "USDC".to_owned(), domain })
        };
        USDC.iter().filter_map(asset).collect()
    }
}

impl Budget {
    /// Whether it covers this host, path and chain.
    pub fn covers(&self, host: &str, path: &str, network: Caip2) -> bool {
        let prefix = self.path_prefix.trim_end_matches('/');
        let rest = path.strip_prefix(prefix);
        let on_path = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.host == host && self.network == network && on_path
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} on {}, {}", self.host, self.path_prefix, self.network, self.window)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total => f.write_str("in total"),
            Self::Sliding(time) => write!(f, "in any {} s", time.as_secs()),
        }
    }
}

impl Policy {
    /// Whether such a payment is allowed, regardless of what was spent; returns its token.
    pub(crate) fn allows(&self, terms: &Terms) -> Result<&Asset, PayError> {
        let Terms { network, asset, pay_to, amount, domain, .. } = terms;
        if !self.networks.contains(network) {
            return Err(PayError::NetworkNotAllowed { network: *network });
        }
        let refused =
            |why: String| PayError::AssetNotAllowed { asset: *asset, network: *network, why };
        let known =
            self.assets.iter().find(|known| (known.network, known.address) == (*network, *asset));
        let known = known.ok_or_else(|| refused("the policy does not list it".to_owned()))?;
        if known.domain != *domain {
            let TokenDomain { name, version } = &known.domain;
            return Err(refused(format!(
                "the offer names {:?} version {:?}, but the token is {name:?} version {version:?}",
                domain.name, domain.version
            )));
        }
        match &self.payees {
            Payees::Listed(payees) if !payees.contains(pay_to) => {
                return Err(PayError::PayeeNotAllowed { payee: *pay_to });
            }
            _ => {}
        }
        let asked = Usdc::from(*amount);
        if asked > self.max_per_call {
            return Err(PayError::MaxPerCallExceeded { asked, most: self.max_per_call });
        }
        Ok(known)
    }

    /// The budgets that cover a host, path and chain.
    pub(crate) fn budgets_for(
        &self,
        host: &str,
        path: &str,
        network: Caip2,
    ) -> Result<Vec<&Budget>, PayError> {
        let budgets: Vec<&Budget> =
            self.budgets.iter().filter(|budget| budget.covers(host, path, network)).collect();
        if budgets.is_empty() {
            let (host, path) = (host.to_owned(), path.to_owned());
            return Err(PayError::NoBudget { host, path, network });
        }
        Ok(budgets)
    }
}
