//! Plans of small and of deep networks, against every plan that can be found by trying.

mod several;

use super::gain::most_gain;
use super::*;
use crate::exit::PricedPool;
use crate::exit::max_size::swept_tests::{live_stable_swap, small_balancer, small_stable_swap};
use crate::exit::max_size::tests::any_pool;
use crate::ids::{Address, PoolId};
use crate::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Solidly, Tick, UnitValues,
    sqrt_ratio_at_tick,
};
use crate::units::{Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::{U1024, narrow};
use proptest::prelude::*;

const MILLION: u64 = 1_000_000;
/// The token sold, two in between, and two of cash.
const TOKENS: [Address; 5] =
    [Address([1; 20]), Address([2; 20]), Address([3; 20]), Address([4; 20]), Address([5; 20])];
const SOLD: usize = 0;
const CASH: [usize; 2] = [3, 4];

fn pair(reserves: [u64; 2], numerator: u64) -> PoolState {
    let fee = FeeRate { numerator, denominator: MILLION };
    ConstantProduct::new(reserves.map(u128::from), fee).unwrap().into()
}

/// Two ranges around a price of one, one inside the other, with nothing between and nothing beyond them.
fn ranged(tick: i32, liquidity: [u64; 2], fee_pips: u32) -> PoolState {
    let [outer, inner] = liquidity.map(i128::from);
    let nets = [
        (-6_000, outer),
        (-600, -outer),
        (-60, inner),
        (60, -inner),
        (600, outer),
        (6_000, -outer),
    ];
    let ticks: Vec<_> = nets.map(|(tick, net)| Tick::new(tick, net)).into();
    let active = ticks.iter().filter(|at| at.tick <= tick).map(|at| at.liquidity_net).sum::<i128>();
    let price = sqrt_ratio_at_tick(tick).unwrap();
    let active = u128::try_from(active).unwrap();
    Concentrated::new(price, tick, active, fee_pips, 60, ticks).unwrap().into()
}

fn dollars() -> [UsdPrice; 2] {
    [UsdPrice::product(&[(U256::ONE, 0)]).unwrap(), UsdPrice::product(&[(U256::ONE, 0)]).unwrap()]
}

/// A pool of a small network: its state and its two tokens.
type Small = (PoolState, [usize; 2]);

fn id(number: usize) -> PoolId {
    PoolId::new("anvil".parse().unwrap(), Address([u8::try_from(number).unwrap() + 1; 20]))
}

fn network_of<'a>(pools: &'a [Small], usd: &'a [UsdPrice; 2]) -> Result<Network<'a>, NetworkError> {
    network_selling(&[SOLD], pools, usd)
}

fn network_selling<'a>(
    sold: &[usize],
    pools: &'a [Small],
    usd: &'a [UsdPrice; 2],
) -> Result<Network<'a>, NetworkError> {
    let pool = |(number, (state, tokens)): (usize, &'a Small)| {
        let priced = PricedPool { state, decimals: [0, 0], usd };
        NetworkPool::new(id(number), tokens.map(|token| TOKENS[token]), priced)
    };
    let traded = |token: &usize| pools.iter().any(|(_, tokens)| tokens.contains(token));
    let cash: Vec<Address> = CASH.into_iter().filter(traded).map(|token| TOKENS[token]).collect();
    let sold: Vec<Address> = sold.iter().map(|token| TOKENS[*token]).collect();
    Network::new(pools.iter().enumerate().map(pool).collect(), &sold, &cash)
}

fn small_state() -> impl Strategy<Value = PoolState> {
    let fee = prop::sample::select(vec![0_u64, 500, 3_000, 30_000]);
    let reserve = || prop_oneof![2_u64..3_000, 100_000_u64..1_000_000_000];
    let solidly = (any::<bool>(), [2_u64..3_000, 2_u64..3_000], 0_u64..100);
    prop_oneof![
        3 => ([reserve(), reserve()], fee).prop_map(|(reserves, fee)| pair(reserves, fee)),
        3 => (-700_i32..700, [1_u64..90_000, 1_u64..9_000_000], 0_u32..30_000)
            .prop_map(|(tick, liquidity, fee)| ranged(tick, liquidity, fee)),
        1 => solidly.prop_map(|(stable, reserves, numerator)| {
            let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
            Solidly::new(stable, reserves.map(U256::from), [0, 0], fee).unwrap().into()
        }),
        1 => small_stable_swap(false).prop_map(|(pool, _)| pool.into()),
    ]
}

fn small_network() -> impl Strategy<Value = Vec<Small>> {
    let tokens = prop::sample::select(vec![
        [0, 1],
        [0, 1],
        [0, 2],
        [0, 3],
        [1, 2],
        [2, 1],
        [1, 3],
        [1, 4],
        [2, 3],
        [2, 4],
        [3, 1],
        [3, 4],
    ]);
    prop::collection::vec((small_state(), tokens), 2..5)
}

/// The most that any sequence of sales brings: each pool at most once, and in each any eighth of what is there.
fn by_trying_all(network: &Network<'_>, held: &mut [U256], used: &mut Vec<usize>) -> Option<U1024> {
    let left =
        (0..held.len()).any(|token| network.cash_at(token).is_none() && !held[token].is_zero());
    let value = |sum: U1024, cash: &ValuedToken| {
        sum + U1024::from(held[cash.at]) * U1024::from(cash.worth.low)
    };
    let mut best = (!left).then(|| network.cash.iter().fold(U1024::ZERO, value));
    for edge in &network.edges {
        if used.contains(&edge.contract) || held[edge.from].is_zero() {
            continue;
        }
        used.push(edge.contract);
        let whole = held[edge.from];
        let mut before = U256::ZERO;
        for eighths in [2_u64, 4, 5, 8] {
            let sold =
                narrow(U1024::from(whole) * U1024::from(eighths) / U1024::from(8_u32)).unwrap();
            let fill = network.pools[edge.pool].priced.state.fill_once(edge.direction, sold);
            let Ok(fill) = fill else { continue };
            if sold == before {
                continue;
            }
            before = sold;
            held[edge.from] -= sold;
            held[edge.to] += fill.amount_out;
            best = best.max(by_trying_all(network, held, used));
            held[edge.from] += sold;
            held[edge.to] -= fill.amount_out;
        }
        used.pop();
    }
    best
}

/// A plan's legs one after the other, apart from `replay`: every pool once, nothing sold that is not there, and only
/// cash left.
fn executes(pools: &[Small], plan: &Plan, sold: &[(usize, U256)]) -> Result<(), TestCaseError> {
    let mut held = [U256::ZERO; 5];
    for (token, amount) in sold {
        held[*token] = *amount;
    }
    let mut used = Vec::new();
    for leg in &plan.result.legs {
        let (state, tokens) = &pools[leg.order.pool];
        let (from, to) = (leg.order.direction.base_index(), leg.order.direction.quote_index());
        prop_assert!(!used.contains(&leg.order.pool));
        used.push(leg.order.pool);
        prop_assert!(held[tokens[from]] >= leg.order.amount_in && !CASH.contains(&tokens[from]));
        let fill = state.fill_once(leg.order.direction, leg.order.amount_in).unwrap();
        prop_assert_eq!(fill.amount_out, leg.amount_out);
        held[tokens[from]] -= leg.order.amount_in;
        held[tokens[to]] += fill.amount_out;
    }
    prop_assert_eq!([held[0], held[1], held[2]], [U256::ZERO; 3]);
    let received: Vec<_> =
        CASH.into_iter().map(|at| (TOKENS[at], held[at])).filter(|(_, n)| !n.is_zero()).collect();
    prop_assert_eq!(&received, &plan.result.received);
    Ok(())
}

/// A plan of a small network is executable, and no plan found by trying all brings more than its bound allows.
fn holds(pools: &[Small], sold: &[(usize, u64)]) -> Result<(), TestCaseError> {
    let usd = dollars();
    let tokens: Vec<usize> = sold.iter().map(|(token, _)| *token).collect();
    let Ok(network) = network_selling(&tokens, pools, &usd) else { return Ok(()) };
    let sold: Vec<(usize, U256)> =
        sold.iter().map(|(token, amount)| (*token, U256::from(*amount))).collect();
    let amounts_in: Vec<U256> = sold.iter().map(|(_, amount)| *amount).collect();
    let mut held = vec![U256::ZERO; network.tokens.len()];
    for (token, amount) in network.sold.iter().zip(&amounts_in) {
        held[token.at] = *amount;
    }
    let best = by_trying_all(&network, &mut held, &mut Vec::new());
    match find_plan(&network, &amounts_in) {
        Ok(plan) => {
            executes(pools, &plan, &sold)?;
            let sale = network.sale(&amounts_in, &plan.result.received);
            let received = sale.received_low();
            let bound = plan.bound.expect("every small pool is concave");
            let share = U1024::from(u128::try_from(bound.optimality_gap.0).unwrap());
            let allowed =
                received + (share * sale.sold_low()).div_ceil(U1024::from(100_000_000_u32));
            let best = best.unwrap_or(U1024::ZERO);
            prop_assert!(best <= allowed, "{best:?} of {received:?}, up to {allowed:?}: {plan:?}");
        }
        // Single units that some contracts refuse.
        Err(PlanError::NoOutput) => {}
        Err(PlanError::BeyondLiquidity { max_amounts_in }) => {
            prop_assert!(max_amounts_in.iter().zip(&amounts_in).any(|(most, all)| most < all));
            prop_assert!(max_amounts_in.iter().zip(&amounts_in).all(|(most, all)| most <= all));
        }
        Err(PlanError::NoPath { .. }) => prop_assert!(best.is_none_or(|best| best.is_zero())),
        Err(other) => prop_assert!(matches!(other, PlanError::GapOutOfRange), "{other}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_plan_of_a_small_network_brings_more_than_the_bound_allows(
        pools in small_network(),
        amount in prop_oneof![1_u64..200, 1_000_u64..100_000_000],
    ) {
        holds(&pools, &[(SOLD, amount)])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    #[ignore = "the same for a thousand networks"]
    fn no_plan_of_a_thousand_small_networks_brings_more_than_the_bound_allows(
        pools in small_network(),
        amount in prop_oneof![1_u64..200, 1_000_u64..100_000_000],
    ) {
        holds(&pools, &[(SOLD, amount)])?;
    }

    #[test]
    fn no_sale_gains_more_than_its_formula_allows(
        state in prop_oneof![
            any_pool(),
            small_state(),
            small_balancer().prop_map(|(pool, _)| pool),
        ],
        zero_for_one: bool,
        // Amounts and values of any length: the lengths, and the bits.
        amount in (0_u32..120, any::<u128>()),
        values in [(1_u32..100, any::<u128>()), (1_u32..100, any::<u128>())],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let usd = dollars();
        let priced = PricedPool { state: &state, decimals: [0, 0], usd: &usd };
        let pool = NetworkPool::new(id(0), [TOKENS[0], TOKENS[1]], priced);
        let number = |(bits, all): (u32, u128)| U256::from((all >> (127 - bits)) | 1);
        let [sold, bought] = values.map(number);
        let gain = most_gain(&pool, direction, UnitValues { sold, bought });
        prop_assert_eq!(gain.is_some(), pool.is_concave(direction));
        let Some(gain) = gain else { return Ok(()) };
        let amount = number(amount);
        if let Ok(fill) = state.fill_once(direction, amount) {
            let paid = U1024::from(fill.amount_out) * U1024::from(bought);
            let cost = U1024::from(amount) * U1024::from(sold);
            prop_assert!(paid <= cost + gain);
        }
    }
}

/// Two ranges of this liquidity, the inner one on top of the outer one.
fn deep_ranges(tick: i32, liquidity: [u128; 2], fee_pips: u32) -> PoolState {
    let [outer, inner] = liquidity.map(|one| i128::try_from(one).unwrap());
    let nets = [(-24_000, outer), (-1_200, inner), (1_200, -inner), (24_000, -outer)];
    let ticks: Vec<_> = nets.map(|(tick, net)| Tick::new(tick, net)).into();
    let active = liquidity.iter().sum();
    let price = sqrt_ratio_at_tick(tick).unwrap();
    Concentrated::new(price, tick, active, fee_pips, 60, ticks).unwrap().into()
}

/// A pool of a token of eighteen decimals and a dollar, of one to a hundred million of them.
fn deep_state() -> impl Strategy<Value = PoolState> {
    let unit = 10_u128.pow(18);
    let millions = move || (1_u128..100).prop_map(move |millions| millions * 1_000_000 * unit);
    let fee = prop::sample::select(vec![100_u32, 500, 3_000]);
    prop_oneof![
        (millions(), 990_u128..1_010, fee.clone()).prop_map(|(reserve, price, fee)| {
            let fee = FeeRate { numerator: fee.into(), denominator: MILLION };
            ConstantProduct::new([reserve, reserve / 1_000 * price], fee).unwrap().into()
        }),
        (-100_i32..100, [millions(), millions()], fee)
            .prop_map(|(tick, liquidity, fee)| deep_ranges(tick, liquidity, fee)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]

    /// Up to a million dollars, as the bench measures it. A sale of eight million may move prices by a third; its plan
    /// executes and its bound holds, and how far it may be from the bound is not limited here.
    #[test]
    fn plans_over_deep_pools_are_close_to_their_bound(
        pools in prop::collection::vec(
            (deep_state(), prop::sample::select(vec![[0, 1], [0, 2], [0, 3], [1, 3], [2, 3], [2, 4]])),
            8..12,
        ),
        dollars_sold in prop::sample::select(vec![1_000_u64, 50_000, 1_000_000, 8_000_000]),
    ) {
        let usd = dollars();
        // One pool between the two tokens in between: of two, one against the other would pay for itself.
        let others = [[0, 3], [1, 2]].map(|tokens| (deep_ranges(0, [1 << 80, 1 << 82], 500), tokens));
        let pools: Vec<Small> = pools.into_iter().chain(others).collect();
        let network = network_of(&pools, &usd).unwrap();
        let amount = U256::from(u128::from(dollars_sold) * 10_u128.pow(18));
        let plan = match find_plan(&network, &[amount]) {
            Err(PlanError::BeyondLiquidity { max_amounts_in }) if dollars_sold > 1_000_000 => {
                prop_assert!(max_amounts_in[0] < amount);
                return Ok(());
            }
            found => found.unwrap(),
        };
        executes(&pools, &plan, &[(SOLD, amount)])?;
        let distance = plan.bound.unwrap().optimality_gap;
        let close = Percent::parse("0.005").unwrap();
        prop_assert!(dollars_sold > 1_000_000 || distance <= close, "{distance}: {plan:?}");
    }
}

/// The most that an amount gains, by searching amounts that grow by a hundredth.
fn searched(state: &PoolState, direction: Direction, values: UnitValues) -> U1024 {
    let (mut amount, mut most) = (U256::ONE, U1024::ZERO);
    while amount.bit_len() < 110 {
        if let Ok(fill) = state.fill_once(direction, amount) {
            let paid = U1024::from(fill.amount_out) * U1024::from(values.bought);
            let cost = U1024::from(amount) * U1024::from(values.sold);
            most = most.max(paid.checked_sub(cost).unwrap_or(U1024::ZERO));
        }
        amount = amount + (amount >> 7) + U256::ONE;
    }
    most
}

#[test]
fn the_formula_of_a_gain_is_close_to_the_most_that_is_found() {
    let unit = 10_u128.pow(18);
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let stable = Solidly::new(
        true,
        [U256::from(900_000 * unit), U256::from(1_100_000 * unit)],
        [18, 18],
        FeeRate { numerator: 5, denominator: 10_000 },
    );
    let wide = 10_i128.pow(24);
    let ticks = vec![
        Tick::new(-6_000, wide),
        Tick::new(-60, wide),
        Tick::new(60, -wide),
        Tick::new(6_000, -wide),
    ];
    let ranges = Concentrated::new(
        sqrt_ratio_at_tick(10).unwrap(),
        10,
        2 * wide.unsigned_abs(),
        500,
        60,
        ticks,
    );
    let states: [PoolState; 4] = [
        ConstantProduct::new([900_000 * unit, 1_100_000 * unit], fee).unwrap().into(),
        ranges.unwrap().into(),
        stable.unwrap().into(),
        live_stable_swap([900_000, 1_100_000], [18, 18], 200, None).into(),
    ];
    for state in &states {
        let usd = dollars();
        let priced = PricedPool { state, decimals: [0, 0], usd: &usd };
        let pool = NetworkPool::new(id(0), [TOKENS[0], TOKENS[1]], priced);
        for direction in Direction::BOTH {
            for bought in [900_u32, 999, 1_001, 1_010, 1_100, 2_000] {
                let values = UnitValues {
                    sold: U256::from(1_000 * unit),
                    bought: U256::from(bought) * U256::from(unit),
                };
                let found = searched(state, direction, values);
                let most = most_gain(&pool, direction, values).unwrap();
                assert!(most >= found);
                // Less than half a percent of it, because the search has steps of a hundredth, or than a few units
                // bought.
                let above = most.checked_sub(found).unwrap();
                let allowed =
                    found / U1024::from(200_u32) + U1024::from(values.bought) * U1024::from(4_u32);
                assert!(
                    above <= allowed,
                    "{} {direction:?} {bought}: {found:?} {most:?}",
                    state.protocol()
                );
            }
        }
    }
}

#[test]
fn a_sale_passes_through_a_token_where_that_brings_more_and_leaves_nothing_there() {
    let deep = 10_u64.pow(15);
    let pools = [
        (pair([1_000_000_000, 1_000_000_000], 3_000), [0, 3]),
        (pair([deep, deep], 500), [0, 1]),
        (pair([deep, deep], 500), [1, 3]),
        (pair([deep / 2, deep / 2], 500), [1, 4]),
    ];
    let usd = dollars();
    let network = network_of(&pools, &usd).unwrap();
    let amount = U256::from(10_u64.pow(12));
    let plan = find_plan(&network, &[amount]).unwrap();
    executes(&pools, &plan, &[(SOLD, amount)]).unwrap();
    assert_eq!(plan.result.received.len(), 2, "both cash tokens: {plan:?}");
    assert_eq!(plan.result.legs.len(), 4);
    // The fees of two pools, and a tenth of a percent or so of impact.
    let gap = plan.result.gap.unwrap();
    assert!(
        (Percent::parse("0.1").unwrap()..Percent::parse("0.4").unwrap()).contains(&gap),
        "{gap}"
    );
    assert!(plan.bound.unwrap().optimality_gap < Percent::parse("0.0001").unwrap(), "{plan:?}");
}

#[test]
fn a_law_that_is_not_known_leaves_a_plan_without_a_bound() {
    let varying = live_stable_swap([1, 1], [6, 6], 200, Some(20_000_000_000));
    let pools = [(pair([9_000_000, 9_000_000], 0), [0, 3]), (PoolState::from(varying), [0, 3])];
    let usd = dollars();
    let network = network_of(&pools, &usd).unwrap();
    let plan = find_plan(&network, &[U256::from(1_000_u32)]).unwrap();
    assert!(plan.bound.is_none() && plan.prices.is_empty() && plan.result.gap.is_some());
}

#[test]
fn what_has_no_plan_is_refused_by_name() {
    let usd = dollars();
    let pools = [(pair([1_000, 1_000], 0), [0, 3]), (ranged(0, [50, 1_000], 500), [1, 4])];
    let network = network_of(&pools, &usd).unwrap();
    assert_eq!(find_plan(&network, &[U256::ZERO]), Err(PlanError::NoInput));
    let tiny = [(pair([1_000, 2], 0), [0, 3])];
    let tiny =
        network_of(&tiny, &usd).map(|network| find_plan(&network, &[U256::ONE]).unwrap_err());
    assert_eq!(tiny.unwrap(), PlanError::NoOutput);
    let apart = [(pair([1_000, 1_000], 0), [0, 1]), (pair([1_000, 1_000], 0), [2, 3])];
    let apart = network_of(&apart, &usd).unwrap();
    assert_eq!(find_plan(&apart, &[U256::ONE]), Err(PlanError::NoPath { token: TOKENS[SOLD] }));
    assert!(apart.edges.is_empty() && apart.priced_tokens().is_empty());
    let ranges = [(ranged(0, [50, 1_000], 500), [0, 3])];
    let ranges = network_of(&ranges, &usd).unwrap();
    let beyond = find_plan(&ranges, &[U256::from(MILLION)]).unwrap_err();
    let PlanError::BeyondLiquidity { max_amounts_in } = beyond else { panic!("{beyond}") };
    let [max_amount_in] = max_amounts_in[..] else { panic!("{max_amounts_in:?}") };
    assert_eq!(find_plan(&ranges, &[max_amount_in]).unwrap().legs[0].amount_in, max_amount_in);
    assert!(find_plan(&ranges, &[max_amount_in + U256::ONE]).is_err());
}

#[test]
fn pools_that_are_no_network_are_refused_by_name() {
    let (usd, state) = (dollars(), pair([1_000, 1_000], 0));
    let other = [UsdPrice::product(&[(U256::from(2), 0)]).unwrap(), usd[1]];
    let pool = |number: usize, tokens: [usize; 2]| {
        let priced = PricedPool { state: &state, decimals: [0, 0], usd: &usd };
        NetworkPool::new(id(number), tokens.map(|token| TOKENS[token]), priced)
    };
    let made = |pools: Vec<NetworkPool<'_>>, cash: &[usize]| {
        let cash: Vec<_> = cash.iter().map(|token| TOKENS[*token]).collect();
        Network::new(pools, &[TOKENS[SOLD]], &cash).map(|_| ()).unwrap_err()
    };
    assert_eq!(made(Vec::new(), &[3]), NetworkError::Pools { found: 0 });
    let many = (0..=MAX_NETWORK_POOLS).map(|number| pool(number, [0, 3])).collect();
    assert_eq!(made(many, &[3]), NetworkError::Pools { found: MAX_NETWORK_POOLS + 1 });
    assert_eq!(made(vec![pool(0, [0, 3]); 2], &[3]), NetworkError::PoolTwice { pool: id(0) });
    for cash in [&[][..], &[0, 3], &[3, 3]] {
        assert_eq!(made(vec![pool(0, [0, 3])], cash), NetworkError::Cash);
    }
    assert_eq!(made(vec![pool(0, [1, 3])], &[3]), NetworkError::NoPool { token: TOKENS[0] });
    assert_eq!(made(vec![pool(0, [0, 3])], &[4]), NetworkError::NoPool { token: TOKENS[4] });
    let differs = NetworkPool {
        priced: PricedPool { state: &state, decimals: [0, 0], usd: &other },
        ..pool(1, [0, 4])
    };
    let expected = NetworkError::PriceDiffers { pool: id(1), token: TOKENS[0] };
    assert_eq!(made(vec![pool(0, [0, 3]), differs], &[3]), expected);
}

#[test]
fn a_pool_that_may_not_be_used_in_a_direction_is_not() {
    let usd = dollars();
    let pools = [
        (pair([1_000_000_000_000, 1_000_000_000_000], 0), [0, 3]),
        (pair([9_000_000_000_000, 9_000_000_000_000], 0), [0, 3]),
    ];
    let made = network_of(&pools, &usd).unwrap();
    let mut reserved = made.pools().to_vec();
    reserved[1].may_sell = [false, true];
    let reserved = Network::new(reserved, &[TOKENS[SOLD]], &[TOKENS[3]]).unwrap();
    let plan = find_plan(&reserved, &[U256::from(10_000_000_000_u64)]).unwrap();
    assert_eq!(plan.legs.iter().map(|leg| leg.pool).collect::<Vec<_>>(), [0]);
    let both = find_plan(&made, &[U256::from(10_000_000_000_u64)]).unwrap();
    assert_eq!(both.legs.len(), 2, "{both:?}");
}

#[test]
fn legs_that_cannot_be_executed_are_refused_by_name() {
    let usd = dollars();
    let even = || pair([1_000_000, 1_000_000], 0);
    let pools = [(even(), [0, 1]), (even(), [1, 3]), (even(), [0, 3])];
    let network = network_of(&pools, &usd).unwrap();
    let leg = |pool: usize, direction: Direction, amount: u64| LegOrder {
        pool,
        direction,
        amount_in: U256::from(amount),
    };
    let sell = |pool: usize, amount: u64| leg(pool, Direction::ZeroForOne, amount);
    let replay = |legs: &[LegOrder]| {
        network.replay(legs, &[U256::from(1_000_u32)]).map(|done| done.received)
    };
    let received = replay(&[sell(0, 500), sell(1, 499), sell(2, 500)]).unwrap();
    assert_eq!(received, [(TOKENS[3], U256::from(498 + 499_u32))]);
    let number = |units: u32| U256::from(units);
    assert_eq!(
        replay(&[sell(1, 499)]),
        Err(ReplayError::NotHeld { leg: 0, sold: number(499), held: U256::ZERO })
    );
    assert_eq!(replay(&[sell(2, 500), sell(2, 500)]), Err(ReplayError::PoolTwice { leg: 1 }));
    assert_eq!(replay(&[leg(2, Direction::OneForZero, 1)]), Err(ReplayError::OffPath { leg: 0 }));
    assert_eq!(
        replay(&[sell(2, 999)]),
        Err(ReplayError::Left { token: TOKENS[0], left: number(1) })
    );
    let zero = replay(&[sell(2, 0)]).unwrap_err();
    assert!(matches!(zero, ReplayError::Refused { leg: 0, .. }));
}

#[test]
fn the_bound_holds_at_any_prices_and_names_a_price_that_is_missing() {
    let usd = dollars();
    let even = || pair([1_000_000, 1_000_000], 3_000);
    let pools = [(even(), [0, 1]), (even(), [1, 3]), (even(), [0, 3])];
    let network = network_of(&pools, &usd).unwrap();
    let amount = U256::from(10_000_u32);
    let plan = find_plan(&network, &[amount]).unwrap();
    assert_eq!(network.priced_tokens(), [TOKENS[0], TOKENS[1]]);
    let best = plan.bound.unwrap();
    for share in [2_u32, 3, 5, 7] {
        let mut prices = plan.prices.clone();
        prices[1].value =
            narrow(U1024::from(prices[1].value) * U1024::from(share) / U1024::from(4_u32)).unwrap();
        let bound = network.bound(&prices, &[amount], &plan.result).unwrap();
        assert!(bound.optimality_gap > best.optimality_gap && bound.most_usd > best.most_usd);
    }
    assert!(network.bound(&plan.prices[..1], &[amount], &plan.result).is_none());
}

#[test]
fn sizes_and_amounts_of_a_network_are_those_of_its_pools() {
    let usd = dollars();
    let pools = [(pair([1 << 30, 1 << 30], 3_000), [0, 3])];
    let network = network_of(&pools, &usd).unwrap();
    let size: SizeUsd = "12.5".parse().unwrap();
    let amount = network.amount_asked(TOKENS[SOLD], size).unwrap();
    assert!(!amount.is_zero());
    assert!(network.size_of(&[amount]) <= UsdMicros::from(size));
    assert!(network.size_of(&[amount + U256::ONE]) > UsdMicros::from(size));
}

#[test]
fn a_tolerance_is_taken_off_and_rounded_down() {
    let least =
        |units: u64, pct: &str| least_accepted(U256::from(units), Percent::parse(pct).unwrap());
    assert_eq!(least(1_000, "0.5"), Some(U256::from(995)));
    assert_eq!(least(999, "0.5"), Some(U256::from(994)));
    assert_eq!(least(999, "0"), Some(U256::from(999)));
    assert_eq!(least(999, "100"), Some(U256::ZERO));
    assert_eq!(least_accepted(U256::MAX, Percent(0)), Some(U256::MAX));
    assert_eq!(least(1, "100.000001"), None);
    assert_eq!(least(1, "-0.000001"), None);
}
