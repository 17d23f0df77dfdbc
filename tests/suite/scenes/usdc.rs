//! A chain with the payment token, a payer, and a key that pays fees.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alloy::primitives::{B256, Bytes, U256};
use exitgap_chain::config::{ChainConfig, Config, LogsCheck, Plan};
use exitgap_chain::settle::{Authorization, HotKey, TokenNode};
use exitgap_core::ids::{Address, Word};
use exitgap_tests::devchain::PrivateKeySigner;
use exitgap_tests::devchain::abi::TransferWithAuthorization;
use exitgap_tests::devchain::{Authorized, DevChain, Options, Usdc};
use tokio::time::Instant;

/// The id of Base Sepolia: signatures made here have no value on a chain with real coins.
pub const CHAIN_ID: u64 = 84_532;

/// The scene's price in units.
pub const PRICE: u64 = 10_000;

pub struct Scene {
    pub chain: DevChain,
    pub usdc: Usdc,
    pub payer: PrivateKeySigner,
    pub key: HotKey,
    pub key_file: PathBuf,
    pub pay_to: alloy::primitives::Address,
    _folder: tempfile::TempDir,
}

impl Scene {
    /// A chain with the current time, and a payer with ten thousand times the price.
    pub async fn new() -> Self {
        let scene = Self::begun(600).await;
        scene.chain.mine(now_s(), &[]).await.unwrap();
        scene
    }

    /// The same, but the chain's time is still at its genesis, this many seconds ago.
    pub async fn begun(ago_s: u64) -> Self {
        let genesis_timestamp = now_s() - ago_s;
        let options = Options { genesis_timestamp, chain_id: CHAIN_ID, ..Options::default() };
        let chain = DevChain::start(options).await.unwrap();
        let usdc = Usdc::deploy(&chain, CHAIN_ID).await.unwrap();
        let payer = PrivateKeySigner::from_slice(&[0x11; 32]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key_file = folder.path().join("hot-key");
        write_key(&key_file, 0x22);
        let key = HotKey::from_file(&key_file).unwrap();
        let coin = U256::from(10).pow(U256::from(18));
        chain.set_balance(key.address().0.into(), coin).await.unwrap();
        let fund = usdc.fund(&chain, payer.address(), 10_000 * PRICE);
        chain.mine_next(&[fund]).await.unwrap();
        let pay_to = alloy::primitives::Address::repeat_byte(0x77);
        Self { chain, usdc, payer, key, key_file, pay_to, _folder: folder }
    }

    /// The chain's configuration with these nodes.
    pub fn chain_config(urls: &[String]) -> ChainConfig {
        ChainConfig {
            slug: "pay".parse().unwrap(),
            chain_id: CHAIN_ID,
            rpc_urls: urls.iter().map(|url| url.parse().unwrap()).collect(),
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
        }
    }

    /// The token through these nodes.
    pub fn node_behind(&self, urls: &[String]) -> TokenNode {
        let config = Config { chain: vec![Self::chain_config(urls)], ..Config::default() };
        let plan = Plan::new(&config).unwrap();
        TokenNode::new(&plan.chains()[0], own(self.usdc.address)).unwrap()
    }

    pub fn node(&self) -> TokenNode {
        self.node_behind(&[self.chain.url()])
    }

    /// The message that the payer would sign for the price, valid for two minutes.
    pub fn message(&self, nonce: u8) -> TransferWithAuthorization {
        TransferWithAuthorization {
            from: self.payer.address(),
            to: self.pay_to,
            value: U256::from(PRICE),
            validAfter: U256::ZERO,
            validBefore: U256::from(now_s() + 120),
            nonce: B256::repeat_byte(nonce),
        }
    }

    pub fn authorized(&self, nonce: u8) -> Authorized {
        self.usdc.authorize(&self.payer, self.message(nonce))
    }

    /// The payee's income in units.
    pub async fn paid(&self) -> u64 {
        self.usdc.balance(&self.chain, self.pay_to).await.unwrap().to()
    }

    /// Mines the pending transactions.
    pub async fn mine_pending(&self) {
        let _: serde_json::Value = self.chain.rpc("evm_mine", ()).await.unwrap();
    }
}

/// Writes a key that only its owner may read.
pub fn write_key(path: &Path, byte: u8) {
    std::fs::write(path, format!("0x{}\n", format!("{byte:02x}").repeat(32))).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

pub fn own(address: alloy::primitives::Address) -> Address {
    Address(address.into_array())
}

/// The authorization in the form that the service stores.
pub fn settled_as(authorized: &Authorized) -> Authorization {
    let message = &authorized.message;
    Authorization {
        from: own(message.from),
        to: own(message.to),
        value: message.value.to(),
        valid_after_s: message.validAfter.to(),
        valid_before_s: message.validBefore.to(),
        nonce: Word(message.nonce.0),
        signature: authorized.signature.to_vec(),
    }
}

/// The same signature with the high `s` value that Ethereum forbids.
pub fn with_high_s(signature: &[u8]) -> Bytes {
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let s = U256::from_be_slice(&signature[32..64]);
    let high = U256::from_str_radix(order, 16).unwrap() - s;
    let v = if signature[64] == 27 { 28 } else { 27 };
    [&signature[..32], &high.to_be_bytes::<32>(), &[v]].concat().into()
}
