//! The chain that most tests start from: created once, then loaded.

use std::fs;
use std::path::Path;

use super::{DevChain, DevChainError, Options, Result, World};
use crate::saved::Fixture;

/// The node's state with all its blocks, as the node itself wrote it.
const STATE: &str = "state.hex";

/// The addresses of the scene's contracts.
const WORLD: &str = "world.json";

impl DevChain {
    /// A node with [`Options::default`] and the [`World`]: the same blocks, hashes, states and receipts as
    /// [`Self::start`] and [`World::deploy`] produce.
    ///
    /// The first call in a build creates them and saves the node's state; every call loads that state into a separate
    /// node, in a fraction of a second.
    pub async fn standard() -> Result<(Self, World)> {
        let fixture = Fixture::lock("standard-chain").map_err(DevChainError::Saved)?;
        if let Some(unfinished) = &fixture.unfinished {
            play(unfinished).await?;
        }
        let folder = fixture.finish().map_err(DevChainError::Saved)?;
        let read = |name| fs::read_to_string(folder.join(name)).map_err(DevChainError::Saved);
        let world = serde_json::from_str(&read(WORLD)?).map_err(|error| unreadable(&error))?;
        let chain = Self::without_contracts(Options::default()).await?;
        let loaded: bool = chain.rpc("anvil_loadState", (read(STATE)?,)).await?;
        if loaded { Ok((chain, world)) } else { Err(unreadable(&"the node refused it")) }
    }
}

async fn play(folder: &Path) -> Result<()> {
    let chain = DevChain::start(Options::default()).await?;
    let world = World::deploy(&chain).await?;
    // `true`: with the states of earlier blocks, which tests read.
    let state: String = chain.rpc("anvil_dumpState", (true,)).await?;
    let world = serde_json::to_string(&world).map_err(|error| unreadable(&error))?;
    let write = |name, text| fs::write(folder.join(name), text);
    fs::create_dir(folder)
        .and_then(|()| write(STATE, state))
        .and_then(|()| write(WORLD, world))
        .map_err(DevChainError::Saved)
}

fn unreadable(error: &dyn std::fmt::Display) -> DevChainError {
    DevChainError::Unexpected { what: "the saved chain".to_owned(), reason: error.to_string() }
}
