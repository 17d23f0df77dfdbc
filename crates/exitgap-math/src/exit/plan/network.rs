//! The pools of a network and the directions that count: those on a path of at most three pools from a token sold to a
//! cash token.

use super::values::{Sale, Worth};
use super::{MAX_CASH_TOKENS, MAX_HOPS, MAX_NETWORK_POOLS, MAX_SOLD_TOKENS};
use crate::exit::{Exits, PricedPool};
use crate::ids::{Address, PoolId};
use crate::pools::{Direction, SaleCurve};
use crate::units::{SizeUsd, UsdMicros, UsdPrice};
use crate::wide::U256;

/// A pool of a network.
#[derive(Debug, Clone)]
pub struct NetworkPool<'a> {
    /// Its name.
    pub pool: PoolId,
    /// Its token 0 and token 1.
    pub tokens: [Address; 2],
    /// Its state, with the decimals and prices of its tokens.
    pub priced: PricedPool<'a>,
    /// Its directions, prepared as far as they are needed. Copies share them.
    pub exits: Exits,
    /// Whether a plan may sell token 0, and token 1, here.
    pub may_sell: [bool; 2],
}

impl<'a> NetworkPool<'a> {
    /// A pool of which nothing is prepared or reserved.
    pub fn new(pool: PoolId, tokens: [Address; 2], priced: PricedPool<'a>) -> Self {
        Self { pool, tokens, priced, exits: Exits::default(), may_sell: [true; 2] }
    }

    /// The curve of a direction, prepared when it is first needed.
    pub(super) fn curve(&self, direction: Direction) -> &SaleCurve {
        self.exits.get_or_prepare(self.priced, direction).curve()
    }

    /// Whether no further unit pays more than the one before, except for rounding.
    pub(super) fn is_concave(&self, direction: Direction) -> bool {
        let curve = || self.curve(direction);
        self.priced.state.has_closed_gain() || (curve().is_sized() && !curve().divides())
    }
}

/// A token sold, or one that counts as cash.
#[derive(Debug, Clone)]
pub struct ValuedToken {
    /// Its address.
    pub token: Address,
    pub(super) worth: Worth,
    /// Its number among the tokens.
    pub(super) at: usize,
}

/// Why pools are not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// There are no pools, or more than the maximum.
    #[error("{found} pools given; the number must be from 1 to {MAX_NETWORK_POOLS}")]
    Pools {
        /// The number of pools found.
        found: usize,
    },
    /// A pool is named twice.
    #[error("{pool} is named twice")]
    PoolTwice {
        /// The pool.
        pool: PoolId,
    },
    /// There are no cash tokens, or more than the maximum, or one is named twice or is sold.
    #[error("cash: must be 1 to {MAX_CASH_TOKENS} different tokens that are not sold")]
    Cash,
    /// No token is sold, or more than the maximum, or one is named twice.
    #[error("the tokens sold must be 1 to {MAX_SOLD_TOKENS} different ones")]
    Sold,
    /// No pool has this token.
    #[error("no pool trades {token}")]
    NoPool {
        /// A token sold, or a cash token.
        token: Address,
    },
    /// Two pools have different prices or decimals of a token sold or of a cash token.
    #[error(
        "{pool} has another oracle price or other decimals of {token} than the pools before it"
    )]
    PriceDiffers {
        /// The later pool.
        pool: PoolId,
        /// The token.
        token: Address,
    },
    /// A raw unit of the token is worth too much.
    #[error("a raw unit of {token} is worth more than any token")]
    Price {
        /// The token.
        token: Address,
    },
}

impl NetworkError {
    /// The stable code, for example `oracle_differs`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Pools { .. } => "pools_out_of_range",
            Self::PoolTwice { .. } => "pool_named_twice",
            Self::Cash => "cash_out_of_range",
            Self::Sold => "sold_out_of_range",
            Self::NoPool { .. } => "no_pool_of_token",
            Self::PriceDiffers { .. } => "oracle_differs",
            Self::Price { .. } => "price_out_of_range",
        }
    }
}

/// A direction of a pool that lies on a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub pool: usize,
    pub direction: Direction,
    /// The numbers of the token sold there and of the token bought.
    pub from: usize,
    pub to: usize,
    /// The number of the pool's contract.
    pub contract: usize,
}

/// The pools of one slot between the tokens sold and the cash tokens.
#[derive(Debug, Clone)]
pub struct Network<'a> {
    pub(super) pools: Vec<NetworkPool<'a>>,
    /// All tokens, ascending.
    pub(super) tokens: Vec<Address>,
    /// The tokens sold, in the order of the amounts.
    pub(super) sold: Vec<ValuedToken>,
    /// Ascending.
    pub(super) cash: Vec<ValuedToken>,
    /// The directions that count, by pool and by the token sold there.
    pub(super) edges: Vec<Edge>,
}

impl<'a> Network<'a> {
    /// A network of these pools, for sales of the tokens `sold` that end in `cash`.
    pub fn new(
        pools: Vec<NetworkPool<'a>>,
        sold: &[Address],
        cash: &[Address],
    ) -> Result<Self, NetworkError> {
        if pools.is_empty() || pools.len() > MAX_NETWORK_POOLS {
            return Err(NetworkError::Pools { found: pools.len() });
        }
        let repeated = (1..pools.len())
            .find(|at| pools[..*at].iter().any(|before| before.pool == pools[*at].pool));
        if let Some(at) = repeated {
            return Err(NetworkError::PoolTwice { pool: pools[at].pool.clone() });
        }
        if !is_set(sold, MAX_SOLD_TOKENS) {
            return Err(NetworkError::Sold);
        }
        if !is_set(cash, MAX_CASH_TOKENS) || cash.iter().any(|token| sold.contains(token)) {
            return Err(NetworkError::Cash);
        }
        let mut tokens: Vec<Address> = pools.iter().flat_map(|pool| pool.tokens).collect();
        crate::stable_sort::sort(&mut tokens, Ord::cmp);
        tokens.dedup();
        let valued = valued_tokens(&pools, &tokens, &[sold, cash].concat())?;
        let (sold, cash) = valued.split_at(sold.len());
        let (sold, mut cash) = (sold.to_vec(), cash.to_vec());
        crate::stable_sort::sort(&mut cash, |a, b| a.token.cmp(&b.token));
        let mut network = Self { pools, sold, cash, edges: Vec::new(), tokens };
        network.edges = network.edges_on_paths();
        Ok(network)
    }

    /// The cash token with this number among the tokens.
    pub(super) fn cash_at(&self, token: usize) -> Option<&ValuedToken> {
        self.cash.iter().find(|cash| cash.at == token)
    }

    /// The edge of a pool's direction, if that counts.
    pub(super) fn edge(&self, pool: usize, direction: Direction) -> Option<usize> {
        self.edges.iter().position(|edge| edge.pool == pool && edge.direction == direction)
    }

    pub(super) fn curve_of(&self, edge: &Edge) -> &SaleCurve {
        self.pools[edge.pool].curve(edge.direction)
    }

    /// The raw amount of a token sold that a size corresponds to; `None` if no direction that counts sells it, or if the
    /// amount exceeds 256 bits.
    pub fn amount_asked(&self, token: Address, size: SizeUsd) -> Option<U256> {
        let edge = self.edges.iter().find(|edge| self.tokens[edge.from] == token)?;
        let pool = &self.pools[edge.pool];
        pool.exits.get_or_prepare(pool.priced, edge.direction).amount_asked(size)
    }

    /// The value of amounts of the tokens sold at their oracle prices, rounded down and capped.
    pub fn size_of(&self, amounts_in: &[U256]) -> UsdMicros {
        let sold: Vec<_> = self.sold_amounts(amounts_in).collect();
        Sale { sold: sold.clone(), received: sold }.received_micros()
    }

    /// The tokens sold with these amounts.
    pub(super) fn sold_amounts(&self, amounts_in: &[U256]) -> impl Iterator<Item = (&Worth, U256)> {
        self.sold.iter().zip(amounts_in).map(|(sold, amount)| (&sold.worth, *amount))
    }

    /// The pools, in the given order.
    pub fn pools(&self) -> &[NetworkPool<'a>] {
        &self.pools
    }

    /// Whether a pool lies on a path of at most three pools from a token sold to a cash token. The bound does not
    /// depend on the others.
    pub fn is_on_path(&self, pool: usize) -> bool {
        self.edges.iter().any(|edge| edge.pool == pool)
    }

    /// Whether every cash token is at the end of such a path.
    pub fn reaches(&self, token: Address) -> bool {
        self.edges.iter().any(|edge| self.tokens[edge.to] == token)
    }

    /// Every direction in which no cash token is sold.
    fn admissible_edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (at, pool) in self.pools.iter().enumerate() {
            let same = |other: &NetworkPool<'_>| other.pool.contract() == pool.pool.contract();
            let contract = self.pools.iter().position(same).unwrap_or(at);
            for direction in Direction::BOTH {
                let place = |token: Address| self.tokens.iter().position(|one| *one == token);
                let [Some(from), Some(to)] = [direction.base_index(), direction.quote_index()]
                    .map(|index| place(pool.tokens[index]))
                else {
                    continue;
                };
                if pool.may_sell[direction.base_index()]
                    && self.cash_at(from).is_none()
                    && from != to
                {
                    edges.push(Edge { pool: at, direction, from, to, contract });
                }
            }
        }
        edges
    }

    /// Those of them that lie on a path of one of the tokens sold.
    fn edges_on_paths(&self) -> Vec<Edge> {
        let all = self.admissible_edges();
        let counts: Vec<Vec<bool>> =
            self.sold.iter().map(|sold| self.on_paths_of(sold.at, &all)).collect();
        let is_on_path =
            |(at, edge): (usize, Edge)| counts.iter().any(|of_token| of_token[at]).then_some(edge);
        all.iter().copied().enumerate().filter_map(is_on_path).collect()
    }

    /// Whether each edge, from `t` to `u`, lies on a path of a token sold: it does not buy this token, and the fewest
    /// pools from the token to `t`, this one, and the fewest from `u` to a cash token are at most three.
    fn on_paths_of(&self, sold: usize, all: &[Edge]) -> Vec<bool> {
        const FAR: usize = MAX_HOPS + 1;
        let (mut from_sold, mut to_cash) =
            (vec![FAR; self.tokens.len()], vec![FAR; self.tokens.len()]);
        from_sold[sold] = 0;
        for cash in &self.cash {
            to_cash[cash.at] = 0;
        }
        for _ in 0..MAX_HOPS {
            for edge in all.iter().filter(|edge| edge.to != sold) {
                from_sold[edge.to] = from_sold[edge.to].min(from_sold[edge.from] + 1);
                to_cash[edge.from] = to_cash[edge.from].min(to_cash[edge.to] + 1);
            }
        }
        let counts = |edge: &Edge| {
            edge.to != sold && from_sold[edge.from] + 1 + to_cash[edge.to] <= MAX_HOPS
        };
        all.iter().map(counts).collect()
    }
}

/// Whether tokens are different ones, from one to the maximum.
fn is_set(tokens: &[Address], most: usize) -> bool {
    let is_repeated = |at: usize| tokens[..at].contains(&tokens[at]);
    (1..=most).contains(&tokens.len()) && !(1..tokens.len()).any(is_repeated)
}

/// Tokens with the values of their raw units, on which all pools that trade them agree. First each token has one price and
/// one number of decimals, then each is traded, then each is worth something.
fn valued_tokens(
    pools: &[NetworkPool<'_>],
    tokens: &[Address],
    of: &[Address],
) -> Result<Vec<ValuedToken>, NetworkError> {
    let prices = of.iter().map(|token| price_of(pools, *token));
    let prices: Vec<Option<(&UsdPrice, u8)>> = prices.collect::<Result<_, _>>()?;
    let traded = of.iter().zip(prices).map(|(token, price)| {
        let at = tokens.iter().position(|one| one == token);
        price.zip(at).map(|found| (*token, found)).ok_or(NetworkError::NoPool { token: *token })
    });
    let traded: Vec<_> = traded.collect::<Result<_, _>>()?;
    let valued = traded.into_iter().map(|(token, ((price, decimals), at))| {
        let worth = Worth::new(price, decimals).filter(|worth| worth.low > U256::ZERO);
        Ok(ValuedToken { token, worth: worth.ok_or(NetworkError::Price { token })?, at })
    });
    valued.collect()
}

/// The price and decimals of a token; `None` if no pool trades it.
fn price_of<'p>(
    pools: &'p [NetworkPool<'_>],
    token: Address,
) -> Result<Option<(&'p UsdPrice, u8)>, NetworkError> {
    let mut found: Option<(&UsdPrice, u8)> = None;
    for pool in pools {
        for index in (0..2).filter(|index| pool.tokens[*index] == token) {
            let own = (&pool.priced.usd[index], pool.priced.decimals[index]);
            if found.is_some_and(|first| first != own) {
                return Err(NetworkError::PriceDiffers { pool: pool.pool.clone(), token });
            }
            found = Some(own);
        }
    }
    Ok(found)
}
