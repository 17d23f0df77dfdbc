//! The largest exit within a gap.

use exitgap_core::exit;
use exitgap_core::units::UsdMicros;
use serde::{Deserialize, Serialize};

use crate::{Answer, GapRung, Number};

/// The largest exit within a gap limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MaxSize {
    /// The largest size whose own estimate is within the limit, USD. Zero if there is none.
    pub max_size_usd: Number,
    /// The largest raw amount of the base token within the limit, usually slightly above
    /// `max_size_usd`.
    pub max_amount_in_raw: String,
    /// The amount that the pool pays for it, raw units of the quote token.
    pub max_amount_out_raw: String,
    /// `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    pub limited_by: String,
}

impl From<&exit::MaxSize> for MaxSize {
    fn from(max: &exit::MaxSize) -> Self {
        Self {
            max_size_usd: max.size.map_or(UsdMicros(0), UsdMicros::from).into(),
            max_amount_in_raw: max.max_amount_in.to_string(),
            max_amount_out_raw: max.max_amount_out.to_string(),
            limited_by: max.limited_by.code().to_owned(),
        }
    }
}

/// The answer to "how much can I sell within this gap?".
pub type MaxSizeResult = Answer<GapRung>;
