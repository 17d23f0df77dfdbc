//! Concentrated-liquidity pools as canonical JSON.

use super::{Concentrated, ConcentratedLinked, ConcentratedV4, Ranges, Tick};
use crate::json::{Fields, Json, Wire};
use crate::pools::kind::StateForm;
use crate::pools::{MAX_STATE_BYTES, StateError};

impl StateForm for Concentrated {
    const PROTOCOL: &'static str = "concentrated_liquidity";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (sqrt_price_x96, tick) =
            (fields.take_field("sqrt_price_x96")?, fields.take_field("tick")?);
        let liquidity = fields.take_field("liquidity")?;
        let (fee_pips, tick_spacing) =
            (fields.take_field("fee_pips")?, fields.take_field("tick_spacing")?);
        let ticks = fields.take_field("ticks")?;
        Ok(Self::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        written(&self.ranges, [("fee_pips", self.fee_pips.to_json())])
    }
}

impl StateForm for ConcentratedV4 {
    const PROTOCOL: &'static str = "concentrated_v4";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (sqrt_price_x96, tick) =
            (fields.take_field("sqrt_price_x96")?, fields.take_field("tick")?);
        let (liquidity, lp_fee) =
            (fields.take_field("liquidity")?, fields.take_field("lp_fee_pips")?);
        let protocol_fee = fields.take_field("protocol_fee")?;
        let (spacing, ticks) = (fields.take_field("tick_spacing")?, fields.take_field("ticks")?);
        Ok(Self::new(sqrt_price_x96, tick, liquidity, lp_fee, protocol_fee, spacing, ticks)?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let fees = [
            ("lp_fee_pips", self.lp_fee_pips.to_json()),
            ("protocol_fee", self.protocol_fee.to_json()),
        ];
        written(&self.ranges, fees)
    }
}

impl StateForm for ConcentratedLinked {
    const PROTOCOL: &'static str = "concentrated_linked";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (sqrt_price_x96, tick) =
            (fields.take_field("sqrt_price_x96")?, fields.take_field("tick")?);
        let liquidity = fields.take_field("liquidity")?;
        let (fee_pips, tick_spacing) =
            (fields.take_field("fee_pips")?, fields.take_field("tick_spacing")?);
        let ticks = fields.take_field("ticks")?;
        Ok(Self::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        written(&self.ranges, [("fee_pips", self.fee_pips.to_json())])
    }
}

/// The common fields and the fee fields.
fn written<'a, const FEES: usize>(
    ranges: &'a Ranges,
    fees: [(&'static str, Json<'a>); FEES],
) -> Vec<(&'static str, Json<'a>)> {
    let mut fields = vec![
        ("sqrt_price_x96", ranges.sqrt_price_x96.to_json()),
        ("tick", ranges.tick.to_json()),
        ("liquidity", ranges.liquidity.to_json()),
        ("tick_spacing", ranges.tick_spacing.to_json()),
        ("ticks", Json::List(ranges.ticks.iter().map(Tick::to_json).collect())),
    ];
    fields.extend(fees);
    fields
}

/// `[tick, net]`, followed by the gross liquidity if it is not the absolute value of the net liquidity.
impl Wire for Tick {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        if let Json::List(items) = json {
            match &items[..] {
                [tick, net] => return Ok(Self::new(i32::from_json(tick)?, i128::from_json(net)?)),
                [tick, net, gross] => {
                    let (tick, liquidity_net) = (i32::from_json(tick)?, i128::from_json(net)?);
                    return Ok(Self {
                        tick,
                        liquidity_net,
                        liquidity_gross: u128::from_json(gross)?,
                    });
                }
                _ => {}
            }
        }
        Err("expected [tick, net] or [tick, net, gross]".to_owned())
    }

    fn to_json(&self) -> Json<'_> {
        let mut items = vec![self.tick.to_json(), self.liquidity_net.to_json()];
        if self.liquidity_gross != self.liquidity_net.unsigned_abs() {
            items.push(self.liquidity_gross.to_json());
        }
        Json::List(items)
    }
}

/// The maximum number of bytes of a state body without its ticks.
const AROUND_TICKS: usize = 256;
/// The maximum number of bytes of one tick: `[-887272,"<40>","<39>"],`.
const LONGEST_TICK: usize = 95;

/// The maximum number of bytes of the body of a pool with these ticks, whatever its price and liquidity, if that
/// exceeds the maximum size of a body.
pub(super) fn bytes_above_most(ticks: &[Tick]) -> Option<usize> {
    if AROUND_TICKS + ticks.len() * LONGEST_TICK <= MAX_STATE_BYTES {
        return None;
    }
    let digits = |number: u128| number.checked_ilog10().unwrap_or(0) as usize + 1;
    let length = |tick: &Tick| {
        let Tick { tick, liquidity_net, liquidity_gross } = *tick;
        let net = liquidity_net.unsigned_abs();
        let signs = usize::from(tick < 0) + usize::from(liquidity_net < 0);
        // Includes the comma before it and its quotes.
        let gross = if liquidity_gross == net { 0 } else { 3 + digits(liquidity_gross) };
        signs + digits(tick.unsigned_abs().into()) + digits(net) + gross + "[,\"\"],".len()
    };
    let bytes = ticks.iter().fold(AROUND_TICKS, |sum, tick| sum + length(tick));
    (bytes > MAX_STATE_BYTES).then_some(bytes)
}
