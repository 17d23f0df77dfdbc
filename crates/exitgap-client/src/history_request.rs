//! Requests for a series.

use exitgap_api::operations::SeriesAsked;
use exitgap_api::{Interval, RowOrder};
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;

/// A request for a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryOf {
    /// The pool.
    pub pool: PoolId,
    /// The token that is sold; the pool's default if absent.
    pub base: Option<Base>,
    /// The size.
    pub size: SizeUsd,
    /// The interval of its rows.
    pub interval: Interval,
    /// The order of its rows.
    pub order: RowOrder,
    /// The first instant, RFC 3339; the beginning of the series if absent.
    pub from: Option<String>,
    /// The last instant, RFC 3339; the newest slot if absent.
    pub to: Option<String>,
    /// The cursor of a page, from the page before.
    pub cursor: Option<String>,
}

/// The whole series; a base that is not named by its index is left out.
impl From<&SeriesAsked> for HistoryOf {
    fn from(asked: &SeriesAsked) -> Self {
        Self {
            pool: asked.pool.clone(),
            base: asked.base.as_deref().and_then(Base::from_code),
            size: asked.size,
            interval: Interval::FiveMinutes,
            order: RowOrder::Ascending,
            from: asked.from.map(|slot| slot.to_string()),
            to: asked.to.map(|slot| slot.to_string()),
            cursor: None,
        }
    }
}
