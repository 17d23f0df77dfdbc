//! What is asked of a service.

use exitgap_api::Interval;
use exitgap_api::operations::SeriesAsked;
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

/// The figures of a whole series; a base that is named otherwise than by its place is left out.
impl From<&SeriesAsked> for HistoryOf {
    fn from(asked: &SeriesAsked) -> Self {
        Self {
            pool: asked.pool.clone(),
            base: asked.base.as_deref().and_then(Base::from_code),
            size: asked.size,
            interval: Interval::FiveMinutes,
            from: asked.from.map(|slot| slot.to_string()),
            to: asked.to.map(|slot| slot.to_string()),
            cursor: None,
        }
    }
}
