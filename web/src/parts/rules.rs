//! The pricing rule of each kind of pool, in a sentence, with what is not exact about it.

/// For each kind, by its protocol in documents: its name, and the sentence.
pub const RULES: [(&[&str], &str, &str); 6] = [
    (
        &["constant_product"],
        "Constant product",
        "Computed with the contract's own division, within its 112 bits.",
    ),
    (
        &["concentrated_liquidity", "concentrated_v4", "concentrated_linked"],
        "Concentrated liquidity",
        "Computed with the contract's own loop, tick by tick, with all of its rounding.",
    ),
    (
        &["stableswap"],
        "Curve stable pools",
        "The amount that an exchange transfers, computed with the contract's own iteration. Its view function may quote another number. \
         Where the fee depends on the size, a smaller sale may lose more than a larger one. Depth is still the largest size within the gap, \
         and a row notes where a smaller size is worse.",
    ),
    (
        &["solidly"],
        "Aerodrome and Velodrome pools",
        "Computed with the contract's own division, or with its iteration where the pool is stable. The fee is deducted first.",
    ),
    (
        &["weighted", "stable_v2", "stable_v3"],
        "Balancer pools",
        "Computed with the vault's scaling and the pool's own power function or iteration, with all of its rounding. Where a power is rounded, a smaller sale may lose a little more.",
    ),
    (
        &["cryptoswap"],
        "Curve crypto pools",
        "The amount that a sale pays is exact, unless the contract rejects the sale while it updates its price, which is not predicted. In places, a \
         larger sale may be paid less, so no search for the largest size would be exact. Depth and orders in parts are not available.",
    ),
];

/// The sentence of a kind.
pub fn rule_of(protocol: &str) -> &'static str {
    let known = RULES.iter().find(|(protocols, ..)| protocols.contains(&protocol));
    known.map_or("", |(_, _, sentence)| sentence)
}
