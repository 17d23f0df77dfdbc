//! What is asked of a service.

use exitgap_api::Interval;
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;

/// A history's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryOf {
    /// The pool.
    pub pool: PoolId,
    /// The token sold; the pool's default where absent.
    pub base: Option<Base>,
    /// The size.
    pub size: SizeUsd,
    /// The length of its rows.
    pub interval: Interval,
    /// The first instant, RFC 3339; the series' first where absent.
    pub from: Option<String>,
    /// The last instant, RFC 3339; the newest slot's where absent.
    pub to: Option<String>,
    /// Where a page begins, as the page before said.
    pub cursor: Option<String>,
}
