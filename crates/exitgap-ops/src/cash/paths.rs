//! Which pools lie on a path from the token sold to cash, and which of many lie on the deepest ones.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::exit::MAX_HOPS;
use exitgap_core::ids::Address;

/// The two tokens of a pool, and its depth in whole dollars, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub tokens: [Address; 2],
    pub depth: u64,
}

/// A direction of a pool in which a plan may sell there.
struct Arrow {
    pool: usize,
    from: Address,
    to: Address,
}

/// The depth of the shallowest pool on a path, and the last pool of it; none at its beginning.
type Step = (u64, Option<usize>);

/// The deepest paths of at most so many pools between an end and each token, by the number of pools.
struct Reach(Vec<BTreeMap<Address, Step>>);

/// The directions in which no cash is sold and the token sold is not bought.
fn arrows(pairs: &[Pair], sold: Address, cash: &[Address]) -> Vec<Arrow> {
    let directed = |(pool, pair): (usize, &Pair)| {
        let [one, other] = pair.tokens;
        [Arrow { pool, from: one, to: other }, Arrow { pool, from: other, to: one }]
    };
    let is_admissible =
        |arrow: &Arrow| !cash.contains(&arrow.from) && arrow.to != sold && arrow.from != arrow.to;
    pairs.iter().enumerate().flat_map(directed).filter(is_admissible).collect()
}

impl Reach {
    /// From the ends on, along steps of the form (pool, from, to).
    fn new(ends: &[Address], steps: &[(usize, Address, Address)], pairs: &[Pair]) -> Self {
        let mut levels = vec![ends.iter().map(|end| (*end, (u64::MAX, None))).collect()];
        for hops in 0..MAX_HOPS {
            let before: &BTreeMap<Address, Step> = &levels[hops];
            let mut level = before.clone();
            for (pool, from, to) in steps {
                let Some((depth, _)) = before.get(from) else { continue };
                let depth = (*depth).min(pairs[*pool].depth);
                if level.get(to).is_none_or(|(known, _)| *known < depth) {
                    level.insert(*to, (depth, Some(*pool)));
                }
            }
            levels.push(level);
        }
        Self(levels)
    }

    /// The pools of the deepest path of at most `hops` pools to a token.
    fn path(&self, hops: usize, to: Address, pairs: &[Pair]) -> Vec<usize> {
        let (mut pools, mut at) = (Vec::new(), to);
        for level in self.0[..=hops].iter().rev() {
            let Some((_, Some(pool))) = level.get(&at) else { break };
            pools.push(*pool);
            let [one, other] = pairs[*pool].tokens;
            at = if at == one { other } else { one };
        }
        pools
    }
}

/// The deepest path through each pool: the depth of its shallowest pool, and its pools. `None` for a pool on no path of
/// at most three pools.
fn deepest(pairs: &[Pair], sold: Address, cash: &[Address]) -> Vec<Option<(u64, Vec<usize>)>> {
    let arrows = arrows(pairs, sold, cash);
    let onward: Vec<_> = arrows.iter().map(|one| (one.pool, one.from, one.to)).collect();
    let backward: Vec<_> = arrows.iter().map(|one| (one.pool, one.to, one.from)).collect();
    let (reached, leading) =
        (Reach::new(&[sold], &onward, pairs), Reach::new(cash, &backward, pairs));
    let mut found: Vec<Option<(u64, Vec<usize>)>> = vec![None; pairs.len()];
    for Arrow { pool, from, to } in arrows {
        for before in 0..MAX_HOPS {
            let after = MAX_HOPS - 1 - before;
            let ends = reached.0[before].get(&from).zip(leading.0[after].get(&to));
            let Some(((first, _), (last, _))) = ends else { continue };
            let depth = pairs[pool].depth.min(*first).min(*last);
            if found[pool].as_ref().is_none_or(|(known, _)| *known < depth) {
                let mut path = reached.path(before, from, pairs);
                path.push(pool);
                path.extend(leading.path(after, to, pairs));
                found[pool] = Some((depth, path));
            }
        }
    }
    found
}

/// Which pools lie on a path of at most three pools from the token sold to a cash token.
pub fn on_path(pairs: &[Pair], sold: Address, cash: &[Address]) -> Vec<bool> {
    deepest(pairs, sold, cash).iter().map(Option::is_some).collect()
}

/// At most `most` pools, those on the deepest paths; every path is whole.
pub fn choose(pairs: &[Pair], sold: Address, cash: &[Address], most: usize) -> BTreeSet<usize> {
    let paths = deepest(pairs, sold, cash);
    let mut order: Vec<usize> = (0..pairs.len()).filter(|pool| paths[*pool].is_some()).collect();
    let rank = |pool: &usize| {
        let depth = paths[*pool].as_ref().map_or(0, |(depth, _)| *depth);
        (std::cmp::Reverse(depth), std::cmp::Reverse(pairs[*pool].depth), *pool)
    };
    order.sort_by_key(rank);
    let mut chosen = BTreeSet::new();
    for pool in order {
        let Some((_, path)) = &paths[pool] else { continue };
        let with: BTreeSet<usize> = chosen.iter().chain(path).copied().collect();
        if with.len() <= most {
            chosen = with;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(last: u8) -> Address {
        Address([last; 20])
    }

    fn pair([one, other]: [u8; 2], depth: u64) -> Pair {
        Pair { tokens: [token(one), token(other)], depth }
    }

    #[test]
    fn pools_count_that_are_on_a_path_of_at_most_three() {
        let pairs = [[1, 2], [2, 3], [3, 9], [1, 9], [3, 4], [4, 9], [5, 9], [5, 6], [9, 8]];
        let pairs = pairs.map(|tokens| pair(tokens, 0));
        let found = on_path(&pairs, token(1), &[token(9)]);
        // 1-2-3-9 has three pools; 1-2-3-4-9 has four; nothing leads to 5, and cash is not sold for 8.
        assert_eq!(found, [true, true, true, true, false, false, false, false, false]);
        assert_eq!(on_path(&pairs, token(7), &[token(9)]), [false; 9]);
    }

    #[test]
    fn of_many_pools_those_on_the_deepest_whole_paths_are_chosen() {
        // The only pool that sells the token is the shallowest of thirty.
        let mut pairs: Vec<Pair> = (0..29).map(|number| pair([2, 9], 1_000 + number)).collect();
        pairs.push(pair([1, 2], 100));
        let chosen = choose(&pairs, token(1), &[token(9)], 24);
        assert_eq!(chosen.len(), 24);
        assert!(chosen.contains(&29) && chosen.contains(&28) && !chosen.contains(&0));
        // A deep path of three pools comes before a shallow direct pool, and a path that does not fit is left out whole.
        let pairs = [pair([1, 9], 10), pair([1, 2], 500), pair([2, 3], 400), pair([3, 9], 600)];
        let chosen = |most| choose(&pairs, token(1), &[token(9)], most);
        assert_eq!(chosen(4), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(chosen(3), BTreeSet::from([1, 2, 3]));
        assert_eq!(chosen(2), BTreeSet::from([0]));
        // Of pools whose depth is not known, some are chosen all the same.
        assert_eq!(choose(&[pair([1, 9], 0)], token(1), &[token(9)], 24), BTreeSet::from([0]));
    }
}
