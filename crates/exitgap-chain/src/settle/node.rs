//! Requests about one token to the chain's nodes.

use core::time::Duration;

use alloy::primitives::{B256, Bytes, U64, U128, U256, hex};
use alloy::sol_types::{SolCall, SolEvent};
use exitgap_core::ids::{Address, BlockHash, Caip2, Word};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::abi::FiatToken::{AuthorizationUsed, authorizationStateCall};
use super::receipt::{WireLog, WireReceipt};
use super::transaction::SETTLE_GAS;
use super::{Authorization, Fees, Receipt, SettleError, SignedTransaction, Verdict, error};
use crate::abi::wire;
use crate::blocks::{finalized_header, head, header_at};
use crate::config::ChainPlan;
use crate::limits::Limits;
use crate::rpc::{Failure, Rpc, RpcError, value};

/// A token, and the nodes of its chain. Every request has a deadline, and every answer a size limit.
#[derive(Debug)]
pub struct TokenNode {
    rpc: Rpc,
    network: Caip2,
    asset: Address,
}

/// A block with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its number.
    pub number: u64,
    /// Its timestamp, Unix seconds.
    pub timestamp_s: u64,
}

/// The transaction in which an authorization was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationUse {
    /// The transaction.
    pub transaction: Word,
}

/// The number of blocks in one search for an event: the smallest limit of common nodes.
const SEARCH_BLOCKS: u64 = 500;

/// The maximum number of searches: they cover a day of two-second blocks.
const SEARCHES: u64 = 90;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFee {
    base_fee_per_gas: Option<U128>,
}

#[derive(Deserialize)]
struct WireTransaction {
    hash: B256,
}

impl TokenNode {
    /// The token at this address, on the nodes of this chain.
    pub fn new(chain: &ChainPlan, asset: Address) -> Result<Self, SettleError> {
        let limits = Limits {
            request_timeout: Duration::from_secs(5),
            rounds: 1,
            outage_rounds: 2,
            answer_bytes_most: 1 << 20,
            ..Limits::default()
        };
        let rpc = Rpc::new(chain, limits)?;
        Ok(Self { rpc, network: Caip2(chain.chain_id()), asset })
    }

    /// The chain.
    pub fn network(&self) -> Caip2 {
        self.network
    }

    /// The token's address.
    pub fn asset(&self) -> Address {
        self.asset
    }

    /// The newest block.
    pub async fn head(&self, deadline: Instant) -> Result<Head, SettleError> {
        let header = head(&self.rpc, deadline).await?;
        Ok(Head { number: header.block.number, timestamp_s: header.block.timestamp })
    }

    /// The newest block that is final according to the node.
    pub async fn finalized_head(
        &self,
        deadline: Instant,
    ) -> Result<(Head, BlockHash), SettleError> {
        let block = finalized_header(&self.rpc, deadline).await?.block;
        Ok((Head { number: block.number, timestamp_s: block.timestamp }, block.hash))
    }

    /// The timestamp of the block with this number and hash, Unix seconds; `None` if another block took its place.
    pub async fn block_time(
        &self,
        number: u64,
        hash: BlockHash,
        deadline: Instant,
    ) -> Result<Option<u64>, SettleError> {
        let header = header_at(&self.rpc, number, deadline).await;
        match header {
            Ok(header) => Ok((header.block.hash == hash).then_some(header.block.timestamp)),
            Err(Failure { error: RpcError::NoBlock(_), .. }) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Whether this authorization would succeed on the newest block if `sender` settles it. The token itself answers,
    /// with the same call.
    pub async fn verify(
        &self,
        authorization: &Authorization,
        sender: Address,
        deadline: Instant,
    ) -> Result<Verdict, SettleError> {
        if authorization.is_undeployed() {
            return Ok(Verdict::Undeployed);
        }
        let called = self.call(authorization.call_data(), Some(sender), deadline).await?;
        Ok(match called {
            // The function returns nothing. If there is a return value, it is another function.
            Ok(returned) if returned.is_empty() => Verdict::Good,
            Ok(_) => Verdict::Refused,
            Err(reverted) => Verdict::of_revert(&reverted),
        })
    }

    /// Whether the payer's authorization with this nonce was used or cancelled, as of the newest block.
    pub async fn is_used(
        &self,
        payer: Address,
        nonce: Word,
        deadline: Instant,
    ) -> Result<bool, SettleError> {
        self.is_used_at(&json!("latest"), payer, nonce, deadline).await
    }

    /// The same as of the block with this hash, which must be on the chain.
    pub async fn was_used_at(
        &self,
        block: BlockHash,
        payer: Address,
        nonce: Word,
        deadline: Instant,
    ) -> Result<bool, SettleError> {
        let at = json!({ "blockHash": block.to_string(), "requireCanonical": true });
        self.is_used_at(&at, payer, nonce, deadline).await
    }

    async fn is_used_at(
        &self,
        block: &Value,
        payer: Address,
        nonce: Word,
        deadline: Instant,
    ) -> Result<bool, SettleError> {
        let call = authorizationStateCall { authorizer: wire(payer), nonce: B256::from(nonce.0) };
        let request = build_call(self.asset, &call.abi_encode().into(), None);
        let answered = self.eth_call(&json!([request, block]), deadline).await?;
        let state = answered
            .ok()
            .and_then(|bytes| authorizationStateCall::abi_decode_returns_validate(&bytes).ok());
        state.ok_or_else(|| {
            SettleError::Unavailable("authorizationState was not returned".to_owned())
        })
    }

    /// The transaction in which the payer's authorization with this nonce was used, in blocks from `since` on, newest
    /// first; `None` if it was not used, or was cancelled. The number of blocks searched is limited.
    pub async fn used_since(
        &self,
        (payer, nonce): (Address, Word),
        since: u64,
        deadline: Instant,
    ) -> Result<Option<AuthorizationUse>, SettleError> {
        let topics =
            [AuthorizationUsed::SIGNATURE_HASH, wire(payer).into_word(), B256::from(nonce.0)];
        let mut last = self.head(deadline).await?.number;
        for _ in 0..SEARCHES {
            let first = last.saturating_sub(SEARCH_BLOCKS - 1).max(since);
            let asked = json!([{
                "address": wire(self.asset),
                "topics": topics,
                "fromBlock": format!("{first:#x}"),
                "toBlock": format!("{last:#x}"),
            }]);
            let read = |raw: &RawValue| used_in(raw, wire(self.asset), &topics);
            if let Some(used) = self.rpc.request("eth_getLogs", &asked, deadline, read).await? {
                return Ok(Some(used));
            }
            if first <= since || first == 0 {
                return Ok(None);
            }
            last = first - 1;
        }
        Ok(None)
    }

    /// The receipt of a transaction; `None` if no node has it in a block.
    pub async fn receipt(
        &self,
        transaction: Word,
        deadline: Instant,
    ) -> Result<Option<Receipt>, SettleError> {
        let read = |raw: &RawValue| match value::<Option<WireReceipt>>(raw)? {
            Some(wire) => Receipt::from_wire(wire, transaction),
            None => Ok(None),
        };
        let params = json!([error::shown(transaction)]);
        Ok(self.rpc.request("eth_getTransactionReceipt", &params, deadline, read).await?)
    }

    /// Whether the node that answers has the transaction at all, mined or waiting to be.
    pub async fn knows_transaction(
        &self,
        transaction: Word,
        deadline: Instant,
    ) -> Result<bool, SettleError> {
        let read = |raw: &RawValue| match value::<Option<WireTransaction>>(raw)? {
            Some(wire) if wire.hash.0 != transaction.0 => Err(RpcError::Contradiction {
                what: "a transaction's hash",
                expected: transaction.to_string(),
                found: wire.hash.to_string(),
            }),
            wire => Ok(wire.is_some()),
        };
        let params = json!([error::shown(transaction)]);
        Ok(self.rpc.request("eth_getTransactionByHash", &params, deadline, read).await?)
    }

    /// The number of mined transactions of this account, which is the nonce of the next one.
    pub async fn count(&self, account: Address, deadline: Instant) -> Result<u64, SettleError> {
        let params = json!([wire(account), "latest"]);
        let count: U64 = self
            .rpc
            .request("eth_getTransactionCount", &params, deadline, |raw: &RawValue| value(raw))
            .await?;
        Ok(count.to())
    }

    /// The account's balance of the chain's coin, in wei, capped at 2^128 − 1.
    pub async fn balance(&self, account: Address, deadline: Instant) -> Result<u128, SettleError> {
        let params = json!([wire(account), "latest"]);
        let wei: U256 = self
            .rpc
            .request("eth_getBalance", &params, deadline, |raw: &RawValue| value(raw))
            .await?;
        Ok(u128::try_from(wei).unwrap_or(u128::MAX))
    }

    /// The fees that a transaction should offer now, at most `most` wei per unit of gas.
    pub async fn fees(&self, most: u128, deadline: Instant) -> Result<Fees, SettleError> {
        let latest = json!(["latest", false]);
        let read = |raw: &RawValue| {
            let block: WireFee = value(raw)?;
            let missing = || RpcError::Malformed("a block without a base fee".to_owned());
            block.base_fee_per_gas.ok_or_else(missing)
        };
        let base = self.rpc.request("eth_getBlockByNumber", &latest, deadline, read).await?;
        let tip: U128 = self
            .rpc
            .request("eth_maxPriorityFeePerGas", &json!([]), deadline, |raw: &RawValue| value(raw))
            .await?;
        Fees::of_now(base.to(), tip.to(), most)
    }

    /// Sends a transaction. Succeeds if the nodes already have it.
    pub async fn broadcast(
        &self,
        signed: &SignedTransaction,
        deadline: Instant,
    ) -> Result<(), SettleError> {
        let params: Value = json!([hex::encode_prefixed(&signed.raw)]);
        let read = |raw: &RawValue| {
            let hash: B256 = value(raw)?;
            if hash.0 == signed.hash.0 {
                return Ok(());
            }
            let (expected, found) = (signed.hash.to_string(), hash.to_string());
            Err(RpcError::Contradiction { what: "the sent transaction's hash", expected, found })
        };
        let sent = self.rpc.request("eth_sendRawTransaction", &params, deadline, read).await;
        match sent.map_err(SettleError::from) {
            Err(SettleError::Refused(words)) if is_known(&words) => Ok(()),
            other => other,
        }
    }

    /// A call of the token on the newest block: the returned bytes, or the text of its revert.
    pub(super) async fn call(
        &self,
        data: Bytes,
        from: Option<Address>,
        deadline: Instant,
    ) -> Result<Result<Bytes, String>, SettleError> {
        self.call_of(self.asset, data, from, deadline).await
    }

    /// The same for any account.
    pub(super) async fn call_of(
        &self,
        account: Address,
        data: Bytes,
        from: Option<Address>,
        deadline: Instant,
    ) -> Result<Result<Bytes, String>, SettleError> {
        self.eth_call(&json!([build_call(account, &data, from), "latest"]), deadline).await
    }

    async fn eth_call(
        &self,
        asked: &Value,
        deadline: Instant,
    ) -> Result<Result<Bytes, String>, SettleError> {
        let read = |raw: &RawValue| value::<Bytes>(raw);
        match self.rpc.request("eth_call", asked, deadline, read).await {
            Ok(returned) => Ok(Ok(returned)),
            // A call that runs out of this gas could not be settled either.
            Err(Failure {
                error: RpcError::Reverted(words) | RpcError::RefusedForSize(words),
                ..
            }) => Ok(Err(words)),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// The parameters of a call.
fn build_call(account: Address, data: &Bytes, from: Option<Address>) -> Value {
    let mut request = json!({
        "to": wire(account),
        "input": data,
        "gas": format!("{SETTLE_GAS:#x}"),
    });
    if let Some(from) = from {
        request["from"] = json!(wire(from));
    }
    request
}

/// Whether nodes refuse a transaction because they already have it.
fn is_known(words: &str) -> bool {
    let lower = words.to_ascii_lowercase();
    ["already known", "already imported", "known transaction", "already exists"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The transaction of the first log with the requested event.
fn used_in(
    raw: &RawValue,
    asset: alloy::primitives::Address,
    topics: &[B256; 3],
) -> Result<Option<AuthorizationUse>, RpcError> {
    let logs: Vec<WireLog> = value(raw)?;
    let Some(log) = logs.first() else { return Ok(None) };
    if log.address != asset || log.topics != topics {
        return Err(RpcError::Contradiction {
            what: "a log",
            expected: "the requested event".to_owned(),
            found: format!("one of {}", log.address),
        });
    }
    let missing = || RpcError::Malformed("a log without its transaction".to_owned());
    let transaction = log.transaction_hash.ok_or_else(missing)?;
    Ok(Some(AuthorizationUse { transaction: Word(transaction.0) }))
}
