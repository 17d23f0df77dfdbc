//! Plans that sell several tokens.

use super::*;

/// Token 0 and token 1 are sold: a route of each may pass through the other.
const BOTH: [usize; 2] = [0, 1];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_plan_of_two_tokens_brings_more_than_the_bound_allows(
        pools in small_network(),
        amounts in [1_u64..1_000_000, 1_u64..1_000_000],
    ) {
        holds(&pools, &[(BOTH[0], amounts[0]), (BOTH[1], amounts[1])])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]

    /// Pools of two tokens that are sold have one price here: of two with different prices, the bound counts what one
    /// pays against the other, which no plan reaches.
    #[test]
    fn plans_of_several_tokens_over_deep_pools_are_close_to_their_bound(
        pools in prop::collection::vec(
            (deep_state(), prop::sample::select(vec![[0, 3], [0, 4], [1, 3], [2, 3], [2, 4]])),
            8..12,
        ),
        thousands in [1_u64..300, 1_u64..300, 1_u64..300],
    ) {
        let usd = dollars();
        let others = [[0, 1], [0, 3], [1, 2], [1, 3], [2, 3]]
            .map(|tokens| (deep_ranges(0, [1 << 80, 1 << 82], 500), tokens));
        let pools: Vec<Small> = pools.into_iter().chain(others).collect();
        let sold = [0, 1, 2].map(|token| {
            (token, U256::from(u128::from(thousands[token]) * 10_u128.pow(21)))
        });
        let network = network_selling(&[0, 1, 2], &pools, &usd).unwrap();
        let plan = find_plan(&network, &sold.map(|(_, amount)| amount)).unwrap();
        executes(&pools, &plan, &sold)?;
        let distance = plan.bound.unwrap().optimality_gap;
        prop_assert!(distance <= Percent::parse("0.01").unwrap(), "{distance}: {plan:?}");
    }
}

#[test]
fn a_route_may_pass_through_a_token_that_is_sold_as_well() {
    let deep = 10_u64.pow(15);
    // Token 0 reaches cash only through token 1, whose one pool takes what both bring.
    let pools = [(pair([deep, deep], 500), [0, 1]), (pair([deep, deep], 500), [1, 3])];
    let usd = dollars();
    let network = network_selling(&BOTH, &pools, &usd).unwrap();
    let amounts = [U256::from(10_u64.pow(12)), U256::from(3 * 10_u64.pow(12))];
    let plan = find_plan(&network, &amounts).unwrap();
    executes(&pools, &plan, &[(0, amounts[0]), (1, amounts[1])]).unwrap();
    let [first, second] = plan.result.legs[..] else { panic!("{plan:?}") };
    assert_eq!(second.order.amount_in, first.amount_out + amounts[1]);
    assert!(plan.bound.unwrap().optimality_gap < Percent::parse("0.0001").unwrap(), "{plan:?}");
    // Alone, each would find the pool to cash as deep as if the other did not sell there.
    let alone = |token: usize| {
        let network = network_selling(&[token], &pools, &usd).unwrap();
        find_plan(&network, &[amounts[token]]).unwrap().result.received[0].1
    };
    assert!(alone(0) + alone(1) > plan.result.received[0].1);
}

#[test]
fn no_pool_is_used_in_two_directions() {
    let deep = 10_u64.pow(15);
    // Each token's own pool is dear, so each would rather pass through the other: one pool is between them.
    let pools = [
        (pair([deep, deep], 500), [0, 1]),
        (pair([deep, deep], 10_000), [0, 3]),
        (pair([deep, deep], 10_000), [1, 3]),
    ];
    let usd = dollars();
    let network = network_selling(&BOTH, &pools, &usd).unwrap();
    // Both directions lie on a path: that of token 0, and that of token 1.
    assert_eq!(network.edges.iter().filter(|edge| edge.pool == 0).count(), 2);
    for amounts in [[10_u64.pow(14), 10_u64.pow(10)], [10_u64.pow(10), 10_u64.pow(14)]] {
        let amounts = amounts.map(U256::from);
        let plan = find_plan(&network, &amounts).unwrap();
        executes(&pools, &plan, &[(0, amounts[0]), (1, amounts[1])]).unwrap();
        assert!(plan.bound.unwrap().optimality_gap < Percent::parse("0.01").unwrap(), "{plan:?}");
    }
}

#[test]
fn what_several_tokens_lack_is_refused_by_name() {
    let usd = dollars();
    let pools = [(pair([1_000_000, 1_000_000], 0), [0, 3]), (ranged(0, [50, 1_000], 500), [1, 3])];
    let network = network_selling(&BOTH, &pools, &usd).unwrap();
    let one = U256::from(1_000_u32);
    assert_eq!(find_plan(&network, &[one]), Err(PlanError::NoInput));
    assert_eq!(find_plan(&network, &[one, U256::ZERO]), Err(PlanError::NoInput));
    let beyond = find_plan(&network, &[one, U256::from(MILLION)]).unwrap_err();
    let PlanError::BeyondLiquidity { max_amounts_in } = beyond else { panic!("{beyond}") };
    assert_eq!(max_amounts_in[0], one);
    assert!(max_amounts_in[1] < U256::from(MILLION));
    assert!(find_plan(&network, &max_amounts_in).is_ok());
    let apart = [(pair([1_000, 1_000], 0), [0, 3]), (pair([1_000, 1_000], 0), [1, 2])];
    let apart = network_selling(&BOTH, &apart, &usd).unwrap();
    assert_eq!(find_plan(&apart, &[one, one]), Err(PlanError::NoPath { token: TOKENS[BOTH[1]] }));
    let made = |sold: &[usize]| network_selling(sold, &pools, &usd).map(|_| ()).unwrap_err();
    assert_eq!(made(&[]), NetworkError::Sold);
    assert_eq!(made(&[0, 0]), NetworkError::Sold);
    assert_eq!(made(&[0, 3]), NetworkError::Cash);
    assert_eq!(made(&[0, 2]), NetworkError::NoPool { token: TOKENS[2] });
}

#[test]
fn values_of_several_amounts_add_up() {
    let usd = dollars();
    let pools = [(pair([1 << 30, 1 << 30], 0), [0, 3]), (pair([1 << 30, 1 << 30], 0), [1, 3])];
    let network = network_selling(&BOTH, &pools, &usd).unwrap();
    let of = |amounts: [u64; 2]| network.size_of(&amounts.map(U256::from));
    assert_eq!(of([7, 0]).0 + of([0, 5]).0, of([7, 5]).0);
}
