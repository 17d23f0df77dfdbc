//! The chain of the faults of nodes: every pool of the development chain's scene, recorded through proxies, and once
//! more without them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use alloy::primitives::Address;
use exitgap_chain::{ChainReader, Limits};
use exitgap_core::ids::PoolId;
use exitgap_server::recorder::Recorder;
use tempfile::TempDir;

use super::nodes_front::{Front, Stage};
use super::nodes_recorder::Home;
use super::{Result, memory_folder};
use crate::demo::recorder_config;
use crate::devchain::{DevChain, World};

/// Blocks after which a slot's block is asked for again, and its logs are read: few, so that both happen all the time.
const CONFIRMATIONS: u32 = 4;

/// The chain, the nodes and the pools.
pub struct Scene {
    /// The chain, which is every node's.
    pub chain: DevChain,
    /// Its pools.
    pub world: World,
    /// The fault of the proxies.
    pub stage: Arc<Stage>,
    fronts: [Front; 2],
    folder: TempDir,
}

impl Scene {
    /// The scene, with nothing recorded.
    pub async fn new() -> Result<Self> {
        let (chain, world) = DevChain::standard().await?;
        let stage = Arc::new(Stage::default());
        let front = |place| Front::open(&chain.url(), place, &stage);
        let fronts = [front(0)?, front(1)?];
        Ok(Self { fronts, chain, world, stage, folder: memory_folder()? })
    }

    /// A recorder of two nodes, that compares their headers and logs with a third access to the second one.
    pub async fn with_two_nodes(&self) -> Result<Home> {
        let urls: Vec<String> = self.fronts.iter().map(Front::url).collect();
        let second = format!("second_rpc_url = \"{}\"\n", self.chain.url());
        self.home("two", &urls, &second).await
    }

    /// A recorder of one node.
    pub async fn with_one_node(&self) -> Result<Home> {
        self.home("one", &[self.fronts[0].url()], "").await
    }

    /// A recorder that no proxy disturbs.
    pub async fn undisturbed(&self) -> Result<(Home, Recorder<ChainReader>)> {
        let home = self.home("true", &[self.chain.url()], "").await?;
        let recorder = home.recorder(&Limits::default(), Duration::from_mins(1))?;
        Ok((home, recorder))
    }

    async fn home(&self, name: &str, urls: &[String], more: &str) -> Result<Home> {
        let genesis = self.chain.block(0.into()).await?.ok_or("the chain has no block 0")?.hash;
        let urls: Vec<String> = urls.iter().map(|url| format!("\"{url}\"")).collect();
        let of_chain = format!(
            "rpc_urls = [{}]\n{more}genesis_hash = \"{genesis:#x}\"\nconfirmations = {CONFIRMATIONS}\n",
            urls.join(", ")
        );
        let direct = format!("rpc_urls = [\"{}\"]\n", self.chain.url());
        let config = recorder_config(&self.chain, &self.world).replacen(&direct, &of_chain, 1);
        let folder: &Path = self.folder.path();
        Home::new(&folder.join(name), &config)
    }

    /// Each contract that is read, with the pools whose data is also that of the contract: the pool itself, a token, a
    /// price feed.
    pub fn contracts(&self) -> Vec<(Address, BTreeSet<PoolId>)> {
        let mut all: BTreeMap<Address, BTreeSet<PoolId>> = BTreeMap::new();
        for pool in &self.world.handles() {
            let Ok(id) = format!("anvil:{:#x}", pool.address).parse::<PoolId>() else { continue };
            let mut of = vec![pool.address];
            for token in [pool.token0, pool.token1] {
                let feed = self.world.asset(token).map(|asset| &asset.feed);
                of.extend([token]);
                of.extend(feed.into_iter().flat_map(|feed| [feed.proxy, feed.aggregator]));
            }
            for contract in of {
                all.entry(contract).or_default().insert(id.clone());
            }
        }
        all.into_iter().collect()
    }

    /// The contracts of pools.
    pub fn pools(&self) -> Vec<Address> {
        self.world.handles().iter().map(|pool| pool.address).collect()
    }
}
