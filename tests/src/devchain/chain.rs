//! The node with the protocols on it: mining, calls, time, snapshots and reorganisations.

use std::collections::BTreeMap;

use alloy::eips::{BlockId, BlockNumberOrTag};
use alloy::primitives::{Address, B256, Bytes, U64, U256};
use alloy::sol_types::SolCall;
use alloy_rpc_types_eth::{Block, TransactionReceipt, TransactionRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::anvil::Anvil;
use super::rpc::Rpc;
use super::{Contracts, DevChainError, FIRST_SLOT, Mined, Result, SLOT_SECONDS, Tx};

/// Options for starting the chain. Fields can be set on [`Options::default`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Timestamp of block 0 in Unix seconds. Default: one hour before the recorded series begins; setup takes a few
    /// dozen blocks, one second apart.
    pub genesis_timestamp: u64,
    /// Chain id. Default 31337; another one simulates a node of the wrong chain.
    pub chain_id: u64,
    /// How many recent blocks keep their state; requests for older ones fail, as on a pruned node. Default `None`: all
    /// of them.
    pub prune_history: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            genesis_timestamp: FIRST_SLOT * SLOT_SECONDS - 3600,
            chain_id: 31337,
            prune_history: None,
        }
    }
}

/// A block's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Block number.
    pub number: u64,
    /// Block hash.
    pub hash: B256,
    /// Block timestamp in unix seconds.
    pub timestamp: u64,
}

/// A running node with Multicall3, WETH9, Uniswap v2 and Uniswap v3 deployed.
#[derive(Debug)]
pub struct DevChain {
    anvil: Anvil,
    rpc: Rpc,
    /// The account that deploys everything and provides the liquidity.
    pub operator: Address,
    /// The account that submits the feeds' answers.
    pub oracle: Address,
    /// The account that trades.
    pub trader: Address,
    /// The addresses of the protocols' contracts.
    pub contracts: Contracts,
}

impl DevChain {
    /// Starts a node and deploys the protocols, in a fraction of a second.
    pub async fn start(options: Options) -> Result<Self> {
        let mut chain = Self::without_contracts(options).await?;
        chain.contracts = Contracts::deploy(&chain).await?;
        Ok(chain)
    }

    /// A node without the contracts yet, but with their future addresses.
    pub(super) async fn without_contracts(options: Options) -> Result<Self> {
        let anvil = tokio::task::spawn_blocking(move || Anvil::spawn(&options))
            .await
            .map_err(|error| DevChainError::NotListening { reason: error.to_string() })??;
        let rpc = Rpc::new(anvil.url());
        let accounts: Vec<Address> = rpc.request("eth_accounts", ()).await?;
        let account = |index: usize| {
            accounts.get(index).copied().ok_or_else(|| DevChainError::Unexpected {
                what: "eth_accounts".to_owned(),
                reason: format!("{} accounts", accounts.len()),
            })
        };
        Ok(Self {
            anvil,
            rpc,
            operator: account(0)?,
            oracle: account(1)?,
            trader: account(2)?,
            contracts: Contracts::of_deployer(account(0)?),
        })
    }

    /// The URL of the node's JSON-RPC.
    pub fn url(&self) -> String {
        self.anvil.url()
    }

    /// The node's process id, for tests that stop or kill it.
    pub fn process_id(&self) -> u32 {
        self.anvil.process_id()
    }

    /// Sends any request to the node, including `anvil_…` and `evm_…`.
    pub async fn rpc<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: P,
    ) -> Result<R> {
        self.rpc.request(method, params).await
    }

    /// Sends several requests at once, with the answers in their order.
    pub(super) async fn batch(&self, calls: &[(&str, Value)]) -> Result<Vec<Value>> {
        self.rpc.batch(calls).await
    }

    /// A read-only call at a block (`BlockId::latest()`, a number, or a hash).
    pub async fn call<C: SolCall>(&self, to: Address, call: &C, at: BlockId) -> Result<C::Return> {
        let request = TransactionRequest::default().to(to).input(call.abi_encode().into());
        let asked: Result<Bytes> = self.rpc.request("eth_call", (request, at)).await;
        let bytes = asked.map_err(|error| match error {
            DevChainError::Rpc { message, .. } => {
                DevChainError::Rpc { what: C::SIGNATURE.to_owned(), message }
            }
            other => other,
        })?;
        C::abi_decode_returns(&bytes).map_err(|error| DevChainError::Unexpected {
            what: format!("{} of {to}", C::SIGNATURE),
            reason: error.to_string(),
        })
    }

    /// A block's identity; `None` when there is no such block.
    pub async fn block(&self, at: BlockNumberOrTag) -> Result<Option<Head>> {
        let block: Option<Block> = self.rpc.request("eth_getBlockByNumber", (at, false)).await?;
        Ok(block.map(|block| Head {
            number: block.header.number,
            hash: block.header.hash,
            timestamp: block.header.timestamp,
        }))
    }

    /// The newest block.
    pub async fn head(&self) -> Result<Head> {
        self.block(BlockNumberOrTag::Latest).await?.ok_or_else(|| DevChainError::Unexpected {
            what: "the latest block".to_owned(),
            reason: "there is none".to_owned(),
        })
    }

    /// Mines one block with this timestamp and these transactions, in this order.
    ///
    /// The timestamp must be later than the newest block's. Every transaction must succeed: the first one that reverts
    /// is returned as an error with the contract's reason (the block stays mined).
    pub async fn mine(&self, timestamp: u64, txs: &[Tx]) -> Result<Mined> {
        let nonces = self.nonces(txs).await?;
        let mut calls: Vec<(&str, Value)> = txs
            .iter()
            .zip(nonces)
            .map(|(tx, nonce)| ("eth_sendTransaction", json!([tx.request(nonce)])))
            .collect();
        calls.push(("evm_setNextBlockTimestamp", json!([timestamp])));
        let answers = self.rpc.batch(&calls).await?;
        let sent: Vec<B256> = answers
            .into_iter()
            .take(txs.len())
            .map(serde_json::from_value)
            .collect::<serde_json::Result<_>>()
            .map_err(|error| DevChainError::Unexpected {
                what: "eth_sendTransaction".to_owned(),
                reason: error.to_string(),
            })?;
        let _: Value = self.rpc("evm_mine", ()).await?;
        let head = self.head().await?;
        let receipts = self.receipts(head, txs, &sent).await?;
        Ok(Mined { number: head.number, hash: head.hash, timestamp: head.timestamp, receipts })
    }

    /// Mines one block with these transactions, one second after the newest.
    pub async fn mine_next(&self, txs: &[Tx]) -> Result<Mined> {
        let head = self.head().await?;
        self.mine(head.timestamp + 1, txs).await
    }

    /// Mines many transactions in as few blocks as possible, one second apart.
    pub async fn mine_all(&self, txs: &[Tx]) -> Result<Vec<Mined>> {
        let mut blocks = Vec::new();
        for part in txs.chunks(MAX_TXS_PER_BLOCK) {
            blocks.push(self.mine_next(part).await?);
        }
        Ok(blocks)
    }

    /// Takes a snapshot of the chain; pass the result to [`Self::revert`].
    pub async fn snapshot(&self) -> Result<U256> {
        self.rpc("evm_snapshot", ()).await
    }

    /// Reverts the chain to a snapshot, which can be used only once.
    pub async fn revert(&self, snapshot: U256) -> Result<()> {
        let reverted: bool = self.rpc("evm_revert", (snapshot,)).await?;
        if reverted {
            return Ok(());
        }
        Err(DevChainError::Unexpected {
            what: format!("evm_revert to {snapshot}"),
            reason: "the node knows no such snapshot".to_owned(),
        })
    }

    /// Replaces the newest `depth` blocks by as many empty ones with other hashes.
    ///
    /// The effects of their transactions are undone. The node chooses the new timestamps, each no later than the
    /// replaced block's. Returns the new head. For a reorganization with other content, take a [`Self::snapshot`],
    /// mine, [`Self::revert`] and mine something else.
    pub async fn reorg(&self, depth: u64) -> Result<Head> {
        let none: [(); 0] = [];
        let _: Value = self.rpc("anvil_reorg", (depth, none)).await?;
        self.head().await
    }

    /// Sets an account's balance to this many wei.
    pub async fn set_balance(&self, account: Address, wei: U256) -> Result<()> {
        let _: Value = self.rpc("anvil_setBalance", (account, wei)).await?;
        Ok(())
    }

    /// Puts runtime code at an address.
    pub async fn set_code(&self, account: Address, code: Bytes) -> Result<()> {
        let _: Value = self.rpc("anvil_setCode", (account, code)).await?;
        Ok(())
    }

    /// The runtime code at an address, empty for an account without code.
    pub async fn code(&self, account: Address) -> Result<Bytes> {
        self.rpc("eth_getCode", (account, "latest")).await
    }

    /// The next nonce of an account.
    pub async fn nonce(&self, account: Address) -> Result<u64> {
        let nonce: U64 = self.rpc("eth_getTransactionCount", (account, "latest")).await?;
        Ok(nonce.to())
    }

    /// The nonce of each transaction, counted from the sender's current nonce on the node.
    async fn nonces(&self, txs: &[Tx]) -> Result<Vec<u64>> {
        let mut next: BTreeMap<Address, u64> = BTreeMap::new();
        let mut nonces = Vec::with_capacity(txs.len());
        for tx in txs {
            if let std::collections::btree_map::Entry::Vacant(entry) = next.entry(tx.from) {
                entry.insert(self.nonce(tx.from).await?);
            }
            if let Some(nonce) = next.get_mut(&tx.from) {
                nonces.push(*nonce);
                *nonce += 1;
            }
        }
        Ok(nonces)
    }

    /// The receipts of `sent` in their order, all successful.
    async fn receipts(
        &self,
        head: Head,
        txs: &[Tx],
        sent: &[B256],
    ) -> Result<Vec<TransactionReceipt>> {
        if sent.is_empty() {
            return Ok(Vec::new());
        }
        let block = BlockNumberOrTag::Number(head.number);
        let mined: Option<Vec<TransactionReceipt>> =
            self.rpc("eth_getBlockReceipts", (block,)).await?;
        let mined = mined.unwrap_or_default();
        let mut by_hash: BTreeMap<B256, TransactionReceipt> =
            mined.into_iter().map(|receipt| (receipt.transaction_hash, receipt)).collect();
        let mut receipts = Vec::with_capacity(sent.len());
        for (index, hash) in sent.iter().enumerate() {
            let block = head.number;
            let receipt = by_hash.remove(hash).ok_or(DevChainError::NotMined { index, block })?;
            if !receipt.status() {
                let reason = self.revert_reason(&txs[index], block).await;
                return Err(DevChainError::Reverted { index, block, reason });
            }
            receipts.push(receipt);
        }
        Ok(receipts)
    }

    /// Replays a reverted transaction on the state before its block, to get the reason.
    async fn revert_reason(&self, tx: &Tx, block: u64) -> String {
        let mut request = tx.request(0);
        request.nonce = None;
        let before = BlockId::number(block.saturating_sub(1));
        let replayed: Result<Bytes> = self.rpc("eth_call", (request, before)).await;
        match replayed {
            Ok(_) => "it succeeds alone on the block before".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Keeps the sum of the transactions' gas limits below the block's.
const MAX_TXS_PER_BLOCK: usize = 500;
