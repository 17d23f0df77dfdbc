//! The node with the protocols on it: mining, calls, time, snapshots and reorganisations.

use std::collections::BTreeMap;
use std::fmt::Display;

use alloy::eips::{BlockId, BlockNumberOrTag};
use alloy::primitives::{Address, B256, Bytes, U256};
use alloy::providers::{Provider, RootProvider};
use alloy::rpc::client::BatchRequest;
use alloy::rpc::json_rpc::{RpcRecv, RpcSend};
use alloy::rpc::types::{TransactionReceipt, TransactionRequest};
use alloy::sol_types::SolCall;

use super::anvil::Anvil;
use super::{Contracts, DevChainError, FIRST_SLOT, Mined, Result, SLOT_SECONDS, Tx};

/// How the chain is started. Fields may be set on [`Options::default`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Timestamp of block 0 in unix seconds. Default: one hour before the recorded series begins;
    /// set-up takes a few dozen blocks, one second apart.
    pub genesis_timestamp: u64,
    /// Chain id. Default 31337; another one stands in for a node of the wrong chain.
    pub chain_id: u64,
    /// How many recent blocks keep their state; older ones are refused, as a pruned node does.
    /// Default `None`: all of them.
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
    provider: RootProvider,
    /// Deploys everything, and provides the liquidity.
    pub operator: Address,
    /// Submits the feeds' answers.
    pub oracle: Address,
    /// Trades.
    pub trader: Address,
    /// Where the protocols' contracts are.
    pub contracts: Contracts,
}

impl DevChain {
    /// Starts a node and deploys the protocols. Ready in a fraction of a second.
    pub async fn start(options: Options) -> Result<Self> {
        let anvil = tokio::task::spawn_blocking(move || Anvil::spawn(&options))
            .await
            .map_err(|error| DevChainError::NotListening { reason: error.to_string() })??;
        let url = anvil.url();
        let parsed = url
            .parse()
            .map_err(|error| DevChainError::NotListening { reason: format!("{url}: {error}") })?;
        let provider = RootProvider::new_http(parsed);
        let accounts: Vec<Address> = provider
            .raw_request("eth_accounts".into(), ())
            .await
            .map_err(|error| rpc_error("eth_accounts", &error))?;
        let account = |index: usize| {
            accounts.get(index).copied().ok_or_else(|| DevChainError::Unexpected {
                what: "eth_accounts".to_owned(),
                reason: format!("{} accounts", accounts.len()),
            })
        };
        let mut chain = Self {
            anvil,
            provider,
            operator: account(0)?,
            oracle: account(1)?,
            trader: account(2)?,
            contracts: Contracts::of_deployer(account(0)?),
        };
        chain.contracts = Contracts::deploy(&chain).await?;
        Ok(chain)
    }

    /// The HTTP address of the node's JSON-RPC.
    pub fn url(&self) -> String {
        self.anvil.url()
    }

    /// The node's process id, for tests that stop or kill it.
    pub fn process_id(&self) -> u32 {
        self.anvil.process_id()
    }

    /// The alloy provider on the node, for whatever has no method here.
    pub fn provider(&self) -> &RootProvider {
        &self.provider
    }

    /// Any request to the node, `anvil_…` and `evm_…` included.
    pub async fn rpc<P: RpcSend, R: RpcRecv>(&self, method: &'static str, params: P) -> Result<R> {
        self.provider
            .raw_request(method.into(), params)
            .await
            .map_err(|error| rpc_error(method, &error))
    }

    /// A read-only call at a block (`BlockId::latest()`, a number, or a hash).
    pub async fn call<C: SolCall>(&self, to: Address, call: &C, at: BlockId) -> Result<C::Return> {
        let request = TransactionRequest::default().to(to).input(call.abi_encode().into());
        let bytes = self
            .provider
            .call(request)
            .block(at)
            .await
            .map_err(|error| rpc_error(C::SIGNATURE, &error))?;
        C::abi_decode_returns(&bytes).map_err(|error| DevChainError::Unexpected {
            what: format!("{} of {to}", C::SIGNATURE),
            reason: error.to_string(),
        })
    }

    /// A block's identity; `None` when there is no such block.
    pub async fn block(&self, at: BlockNumberOrTag) -> Result<Option<Head>> {
        let block = self
            .provider
            .get_block_by_number(at)
            .await
            .map_err(|error| rpc_error("eth_getBlockByNumber", &error))?;
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

    /// Mines one block with this timestamp, holding these transactions in this order.
    ///
    /// The timestamp must be later than the newest block's. Every transaction must succeed: the
    /// first that reverted is an error with the contract's reason (the block stays mined).
    pub async fn mine(&self, timestamp: u64, txs: &[Tx]) -> Result<Mined> {
        let nonces = self.nonces(txs).await?;
        let client = self.provider.client();
        let mut batch = BatchRequest::new(client);
        let mut hashes = Vec::with_capacity(txs.len());
        for (tx, nonce) in txs.iter().zip(nonces) {
            let sent = batch
                .add_call::<_, B256>("eth_sendTransaction", &(tx.request(nonce),))
                .map_err(|error| rpc_error("eth_sendTransaction", &error))?;
            hashes.push(sent);
        }
        let stamped = batch
            .add_call::<_, serde_json::Value>("evm_setNextBlockTimestamp", &(timestamp,))
            .map_err(|error| rpc_error("evm_setNextBlockTimestamp", &error))?;
        batch.send().await.map_err(|error| rpc_error("a batch of transactions", &error))?;
        let mut sent = Vec::with_capacity(txs.len());
        for hash in hashes {
            sent.push(hash.await.map_err(|error| rpc_error("eth_sendTransaction", &error))?);
        }
        stamped.await.map_err(|error| rpc_error("evm_setNextBlockTimestamp", &error))?;
        let _: serde_json::Value = self.rpc("evm_mine", ()).await?;
        let head = self.head().await?;
        let receipts = self.receipts(head, txs, &sent).await?;
        Ok(Mined { number: head.number, hash: head.hash, timestamp: head.timestamp, receipts })
    }

    /// Mines one block, one second after the newest, holding these transactions.
    pub async fn mine_next(&self, txs: &[Tx]) -> Result<Mined> {
        let head = self.head().await?;
        self.mine(head.timestamp + 1, txs).await
    }

    /// Mines many transactions in as few blocks as their number allows, one second apart.
    pub async fn mine_all(&self, txs: &[Tx]) -> Result<Vec<Mined>> {
        let mut blocks = Vec::new();
        for part in txs.chunks(MAX_TXS_PER_BLOCK) {
            blocks.push(self.mine_next(part).await?);
        }
        Ok(blocks)
    }

    /// Remembers the chain as it is; give the answer to [`Self::revert`].
    pub async fn snapshot(&self) -> Result<U256> {
        self.rpc("evm_snapshot", ()).await
    }

    /// Takes the chain back to a snapshot, which is used up by it.
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
    /// What their transactions did is undone. The node chooses the new timestamps, each no later
    /// than its replaced block's. Returns the new head. For a reorganisation with other content,
    /// take a [`Self::snapshot`], mine, [`Self::revert`] and mine something else.
    pub async fn reorg(&self, depth: u64) -> Result<Head> {
        let none: [(); 0] = [];
        let _: serde_json::Value = self.rpc("anvil_reorg", (depth, none)).await?;
        self.head().await
    }

    /// Gives an account this many wei.
    pub async fn set_balance(&self, account: Address, wei: U256) -> Result<()> {
        let _: serde_json::Value = self.rpc("anvil_setBalance", (account, wei)).await?;
        Ok(())
    }

    /// Puts runtime code at an address.
    pub async fn set_code(&self, account: Address, code: Bytes) -> Result<()> {
        let _: serde_json::Value = self.rpc("anvil_setCode", (account, code)).await?;
        Ok(())
    }

    /// The runtime code at an address, empty for an account without code.
    pub async fn code(&self, account: Address) -> Result<Bytes> {
        self.rpc("eth_getCode", (account, "latest")).await
    }

    /// The next nonce of an account.
    pub async fn nonce(&self, account: Address) -> Result<u64> {
        self.provider
            .get_transaction_count(account)
            .await
            .map_err(|error| rpc_error("eth_getTransactionCount", &error))
    }

    /// The nonce of each transaction, counted on from what the node knows of its sender.
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
        let mined = self
            .provider
            .get_block_receipts(BlockId::number(head.number))
            .await
            .map_err(|error| rpc_error("eth_getBlockReceipts", &error))?
            .unwrap_or_default();
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

    /// Replays a reverted transaction on the state before its block, to hear why.
    async fn revert_reason(&self, tx: &Tx, block: u64) -> String {
        let mut request = tx.request(0);
        request.nonce = None;
        let replayed =
            self.provider.call(request).block(BlockId::number(block.saturating_sub(1))).await;
        match replayed {
            Ok(_) => "it succeeds alone on the block before".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Keeps the sum of the transactions' gas limits below the block's.
const MAX_TXS_PER_BLOCK: usize = 500;

/// An error of the provider, with what was asked.
pub(super) fn rpc_error(what: &str, error: &impl Display) -> DevChainError {
    DevChainError::Rpc { what: what.to_owned(), message: error.to_string() }
}
