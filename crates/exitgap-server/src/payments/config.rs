//! `[payments]`: off by default; all keys are required if enabled.

use std::path::PathBuf;

use exitgap_api::x402::Units;
use exitgap_chain::config::{ChainPlan, Plan};
use exitgap_core::ids::Address;
use serde::Deserialize;

use super::DECIMALS;
use super::facilitator::FacilitatorUrl;

/// The table `[payments]` as written in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PaymentsConfig {
    /// Whether `/v1/exit/{pool}` must be paid for. Default: no; everything else is always free.
    pub enabled: bool,
    /// The price of an answer in USDC, such as `0.01`. Required if enabled.
    pub price_usdc: Option<String>,
    /// The recipient: an address that is used for nothing else. Required if enabled.
    pub pay_to: Option<String>,
    /// The slug of the `[[chain]]` on which payments are made. Required if enabled.
    pub chain: Option<String>,
    /// The token's address on that chain, an EIP-3009 token with six decimals. Required if enabled.
    pub asset: Option<String>,
    /// Who settles payments: `local`, which is this process with its own key, or the URL of an x402 facilitator.
    /// Default `local`.
    pub settle: String,
    /// The key that pays the gas fees of local settlement, mode 600. Relative to the folder of the configuration file.
    /// Default `payments-hot.key`.
    pub hot_key_file: PathBuf,
    /// The key that signs receipts, mode 600, created by `exitgap-server key receipts`; never the log's key. Relative
    /// to the folder of the configuration file. Default `payments-receipt.key`.
    pub receipt_key_file: PathBuf,
    /// The database of payments: a file shared by the processes of one machine, relative to the folder of the
    /// configuration file; or `postgresql://<role>@<host>/<database>`, the database of a store on a server, shared by
    /// all processes that can reach it. Default `payments.db`.
    pub database: PathBuf,
    /// Required confirmations of a payment's block, itself included; from 1 to 64. Default 1; 3 on Ethereum.
    pub confirmations: Option<u32>,
    /// Free estimates per client and UTC day, through the tools for agents and as positions of portfolios; maximum
    /// 1000000, default 200.
    pub free_estimates_per_day: u32,
    /// The maximum gas price for settling, gwei; from 1 to 10000. Default 10.
    pub max_fee_gwei: u32,
}

impl Default for PaymentsConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            price_usdc: None,
            pay_to: None,
            chain: None,
            asset: None,
            settle: LOCAL.to_owned(),
            hot_key_file: "payments-hot.key".into(),
            receipt_key_file: "payments-receipt.key".into(),
            database: "payments.db".into(),
            confirmations: None,
            free_estimates_per_day: 200,
            max_fee_gwei: 10,
        }
    }
}

/// Settling by this process.
const LOCAL: &str = "local";

/// Who settles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settle {
    /// This process, with the key in this file.
    Local(PathBuf),
    /// A facilitator.
    Facilitator(FacilitatorUrl),
}

/// The checked settings: the price and how payments are settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentsPlan {
    /// The price, in the token's smallest units.
    pub price: Units,
    /// The recipient.
    pub pay_to: Address,
    /// The token.
    pub asset: Address,
    /// Who settles payments.
    pub settle: Settle,
    /// The key that signs receipts.
    pub receipt_key_file: PathBuf,
    /// The database of payments.
    pub database: PathBuf,
    /// Required confirmations of a payment's block, itself included.
    pub confirmations: u64,
    /// The maximum gas price for settling, wei.
    pub max_fee_wei: u128,
    /// Free estimates per client and day.
    pub free_estimates_per_day: u32,
}

/// The invalid key, and what is wrong with its value.
type Wrong = (&'static str, String);

impl PaymentsConfig {
    /// Checks the table; returns the settings and the chain, or `None` if payments are off.
    pub fn plan<'p>(&self, plan: &'p Plan) -> Result<Option<(PaymentsPlan, &'p ChainPlan)>, Wrong> {
        if !self.enabled {
            return Ok(None);
        }
        let price = require_value("price_usdc", self.price_usdc.as_ref())?;
        let price = Units::of_tokens("price_usdc", price, DECIMALS)
            .ok()
            .filter(|price| price.0 > 0)
            .ok_or_else(|| ("price_usdc", format!("{price:?} is not a price such as \"0.01\"")))?;
        let slug = require_value("chain", self.chain.as_ref())?;
        let chain = plan.chains().iter().find(|chain| chain.slug().as_str() == slug);
        let chain =
            chain.ok_or_else(|| ("chain", format!("no [[chain]] has the slug {slug:?}")))?;
        let pay_to = address("pay_to", require_value("pay_to", self.pay_to.as_ref())?)?;
        let asset = address("asset", require_value("asset", self.asset.as_ref())?)?;
        let settle = match FacilitatorUrl::parse(&self.settle) {
            _ if self.settle == LOCAL => Settle::Local(self.hot_key_file.clone()),
            Some(url) => Settle::Facilitator(url),
            None => {
                let what = "is neither \"local\" nor an https URL (or a URL on this machine) without a query";
                return Err(("settle", format!("{:?} {what}", self.settle)));
            }
        };
        let by_default = if chain.chain_id() == 1 { 3 } else { 1 };
        let confirmations = self.confirmations.unwrap_or(by_default);
        if !(1..=64).contains(&confirmations) {
            return Err(("confirmations", format!("{confirmations} is outside 1 to 64")));
        }
        if !(1..=10_000).contains(&self.max_fee_gwei) {
            return Err(("max_fee_gwei", format!("{} is outside 1 to 10000", self.max_fee_gwei)));
        }
        if self.free_estimates_per_day > 1_000_000 {
            let found = self.free_estimates_per_day;
            return Err((
                "free_estimates_per_day",
                format!("{found} is above the limit of 1000000"),
            ));
        }
        let plan = PaymentsPlan {
            price,
            pay_to,
            asset,
            settle,
            receipt_key_file: self.receipt_key_file.clone(),
            database: self.database.clone(),
            confirmations: confirmations.into(),
            max_fee_wei: u128::from(self.max_fee_gwei) * 1_000_000_000,
            free_estimates_per_day: self.free_estimates_per_day,
        };
        Ok(Some((plan, chain)))
    }
}

fn require_value<'a>(key: &'static str, value: Option<&'a String>) -> Result<&'a String, Wrong> {
    value.ok_or_else(|| (key, "is required if payments are enabled".to_owned()))
}

/// Parses an address as people write it. In mixed case it must have a valid checksum.
fn address(key: &'static str, text: &str) -> Result<Address, Wrong> {
    exitgap_chain::config::parse_address(text).map_err(|what| (key, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text =
            "[[chain]]\nslug = \"base\"\nchain_id = 8453\nrpc_urls = [\"http://127.0.0.1:1\"]";
        Plan::new(&toml::from_str(text).unwrap()).unwrap()
    }

    fn enabled() -> PaymentsConfig {
        let text = "enabled = true\nprice_usdc = \"0.01\"\nchain = \"base\"\n\
            pay_to = \"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"\n\
            asset = \"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"";
        toml::from_str(text).unwrap()
    }

    type Change = fn(&mut PaymentsConfig);

    #[test]
    fn payments_are_off_unless_told_and_then_complete() {
        let plan = plan();
        assert_eq!(PaymentsConfig::default().plan(&plan), Ok(None));
        let (planned, chain) = enabled().plan(&plan).unwrap().unwrap();
        assert_eq!((planned.price, planned.confirmations), (Units(10_000), 1));
        assert_eq!((planned.max_fee_wei, chain.chain_id()), (10_000_000_000, 8_453));
        let changes: [(Change, &str); 14] = [
            (|config| config.price_usdc = None, "price_usdc"),
            (|config| config.price_usdc = Some("0".to_owned()), "price_usdc"),
            (|config| config.price_usdc = Some("1e-2".to_owned()), "price_usdc"),
            (|config| config.price_usdc = Some("0.0000001".to_owned()), "price_usdc"),
            (|config| config.pay_to = None, "pay_to"),
            (|config| config.pay_to = Some(format!("0x{}", "aB".repeat(20))), "pay_to"),
            (|config| config.asset = Some("0x12".to_owned()), "asset"),
            (|config| config.chain = Some("optimism".to_owned()), "chain"),
            (|config| config.confirmations = Some(0), "confirmations"),
            (|config| config.confirmations = Some(65), "confirmations"),
            (|config| config.max_fee_gwei = 0, "max_fee_gwei"),
            (|config| config.free_estimates_per_day = 1_000_001, "free_estimates_per_day"),
            (|config| config.settle = "remote".to_owned(), "settle"),
            (|config| config.settle = "http://x402.example".to_owned(), "settle"),
        ];
        for (change, key) in changes {
            let mut config = enabled();
            change(&mut config);
            assert_eq!(config.plan(&plan).unwrap_err().0, key);
        }
    }
}
