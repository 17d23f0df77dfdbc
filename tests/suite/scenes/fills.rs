//! Real swaps on the development chain, and a recorder that reads them soon.

use std::fs;

use exitgap_tests::devchain::{DevChain, Tx, World};
use tempfile::TempDir;

use crate::scenes::service::{Recorded, configured_with, record_blocks};

/// A recorder's folder for a chain that is final after two blocks, with the node at this address and additional
/// configuration.
pub fn soon_final(chain: &DevChain, world: &World, url: &str, more: &str) -> TempDir {
    let folder = configured_with(chain, world, more);
    let path = folder.path().join("exitgap.toml");
    let text = fs::read_to_string(&path).unwrap();
    let chain_id = "chain_id = 31337\n";
    assert!(text.contains(chain_id));
    let text = text.replace(chain_id, "chain_id = 31337\nconfirmations = 2\n");
    fs::write(&path, text.replace(&chain.url(), url)).unwrap();
    folder
}

/// Records eleven slots, with swaps in the first seven.
pub async fn played(chain: &DevChain, world: World, url: &str, more: &str) -> Recorded {
    let folder = soon_final(chain, &world, url, more);
    let pool = world.pools[0].pool;
    let pair = world.pools[World::FIRST_V2].pool;
    let weth = &world.assets[World::WETH];
    let sell = |usd| chain.swap_tx(&pool, weth.token.address, weth.worth(usd));
    let happens = |place| -> Vec<Tx> {
        match place {
            1 => vec![sell(40_000)],
            2 => vec![chain.swap_tx(&pair, weth.token.address, weth.worth(9_000))],
            4 => vec![sell(60_000), sell(60_000)],
            6 => vec![sell(10_000)],
            _ => Vec::new(),
        }
    };
    let last = record_blocks(chain, &world, &folder, 11, happens).await;
    Recorded { folder, world, last }
}
