//! Accounts that are put in place instead of deployed: the code and the words of another chain's contracts.

use alloy::primitives::{Address, B256, hex};
use serde_json::json;

use super::contracts::place_multicall;
use super::{DevChain, Options, Result};

/// Words that are set in one request.
const TOGETHER: usize = 500;

/// The code of an aggregator of prices whose words are those of Chainlink's off-chain reporting, first version: the
/// newest round's number in word 43, and rounds in the mapping at 44. No package has that aggregator's own code.
///
/// It answers `decimals` with 8, and `latestRoundData` with the newest round. Other calls revert.
pub const OCR_AGGREGATOR: [u8; 88] = hex!(
    "5f35 60e01c" "80 63313ce567 14 601c57" "80 63feaf968c 14 6025 57" "5f5ffd" // what is asked
    "5b 6008 5f52 6020 5ff3" // decimals
    "5b 602b54 60b01c 63ffffffff16" // the newest round
    "80 5f52 80 6080 52" "602c 6020 52 6040 5f20 54" // its word
    "80 6017 0b 6020 52" "60c01c 80 6040 52 6060 52" "60a0 5ff3" // its answer, with its sign, and its time
);

impl DevChain {
    /// Starts a node that has Multicall3 and no other contract.
    pub async fn bare(options: Options) -> Result<Self> {
        let chain = Self::without_contracts(options).await?;
        place_multicall(&chain).await?;
        Ok(chain)
    }

    /// Sets words of an account's storage, by their slots.
    pub async fn set_words(&self, account: Address, words: &[(B256, B256)]) -> Result<()> {
        for words in words.chunks(TOGETHER) {
            let calls: Vec<_> = words
                .iter()
                .map(|(slot, word)| ("anvil_setStorageAt", json!([account, slot, word])))
                .collect();
            self.batch(&calls).await?;
        }
        Ok(())
    }
}
