//! The functions for JavaScript, which only pass calls on.
//!
//! Bytes are passed as bytes, options as texts, integers and arrays of texts; documents are returned as objects, and
//! errors are thrown as the object of a [`Problem`].

use exitgap_api::Problem;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::objects::{answer, object, thrown};
#[cfg(feature = "proof")]
use crate::state_claim;
use crate::{
    CheckedFigure, LIMITS, OpenSnapshot, RunningAlert, SplitOver, Venues, check_witnesses,
    checkpoint_of, recompute, snapshot_hash, verify,
};

/// The version of this package.
#[wasm_bindgen(js_name = version)]
pub fn js_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The maximum sizes of a caller's inputs.
#[wasm_bindgen(js_name = limits)]
pub fn js_limits() -> Result<JsValue, JsValue> {
    object(&LIMITS)
}

/// See [`verify`]; `note` is of a checkpoint seen before, and `proof` links it.
#[wasm_bindgen(js_name = verify)]
#[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
pub fn js_verify(
    evidence: &[u8],
    keys: Vec<String>,
    note: Option<String>,
    proof: Vec<String>,
    window: Option<Vec<u8>>,
) -> Result<JsValue, JsValue> {
    let seen = note.map(|note| (note, proof.as_slice()));
    answer(verify(evidence, &keys, seen, window))
}

/// See [`state_claim`].
#[cfg(feature = "proof")]
#[wasm_bindgen(js_name = stateClaim)]
pub fn js_state_claim(evidence: &[u8]) -> Result<Vec<u8>, JsValue> {
    or_thrown(state_claim(evidence))
}

/// See [`check_witnesses`].
#[wasm_bindgen(js_name = witnessed)]
pub fn js_witnessed(
    evidence: &[u8],
    policy: &[u8],
    now_s: Option<f64>,
) -> Result<JsValue, JsValue> {
    answer(check_witnesses(evidence, policy, now_s))
}

/// See [`recompute`].
#[wasm_bindgen(js_name = recompute)]
pub fn js_recompute(evidence: &[u8]) -> Result<JsValue, JsValue> {
    answer(recompute(evidence))
}

/// See [`snapshot_hash`].
#[wasm_bindgen(js_name = snapshotHash)]
pub fn js_snapshot_hash(snapshot: &[u8]) -> Result<String, JsValue> {
    or_thrown(snapshot_hash(snapshot).map(|hash| hash.to_string()))
}

/// See [`CheckedFigure`].
#[wasm_bindgen(js_name = CheckedFigure)]
#[derive(Debug)]
pub struct JsCheckedFigure(CheckedFigure);

#[wasm_bindgen(js_class = CheckedFigure)]
impl JsCheckedFigure {
    /// See [`CheckedFigure::from_file`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn read(file: &[u8], keys: Vec<String>) -> Result<JsCheckedFigure, JsValue> {
        or_thrown(CheckedFigure::from_file(file, &keys).map(Self))
    }

    /// See [`CheckedFigure::wanted_page`].
    pub fn wanted(&self) -> Result<JsValue, JsValue> {
        self.0.wanted_page().map_or(Ok(JsValue::UNDEFINED), |wanted| object(&wanted))
    }

    /// See [`CheckedFigure::add_page`].
    pub fn take(&mut self, lines: &[u8]) -> Result<(), JsValue> {
        or_thrown(self.0.add_page(lines))
    }

    /// See [`CheckedFigure::progress`].
    pub fn progress(&self) -> Vec<u32> {
        let (seen, all) = self.0.progress();
        [seen, all].map(|count| u32::try_from(count).unwrap_or(u32::MAX)).to_vec()
    }

    /// See [`CheckedFigure::report`].
    pub fn report(self) -> Result<JsValue, JsValue> {
        object(&self.0.report())
    }
}

/// See [`RunningAlert`].
#[wasm_bindgen(js_name = RunningAlert)]
#[derive(Debug)]
pub struct JsRunningAlert(RunningAlert);

#[wasm_bindgen(js_class = RunningAlert)]
impl JsRunningAlert {
    /// See [`RunningAlert::new`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn read(rule: &[u8], kept: Option<Vec<u8>>) -> Result<JsRunningAlert, JsValue> {
        or_thrown(RunningAlert::new(rule, kept.as_deref()).map(Self))
    }

    /// See [`RunningAlert::process_slot`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn take(
        &mut self,
        head: &[u8],
        snapshot: Option<Vec<u8>>,
        origin: &str,
        size: u32,
        root: &str,
    ) -> Result<JsValue, JsValue> {
        let checkpoint = or_thrown(checkpoint_of(origin, size.into(), root))?;
        answer(self.0.process_slot(head, snapshot.as_deref(), &checkpoint))
    }

    /// See [`RunningAlert::current_standing`].
    pub fn standing(&self) -> Result<JsValue, JsValue> {
        object(&self.0.current_standing())
    }

    /// See [`RunningAlert::keep`].
    pub fn keep(&self) -> Vec<u8> {
        self.0.keep()
    }
}

/// See [`Venues`].
#[wasm_bindgen(js_name = Venues)]
#[derive(Debug, Default)]
pub struct JsVenues(Venues);

#[wasm_bindgen(js_class = Venues)]
impl JsVenues {
    /// No venue yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`Venues::venue`].
    pub fn venue(&mut self, pool: &str, live: bool, base_address: &str) {
        self.0.venue(pool, live, base_address);
    }

    /// See [`Venues::row`].
    pub fn row(
        &mut self,
        size_usd: &str,
        exit_gap_pct: &str,
        basis_pct: &str,
        fee_pct: &str,
    ) -> Result<(), JsValue> {
        or_thrown(self.0.row(size_usd, exit_gap_pct, basis_pct, fee_pct))
    }

    /// See [`Venues::rank`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn rank(&self, fixed_costs_usd: Vec<String>, size_usd: &str) -> Result<JsValue, JsValue> {
        answer(self.0.rank(&fixed_costs_usd, size_usd))
    }
}

/// See [`SplitOver`].
#[wasm_bindgen(js_name = SplitOver)]
#[derive(Debug, Default)]
pub struct JsSplitOver(SplitOver);

#[wasm_bindgen(js_class = SplitOver)]
impl JsSplitOver {
    /// No venue yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`SplitOver::add`].
    pub fn add(&mut self, opened: &JsOpened, base: &str) -> Result<(), JsValue> {
        or_thrown(self.0.add(&opened.0, base))
    }

    /// See [`SplitOver::best`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn best(&self, fixed_costs_usd: Vec<String>, size_usd: &str) -> Result<JsValue, JsValue> {
        answer(self.0.best(&fixed_costs_usd, size_usd))
    }
}

/// See [`OpenSnapshot`].
#[wasm_bindgen(js_name = Opened)]
#[derive(Debug)]
pub struct JsOpened(OpenSnapshot);

#[wasm_bindgen(js_class = Opened)]
impl JsOpened {
    /// See [`OpenSnapshot::from_file`].
    pub fn read(snapshot: &[u8]) -> Result<JsOpened, JsValue> {
        or_thrown(OpenSnapshot::from_file(snapshot).map(Self))
    }

    /// See [`OpenSnapshot::estimate`].
    pub fn estimate(&self, base: &str, size_usd: &str) -> Result<JsValue, JsValue> {
        answer(self.0.estimate(base, size_usd))
    }

    /// See [`OpenSnapshot::ladder`].
    #[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
    pub fn ladder(
        &self,
        base: &str,
        gaps: Vec<String>,
        sizes_usd: Vec<String>,
    ) -> Result<JsValue, JsValue> {
        answer(self.0.ladder(base, &gaps, &sizes_usd))
    }

    /// See [`OpenSnapshot::max_size_for`].
    #[wasm_bindgen(js_name = maxSizeFor)]
    pub fn max_size_for(&self, base: &str, gap: &str) -> Result<JsValue, JsValue> {
        answer(self.0.max_size_for(base, gap))
    }

    /// See [`OpenSnapshot::simulate_orders`].
    #[wasm_bindgen(js_name = simulateOrders)]
    pub fn simulate_orders(
        &self,
        base: &str,
        size_usd: &str,
        orders: u32,
        recovery_pct: &str,
        interval_s: u32,
    ) -> Result<JsValue, JsValue> {
        answer(self.0.simulate_orders(base, size_usd, orders, recovery_pct, interval_s))
    }

    /// See [`OpenSnapshot::base_index`].
    #[wasm_bindgen(js_name = baseIndex)]
    pub fn base_index(&self, base: &str) -> Result<u8, JsValue> {
        or_thrown(self.0.base_index(base))
    }

    /// See [`OpenSnapshot::fill`].
    pub fn fill(
        &self,
        base_index: u8,
        a: u64,
        b: u64,
        c: u64,
        d: u64,
    ) -> Result<Vec<u64>, JsValue> {
        or_thrown(self.0.fill(base_index, [a, b, c, d]))
    }
}

/// A result other than a document, or the problem to throw.
fn or_thrown<T>(outcome: Result<T, Problem>) -> Result<T, JsValue> {
    outcome.map_err(|problem| thrown(&problem))
}
