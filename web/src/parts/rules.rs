//! By which rules pools of a kind pay, in a sentence each, and what of it is not exact.

/// Of each kind, by its protocol in documents: how people call it, and the sentence.
pub const RULES: [(&[&str], &str, &str); 6] = [
    (
        &["constant_product"],
        "Product of reserves",
        "The contract's own quotient, within its 112 bits.",
    ),
    (
        &["concentrated_liquidity", "concentrated_v4", "concentrated_linked"],
        "Ranges of prices",
        "The contract's own loop, tick by tick, with each of its roundings.",
    ),
    (
        &["stableswap"],
        "Curve's stable pools",
        "What an exchange transfers, by the contract's own iteration; its view may quote another number. Where the fee depends on the size, \
         a smaller sale may lose more than a larger one: depth is still the largest size within the gap, and a row says where a smaller one is worse.",
    ),
    (
        &["solidly"],
        "Aerodrome's and Velodrome's pools",
        "The contract's own quotient, or its iteration where the pool is stable, the fee taken off first.",
    ),
    (
        &["weighted", "stable_v2", "stable_v3"],
        "Balancer's pools",
        "The vault's scaling and the pool's own power or iteration, with each of its roundings. Where a power is rounded, a smaller sale may lose a little more.",
    ),
    (
        &["cryptoswap"],
        "Curve's crypto pools",
        "What a sale pays is exact, unless the contract then refuses it while it updates its price, which is not foreseen. It may pay less for more in \
         places, so that no search for the largest size would be exact: no depth is told, and no orders in parts.",
    ),
];

/// The sentence of a kind.
pub fn rule_of(protocol: &str) -> &'static str {
    let known = RULES.iter().find(|(protocols, ..)| protocols.contains(&protocol));
    known.map_or("", |(_, _, sentence)| sentence)
}
