//! Chainlink feeds, read through their proxies.

use std::collections::BTreeMap;

use alloy::primitives::I256;
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{
    ObservationError, OracleReading, OracleRole, OracleSource, RoundData,
};

use crate::abi::{Answer, Call, Feed};
use crate::config::{FeedPlan, OraclePlan, PoolPlan, SequencerPlan};
use crate::read_failure::ReadFailure;

/// A feed's answer at the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeedAnswer {
    pub(crate) answer: U256,
    pub(crate) decimals: u8,
    pub(crate) round: u128,
    pub(crate) updated_at: u64,
}

/// The feeds of these pools, without duplicates.
pub(crate) fn feeds_of<'a>(pools: impl Iterator<Item = &'a PoolPlan>) -> Vec<Address> {
    let mut feeds: Vec<Address> = pools
        .flat_map(|pool| &pool.oracles)
        .filter_map(|oracle| match oracle.feed {
            FeedPlan::Chainlink { feed, .. } => Some(feed),
            FeedPlan::Fixed { .. } => None,
        })
        .collect();
    feeds.sort_unstable();
    feeds.dedup();
    feeds
}

/// The calls that read one feed, [`FEED_CALLS`] in number.
pub(crate) fn calls(feed: Address) -> [Call; FEED_CALLS] {
    [Call::new(feed, &Feed::latestRoundDataCall {}, 5), Call::new(feed, &Feed::decimalsCall {}, 1)]
}

/// The number of calls per feed.
pub(crate) const FEED_CALLS: usize = 2;

/// The decoded answers to [`calls`].
struct Round {
    data: Feed::latestRoundDataReturn,
    decimals: u8,
}

fn round_of(feed: Address, answers: &[Answer]) -> Result<Round, ReadFailure> {
    let [round, decimals] = answers else {
        return Err(invalid(feed, "was queried incorrectly"));
    };
    for (answer, call) in [(round, "latestRoundData"), (decimals, "decimals")] {
        if *answer == Answer::Reverted {
            let detail = format!("feed {feed}: {call} reverted");
            return Err(ReadFailure::new(MissingReason::CallReverted, detail));
        }
    }
    let data = round
        .exact::<Feed::latestRoundDataCall>(5)
        .ok_or_else(|| invalid(feed, &format!("latestRoundData {}", round.in_words())))?;
    let decimals = decimals
        .exact::<Feed::decimalsCall>(1)
        .ok_or_else(|| invalid(feed, &format!("decimals {}", decimals.in_words())))?;
    Ok(Round { data, decimals })
}

/// Decodes the answers to [`calls`] for a price feed.
pub(crate) fn decode(feed: Address, answers: &[Answer]) -> Result<FeedAnswer, ReadFailure> {
    let Round { data, decimals } = round_of(feed, answers)?;
    if data.answer <= I256::ZERO {
        return Err(invalid(feed, &format!("returned {}", data.answer)));
    }
    let updated_at = u64::try_from(data.updatedAt).map_err(|_| {
        invalid(feed, &format!("was updated at the invalid time {}", data.updatedAt))
    })?;
    let answer = data.answer.into_raw();
    Ok(FeedAnswer { answer, decimals, round: data.roundId.to(), updated_at })
}

fn invalid(feed: Address, what: &str) -> ReadFailure {
    ReadFailure::new(MissingReason::OracleInvalid, format!("feed {feed} {what}"))
}

/// Decodes the answers to [`calls`] for a sequencer's feed: 0 up or 1 down, and since when.
pub(crate) fn decode_sequencer(
    plan: SequencerPlan,
    answers: &[Answer],
) -> Result<OracleReading, ReadFailure> {
    let SequencerPlan { feed, grace_s } = plan;
    let in_words = |missing: ReadFailure| ReadFailure {
        detail: format!("sequencer uptime: {}", missing.detail),
        ..missing
    };
    let round = round_of(feed, answers).map_err(in_words)?;
    let wrong = |what: String| in_words(invalid(feed, &what));
    let answer = u8::try_from(round.data.answer).ok().filter(|answer| *answer <= 1);
    let answer = answer.ok_or_else(|| wrong(format!("returned {}", round.data.answer)))?;
    if round.decimals != 0 {
        return Err(wrong(format!("has {} decimals", round.decimals)));
    }
    let since = u64::try_from(round.data.startedAt);
    let since =
        since.map_err(|_| wrong(format!("has the invalid start time {}", round.data.startedAt)))?;
    let source = OracleSource::Chainlink(RoundData {
        feed,
        round: round.data.roundId.to(),
        updated_at: since,
        heartbeat_s: grace_s,
    });
    let role = OracleRole::SequencerUptime;
    Ok(OracleReading { role, answer: U256::from(answer), decimals: 0, source })
}

/// The readings of a contract's tokens, each with its own result.
pub(crate) struct Readings {
    of_tokens: BTreeMap<OracleRole, Result<Vec<OracleReading>, ReadFailure>>,
}

impl Readings {
    /// The readings of these pools of one contract. Pools that share a token name the same oracles for it.
    pub(crate) fn from_answers<'a>(
        pools: impl Iterator<Item = &'a PoolPlan>,
        answers: &BTreeMap<Address, Result<FeedAnswer, ReadFailure>>,
        check: impl Fn(&OracleReading) -> Result<(), ObservationError>,
    ) -> Self {
        let mut of_tokens: BTreeMap<OracleRole, Result<Vec<OracleReading>, ReadFailure>> =
            BTreeMap::new();
        for pool in pools {
            let mut of_pool: BTreeMap<OracleRole, Result<Vec<OracleReading>, ReadFailure>> =
                BTreeMap::new();
            for oracle in &pool.oracles {
                let read = build_reading(oracle, answers).and_then(|reading| {
                    check(&reading).map_err(|error| {
                        ReadFailure::new(error.missing_reason(), error.to_string())
                    })?;
                    Ok(reading)
                });
                let token = of_pool.entry(oracle.role).or_insert_with(|| Ok(Vec::new()));
                match (token, read) {
                    (Ok(readings), Ok(reading)) => readings.push(reading),
                    (token @ Ok(_), Err(missing)) => *token = Err(missing),
                    (Err(_), _) => {}
                }
            }
            of_tokens.extend(of_pool);
        }
        Self { of_tokens }
    }

    /// All readings for the contract's snapshot, if the pool's own two tokens could be read.
    pub(crate) fn for_pool(&self, pool: &PoolPlan) -> Result<Vec<OracleReading>, ReadFailure> {
        for oracle in &pool.oracles {
            if let Some(Err(missing)) = self.of_tokens.get(&oracle.role) {
                return Err(missing.clone());
            }
        }
        Ok(self.of_tokens.values().flatten().flatten().cloned().collect())
    }
}

fn build_reading(
    oracle: &OraclePlan,
    answers: &BTreeMap<Address, Result<FeedAnswer, ReadFailure>>,
) -> Result<OracleReading, ReadFailure> {
    let (feed, heartbeat_s) = match oracle.feed {
        FeedPlan::Fixed { answer, decimals } => {
            let source = OracleSource::Fixed;
            return Ok(OracleReading { role: oracle.role, answer, decimals, source });
        }
        FeedPlan::Chainlink { feed, heartbeat_s } => (feed, heartbeat_s),
    };
    let said = answers
        .get(&feed)
        .cloned()
        .unwrap_or_else(|| Err(invalid(feed, "was not queried")))
        .map_err(|missing| ReadFailure {
            detail: format!("oracle {:?}: {}", oracle.name, missing.detail),
            ..missing
        })?;
    let FeedAnswer { answer, decimals, round, updated_at } = said;
    let source = OracleSource::Chainlink(RoundData { feed, round, updated_at, heartbeat_s });
    Ok(OracleReading { role: oracle.role, answer, decimals, source })
}

#[cfg(test)]
mod tests {
    use alloy::primitives::Bytes;
    use alloy::sol_types::SolValue;

    use super::*;

    const FEED: Address = Address([5; 20]);

    fn said(answer: i64, updated_at: U256, decimals: U256) -> Result<FeedAnswer, ReadFailure> {
        let answer = I256::try_from(answer).unwrap();
        let round = (U256::from(3), answer, U256::ZERO, updated_at, U256::from(3)).abi_encode();
        let returned = |data: Vec<u8>| Answer::Returned(Bytes::from(data));
        decode(FEED, &[returned(round), returned(decimals.abi_encode())])
    }

    #[test]
    fn a_sequencer_is_up_or_down_since_when_it_says() {
        let plan = SequencerPlan { feed: FEED, grace_s: 3_600 };
        let said = |answer: i64, started_at: u64, decimals: u64| {
            let (answer, none) = (I256::try_from(answer).unwrap(), U256::ZERO);
            let round = (U256::from(3), answer, U256::from(started_at), none, none).abi_encode();
            let returned = |data: Vec<u8>| Answer::Returned(Bytes::from(data));
            let answers = [returned(round), returned(U256::from(decimals).abi_encode())];
            decode_sequencer(plan, &answers)
        };
        for answer in [0_u8, 1] {
            let reading = said(answer.into(), 1_000, 0).unwrap();
            let OracleSource::Chainlink(round) = &reading.source else { panic!("a feed") };
            assert_eq!(reading.role, OracleRole::SequencerUptime);
            assert_eq!(reading.answer, U256::from(answer));
            assert_eq!((round.updated_at, round.heartbeat_s), (1_000, 3_600));
        }
        for wrong in [said(2, 1, 0), said(-1, 1, 0), said(0, 1, 8)] {
            assert_eq!(wrong.unwrap_err().reason, MissingReason::OracleInvalid);
        }
    }

    #[test]
    fn an_answer_that_is_no_price_is_invalid() {
        let eight = U256::from(8);
        let good = said(250_000_000_000, U256::from(1_000), eight).unwrap();
        assert_eq!(
            (good.answer, good.round, good.updated_at),
            (U256::from(250_000_000_000_u64), 3, 1_000)
        );
        for wrong in [
            said(0, U256::from(1), eight),
            said(-1, U256::from(1), eight),
            said(1, U256::MAX, eight),
            said(1, U256::from(1), U256::from(256)),
            decode(FEED, &[Answer::Returned(Bytes::new()), Answer::Returned(Bytes::new())]),
        ] {
            assert_eq!(wrong.unwrap_err().reason, MissingReason::OracleInvalid);
        }
        let reverted = decode(FEED, &[Answer::Reverted, Answer::Reverted]).unwrap_err();
        assert_eq!(reverted.reason, MissingReason::CallReverted);
    }
}
