//! A concentrated-liquidity pool as canonical JSON.

use super::{Concentrated, Tick};
use crate::json::{Fields, Json, Wire};
use crate::pools::StateError;
use crate::pools::kind::StateForm;

impl StateForm for Concentrated {
    const PROTOCOL: &'static str = "concentrated_liquidity";

    fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (sqrt_price_x96, tick) = (fields.take("sqrt_price_x96")?, fields.take("tick")?);
        let liquidity = fields.take("liquidity")?;
        let (fee_pips, tick_spacing) = (fields.take("fee_pips")?, fields.take("tick_spacing")?);
        let ticks = fields.take("ticks")?;
        Ok(Self::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)?)
    }

    fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("sqrt_price_x96", self.sqrt_price_x96.write()),
            ("tick", self.tick.write()),
            ("liquidity", self.liquidity.write()),
            ("fee_pips", self.fee_pips.write()),
            ("tick_spacing", self.tick_spacing.write()),
            ("ticks", Json::List(self.ticks.iter().map(Tick::write).collect())),
        ]
    }
}

/// `[tick, net]`, and the gross liquidity after them where it is not the size of the net one.
impl Wire for Tick {
    fn read(json: &Json<'_>) -> Result<Self, String> {
        if let Json::List(items) = json {
            match &items[..] {
                [tick, net] => return Ok(Self::new(i32::read(tick)?, i128::read(net)?)),
                [tick, net, gross] => {
                    let (tick, liquidity_net) = (i32::read(tick)?, i128::read(net)?);
                    return Ok(Self { tick, liquidity_net, liquidity_gross: u128::read(gross)? });
                }
                _ => {}
            }
        }
        Err("expected [tick, net] or [tick, net, gross]".to_owned())
    }

    fn write(&self) -> Json<'_> {
        let mut items = vec![self.tick.write(), self.liquidity_net.write()];
        if self.liquidity_gross != self.liquidity_net.unsigned_abs() {
            items.push(self.liquidity_gross.write());
        }
        Json::List(items)
    }
}
