//! Which pools are read together: always those of one contract, and up to a maximum number.

use std::collections::BTreeMap;

use exitgap_core::ids::{ChainSlug, Contract, PoolId};
use sha2::{Digest, Sha256};

/// Pools of a chain that one recorder reads at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its name: the chain, and the common prefix of its contracts' hashes, as in `ethereum/01`.
    pub name: String,
    /// The chain.
    pub chain: ChainSlug,
    /// Its pools, in the order of the configuration.
    pub pools: Vec<PoolId>,
}

/// Maximum number of hash bits that distinguish shards: enough for more pools than any chain has.
const MOST_BITS: usize = 32;

impl Shard {
    /// The shards of a chain's pools: split by one bit of their contracts' hashes at a time until none has more than
    /// `most` pools, except for pools of one contract, which share its state. So an additional pool splits at most one
    /// shard, and all recorders compute the same shards.
    pub fn all_of(chain: &ChainSlug, pools: &[PoolId], most: u32) -> Vec<Self> {
        let mut contracts: BTreeMap<&Contract, usize> = BTreeMap::new();
        for pool in pools {
            *contracts.entry(pool.contract()).or_default() += 1;
        }
        let hashed = contracts.into_iter();
        let hashed =
            hashed.map(|(contract, pools)| HashedContract { bits: bits_of(contract), pools });
        let mut hashed: Vec<HashedContract> = hashed.collect();
        hashed.sort_unstable_by(|one, other| one.bits.cmp(&other.bits));
        let mut beginnings = Vec::new();
        split_shards(&hashed, 0, most.max(1) as usize, &mut beginnings);
        let shard = |beginning: &Vec<u8>| {
            let bits: String = beginning.iter().map(|bit| char::from(b'0' + bit)).collect();
            let name = if bits.is_empty() { chain.to_string() } else { format!("{chain}/{bits}") };
            Self { name, chain: chain.clone(), pools: Vec::new() }
        };
        let mut shards: Vec<Self> = beginnings.iter().map(shard).collect();
        for pool in pools {
            let bits = bits_of(pool.contract());
            // The prefixes are sorted, and none is a prefix of another.
            let place =
                beginnings.partition_point(|beginning| *beginning <= bits).saturating_sub(1);
            shards[place].pools.push(pool.clone());
        }
        shards
    }
}

/// The leading bits of a contract's hash.
fn bits_of(contract: &Contract) -> Vec<u8> {
    let digest = Sha256::digest(contract.to_string());
    let bits = digest.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.take(MOST_BITS).collect()
}

/// A contract, and its number of pools.
struct HashedContract {
    bits: Vec<u8>,
    pools: usize,
}

/// Adds the hash prefixes of the shards; the contracts are sorted, and their first `bits` are the same.
fn split_shards(
    hashed: &[HashedContract],
    bits: usize,
    most: usize,
    beginnings: &mut Vec<Vec<u8>>,
) {
    let Some(first) = hashed.first() else { return };
    let pools: usize = hashed.iter().map(|hashed| hashed.pools).sum();
    if pools <= most || hashed.len() == 1 || bits == MOST_BITS {
        beginnings.push(first.bits[..bits].to_vec());
        return;
    }
    let (zeros, ones) = hashed.split_at(hashed.partition_point(|hashed| hashed.bits[bits] == 0));
    split_shards(zeros, bits + 1, most, beginnings);
    split_shards(ones, bits + 1, most, beginnings);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pools(count: u32) -> Vec<PoolId> {
        (0..count).map(|n| format!("anvil:0x{n:040x}").parse().unwrap()).collect()
    }

    fn all_of(pools: &[PoolId], most: u32) -> Vec<Shard> {
        Shard::all_of(&"anvil".parse().unwrap(), pools, most)
    }

    #[test]
    fn every_pool_is_in_one_shard_and_none_is_too_large() {
        assert!(all_of(&[], 250).is_empty());
        let few = all_of(&pools(250), 250);
        assert_eq!(few.iter().map(|shard| &shard.name[..]).collect::<Vec<_>>(), ["anvil"]);
        for (count, most) in [(251, 250), (1_000, 7), (40, 1)] {
            let (pools, shards) = (pools(count), all_of(&pools(count), most));
            assert!(shards.iter().all(|shard| (1..=most as usize).contains(&shard.pools.len())));
            let mut found: Vec<PoolId> =
                shards.iter().flat_map(|shard| shard.pools.clone()).collect();
            found.sort();
            assert_eq!(found, pools);
            let names: BTreeSet<&String> = shards.iter().map(|shard| &shard.name).collect();
            assert_eq!(names.len(), shards.len());
        }
    }

    #[test]
    fn a_pool_more_divides_one_shard_at_most_and_a_contract_is_never_divided() {
        let before = all_of(&pools(1_000), 100);
        let mut more = pools(1_000);
        more.push("anvil:0xffffffffffffffffffffffffffffffffffffffff".parse().unwrap());
        let after = all_of(&more, 100);
        let kept = before.iter().filter(|shard| after.contains(shard)).count();
        assert_eq!(kept, before.len() - 1);
        let contract = "anvil:0x00000000000000000000000000000000000000aa";
        let siblings: Vec<PoolId> = ["0-1", "0-2", "1-2"]
            .map(|pair| format!("{contract}.{pair}").parse().unwrap())
            .to_vec();
        let shards = all_of(&siblings, 1);
        assert_eq!(shards.len(), 1);
        assert_eq!(shards[0].pools, siblings);
    }
}
