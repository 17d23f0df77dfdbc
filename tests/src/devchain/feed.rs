//! Chainlink feeds: a proxy to an aggregator whose answers one oracle account submits.

use alloy::eips::BlockId;
use alloy::primitives::{Address, I256, U256};
use alloy::sol_types::SolConstructor;
use serde::{Deserialize, Serialize};

use super::{DevChain, DevChainError, Mined, Result, Tx, abi};
use crate::fixtures::Artifact;

/// Wide enough for any price; the aggregator rejects answers outside its bounds.
const ANSWER_BOUND: u128 = 1 << 120;

/// A price feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feed {
    /// The proxy: the address consumers read.
    pub proxy: Address,
    /// The aggregator that receives the answers.
    pub aggregator: Address,
    /// A description such as `ETH / USD`.
    pub description: String,
    /// Decimals of the answers.
    pub decimals: u8,
}

impl DevChain {
    /// Creates feeds, each with an initial answer, in two blocks regardless of their number.
    pub async fn create_feeds(&self, kinds: &[(&str, u8, i128)]) -> Result<Vec<Feed>> {
        let aggregator_code = Artifact::FluxAggregator.creation_code()?;
        let proxy_code = Artifact::EacAggregatorProxy.creation_code()?;
        let operator = self.operator;
        let nonce = self.nonce(operator).await?;
        let mut txs = Vec::new();
        let mut feeds = Vec::new();
        for ((description, decimals, _), nonce) in kinds.iter().zip((nonce..).step_by(3)) {
            let feed = Feed {
                aggregator: operator.create(nonce),
                proxy: operator.create(nonce + 1),
                description: (*description).to_owned(),
                decimals: *decimals,
            };
            let aggregator = abi::Flux::constructorCall {
                // Answers are not paid for here, so the payment token is never called.
                link: Address::ZERO,
                paymentAmount: 0,
                timeout: 0,
                validator: Address::ZERO,
                minSubmissionValue: -bound(),
                maxSubmissionValue: bound(),
                decimals: *decimals,
                description: feed.description.clone(),
            };
            let proxy = abi::FeedProxy::constructorCall {
                aggregator: feed.aggregator,
                accessController: Address::ZERO,
            };
            let oracles = abi::Flux::changeOraclesCall {
                removed: Vec::new(),
                added: vec![self.oracle],
                addedAdmins: vec![operator],
                minSubmissions: 1,
                maxSubmissions: 1,
                restartDelay: 0,
            };
            txs.push(Tx::create(operator, &aggregator_code, &aggregator.abi_encode()));
            txs.push(Tx::create(operator, &proxy_code, &proxy.abi_encode()));
            txs.push(Tx::call(operator, feed.aggregator, &oracles));
            feeds.push(feed);
        }
        self.mine_all(&txs).await?;
        let answers: Vec<Tx> = feeds
            .iter()
            .zip(kinds)
            .map(|(feed, (_, _, answer))| self.answer_tx(feed, 1, *answer))
            .collect();
        self.mine_all(&answers).await?;
        Ok(feeds)
    }

    /// The transaction that submits an answer as the given round (1, 2, … without gaps).
    pub fn answer_tx(&self, feed: &Feed, round: u64, answer: i128) -> Tx {
        let submit = abi::Flux::submitCall {
            roundId: U256::from(round),
            submission: I256::try_from(answer).unwrap_or(I256::MAX),
        };
        Tx::call(self.oracle, feed.aggregator, &submit)
    }

    /// Submits an answer in a separate block, one second after the newest.
    ///
    /// Zero and negative answers are accepted, as by the real contract.
    pub async fn set_answer(&self, feed: &Feed, answer: i128) -> Result<Mined> {
        let round = self.latest_round(feed).await? + 1;
        self.mine_next(&[self.answer_tx(feed, round, answer)]).await
    }

    /// The aggregator's latest round (without the proxy's phase).
    pub async fn latest_round(&self, feed: &Feed) -> Result<u64> {
        let round =
            self.call(feed.aggregator, &abi::Flux::latestRoundCall {}, BlockId::latest()).await?;
        u64::try_from(round).map_err(|_| DevChainError::Unexpected {
            what: format!("latest round of {}", feed.description),
            reason: format!("{round}"),
        })
    }

    /// The proxy's answer to a consumer at a block.
    pub async fn latest_round_data(
        &self,
        feed: &Feed,
        at: BlockId,
    ) -> Result<abi::FeedProxy::latestRoundDataReturn> {
        self.call(feed.proxy, &abi::FeedProxy::latestRoundDataCall {}, at).await
    }
}

fn bound() -> I256 {
    I256::try_from(ANSWER_BOUND).unwrap_or(I256::MAX)
}
