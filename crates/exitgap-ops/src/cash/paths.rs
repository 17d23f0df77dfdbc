//! Which pools lie on a path from a token sold to cash, and which of many lie on the deepest ones.

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

/// Which pools lie on a path of at most three pools from a token sold to a cash token.
pub fn on_path(pairs: &[Pair], sold: &[Address], cash: &[Address]) -> Vec<bool> {
    let mut is_on_path = vec![false; pairs.len()];
    for token in sold {
        for (is_on_path, path) in is_on_path.iter_mut().zip(deepest(pairs, *token, cash)) {
            *is_on_path |= path.is_some();
        }
    }
    is_on_path
}

/// At most `most` pools, those on the deepest paths; every path is whole. First the deepest path of each token sold that
/// fits.
pub fn choose(pairs: &[Pair], sold: &[Address], cash: &[Address], most: usize) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    let mut add = |path: &[usize]| {
        let with: BTreeSet<usize> = chosen.iter().copied().chain(path.iter().copied()).collect();
        let fits = with.len() <= most;
        if fits {
            chosen = with;
        }
        fits
    };
    let mut others = Vec::new();
    for token in sold {
        let mut paths: Vec<Ranked> = ranked_paths(pairs, *token, cash);
        paths.sort_by_key(Ranked::key);
        paths.iter().any(|ranked| add(&ranked.path));
        others.append(&mut paths);
    }
    others.sort_by_key(Ranked::key);
    for ranked in others {
        add(&ranked.path);
    }
    chosen
}

/// The deepest path through a pool.
struct Ranked {
    depth: u64,
    own_depth: u64,
    pool: usize,
    path: Vec<usize>,
}

impl Ranked {
    /// The deepest path first; of equal ones that of the deepest pool, and then in the order of the pools.
    fn key(&self) -> (std::cmp::Reverse<u64>, std::cmp::Reverse<u64>, usize) {
        (std::cmp::Reverse(self.depth), std::cmp::Reverse(self.own_depth), self.pool)
    }
}

fn ranked_paths(pairs: &[Pair], token: Address, cash: &[Address]) -> Vec<Ranked> {
    let paths = deepest(pairs, token, cash).into_iter().enumerate();
    paths
        .filter_map(|(pool, path)| {
            let (depth, path) = path?;
            Some(Ranked { depth, own_depth: pairs[pool].depth, pool, path })
        })
        .collect()
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
        let found = on_path(&pairs, &[token(1)], &[token(9)]);
        // 1-2-3-9 has three pools; 1-2-3-4-9 has four; nothing leads to 5, and cash is not sold for 8.
        assert_eq!(found, [true, true, true, true, false, false, false, false, false]);
        assert_eq!(on_path(&pairs, &[token(7)], &[token(9)]), [false; 9]);
    }

    #[test]
    fn of_many_pools_those_on_the_deepest_whole_paths_are_chosen() {
        // The only pool that sells the token is the shallowest of thirty.
        let mut pairs: Vec<Pair> = (0..29).map(|number| pair([2, 9], 1_000 + number)).collect();
        pairs.push(pair([1, 2], 100));
        let chosen = choose(&pairs, &[token(1)], &[token(9)], 24);
        assert_eq!(chosen.len(), 24);
        assert!(chosen.contains(&29) && chosen.contains(&28) && !chosen.contains(&0));
        // A deep path of three pools comes before a shallow direct pool, and a path that does not fit is left out whole.
        let pairs = [pair([1, 9], 10), pair([1, 2], 500), pair([2, 3], 400), pair([3, 9], 600)];
        let chosen = |most| choose(&pairs, &[token(1)], &[token(9)], most);
        assert_eq!(chosen(4), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(chosen(3), BTreeSet::from([1, 2, 3]));
        assert_eq!(chosen(2), BTreeSet::from([0]));
        // Of pools whose depth is not known, some are chosen all the same.
        assert_eq!(choose(&[pair([1, 9], 0)], &[token(1)], &[token(9)], 24), BTreeSet::from([0]));
    }

    #[test]
    fn of_several_tokens_each_has_its_deepest_path_first() {
        // Token 1 has deep pools only; the one pool of token 2 is shallow.
        let mut pairs: Vec<Pair> = (0..5).map(|number| pair([1, 9], 1_000 + number)).collect();
        pairs.push(pair([2, 9], 1));
        let sold = [token(1), token(2)];
        assert_eq!(on_path(&pairs, &sold, &[token(9)]), [true; 6]);
        assert_eq!(choose(&pairs, &sold, &[token(9)], 2), BTreeSet::from([4, 5]));
        assert_eq!(choose(&pairs, &sold, &[token(9)], 4), BTreeSet::from([2, 3, 4, 5]));
        // A pool between two tokens that are sold lies on a path of one of them.
        pairs.push(pair([1, 2], 7));
        assert_eq!(on_path(&pairs, &sold, &[token(9)]), [true; 7]);
    }

    #[test]
    fn a_token_whose_deepest_path_does_not_fit_has_a_shorter_one() {
        // Token 1 takes three of the pools. The deepest path of token 2 would need three more.
        let mut pairs = vec![pair([1, 3], 900), pair([3, 4], 900), pair([4, 9], 900)];
        pairs.extend([pair([2, 5], 500), pair([5, 6], 500), pair([6, 9], 500), pair([2, 9], 10)]);
        let chosen = choose(&pairs, &[token(1), token(2)], &[token(9)], 5);
        assert_eq!(chosen, BTreeSet::from([0, 1, 2, 6]));
    }
}
