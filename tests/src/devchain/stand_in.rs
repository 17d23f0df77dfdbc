//! A contract that returns recorded answers: for contracts that no package contains, in tests of how they are read and
//! not of how they compute.

use alloy::primitives::{Address, B256, Bytes, U256, hex, keccak256};
use alloy::sol_types::SolCall;
use serde_json::{Value, json};

use super::{DevChain, Result};

/// Answers a call with the words stored under the hash of its data. Reverts if nothing is stored.
const CODE: [u8; 52] = hex!(
    "365f5f37 365f20 8054 8015 6030 57 5f"
    "5b 8181 10 15 6029 57 8281 01 6001 01 54 81 6005 1b 52 6001 01 600f 56"
    "5b 50 6005 1b 5f f3"
    "5b 5f 5f fd"
);

/// A contract that returns configured answers.
#[derive(Debug, Clone, Copy)]
pub struct StandIn {
    /// Its address.
    pub address: Address,
}

impl DevChain {
    /// Installs a stand-in at this address.
    pub async fn stand_in(&self, address: Address) -> Result<StandIn> {
        self.set_code(address, Bytes::from_static(&CODE)).await?;
        Ok(StandIn { address })
    }

    /// Sets its answer to this call.
    pub async fn answer<C: SolCall>(
        &self,
        stand_in: StandIn,
        call: &C,
        answer: &C::Return,
    ) -> Result<()> {
        let words = C::abi_encode_returns(answer);
        self.store_answer(stand_in, call, &words).await
    }

    /// Makes it revert for this call.
    pub async fn revert_call<C: SolCall>(&self, stand_in: StandIn, call: &C) -> Result<()> {
        self.store_answer(stand_in, call, &[]).await
    }

    async fn store_answer<C: SolCall>(
        &self,
        stand_in: StandIn,
        call: &C,
        words: &[u8],
    ) -> Result<()> {
        let place = U256::from_be_bytes(keccak256(call.abi_encode()).0);
        let count = U256::from(words.len() / 32);
        let mut stored = vec![(place, B256::from(count))];
        for (index, word) in words.chunks_exact(32).enumerate() {
            let at = place.wrapping_add(U256::from(1 + index));
            stored.push((at, B256::from_slice(word)));
        }
        for (at, word) in stored {
            let params = json!([stand_in.address, B256::from(at), word]);
            let _: Value = self.rpc("anvil_setStorageAt", params).await?;
        }
        Ok(())
    }
}
