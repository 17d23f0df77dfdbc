//! Calls on files: evidence, and snapshots that are parsed once and used many times.

use exitgap_wasm as face;
use pyo3::prelude::*;

use crate::errors::{answer_json, run_guarded};

/// Adds the functions of this module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(limits, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(witnessed, module)?)?;
    module.add_function(wrap_pyfunction!(recompute, module)?)?;
    module.add_function(wrap_pyfunction!(snapshot_hash, module)?)?;
    module.add_function(wrap_pyfunction!(best_split, module)?)
}

/// The maximum size of each kind of document.
#[pyfunction]
fn limits(py: Python<'_>) -> PyResult<String> {
    answer_json(py, || Ok(face::LIMITS))
}

/// A checkpoint seen before: its note, and the hashes that prove consistency with it.
type Seen = (String, Vec<String>);

/// See [`face::verify`].
#[pyfunction]
fn verify(
    py: Python<'_>,
    evidence: &[u8],
    keys: Vec<String>,
    seen: Option<Seen>,
    window: Option<&[u8]>,
) -> PyResult<String> {
    answer_json(py, || {
        let seen = seen.as_ref().map(|(note, proof)| (note.clone(), proof.as_slice()));
        face::verify(evidence, &keys, seen, window.map(<[u8]>::to_vec))
    })
}

/// See [`face::check_witnesses`].
#[pyfunction]
fn witnessed(
    py: Python<'_>,
    evidence: &[u8],
    policy: &[u8],
    now_s: Option<f64>,
) -> PyResult<String> {
    answer_json(py, || face::check_witnesses(evidence, policy, now_s))
}

/// See [`face::recompute`].
#[pyfunction]
fn recompute(py: Python<'_>, evidence: &[u8]) -> PyResult<String> {
    answer_json(py, || face::recompute(evidence))
}

/// See [`face::snapshot_hash`].
#[pyfunction]
fn snapshot_hash(py: Python<'_>, snapshot: &[u8]) -> PyResult<String> {
    run_guarded(py, || Ok(face::snapshot_hash(snapshot)?.to_string()))
}

/// See [`face::SplitOver::best`].
#[pyfunction]
fn best_split(
    py: Python<'_>,
    snapshots: Vec<Py<Opened>>,
    base: &str,
    fixed_costs_usd: Vec<String>,
    size_usd: &str,
) -> PyResult<String> {
    let snapshots: Vec<&Opened> = snapshots.iter().map(Py::get).collect();
    answer_json(py, || {
        let mut over = face::SplitOver::default();
        for snapshot in snapshots {
            over.add(&snapshot.0, base)?;
        }
        over.best(&fixed_costs_usd, size_usd)
    })
}

/// See [`face::OpenSnapshot`].
#[pyclass(frozen, module = "exitgap._exitgap")]
#[derive(Debug)]
pub struct Opened(face::OpenSnapshot);

#[pymethods]
impl Opened {
    /// See [`face::OpenSnapshot::from_file`].
    #[new]
    fn read(py: Python<'_>, snapshot: &[u8]) -> PyResult<Self> {
        run_guarded(py, || Ok(Self(face::OpenSnapshot::from_file(snapshot)?)))
    }

    /// See [`face::OpenSnapshot::estimate`].
    fn estimate(&self, py: Python<'_>, base: &str, size_usd: &str) -> PyResult<String> {
        answer_json(py, || self.0.estimate(base, size_usd))
    }

    /// See [`face::OpenSnapshot::ladder`].
    fn ladder(
        &self,
        py: Python<'_>,
        base: &str,
        gaps: Vec<String>,
        sizes_usd: Vec<String>,
    ) -> PyResult<String> {
        answer_json(py, || self.0.ladder(base, &gaps, &sizes_usd))
    }

    /// See [`face::OpenSnapshot::max_size_for`].
    fn max_size_for(&self, py: Python<'_>, base: &str, gap: &str) -> PyResult<String> {
        answer_json(py, || self.0.max_size_for(base, gap))
    }

    /// See [`face::OpenSnapshot::simulate_orders`].
    fn simulate_orders(
        &self,
        py: Python<'_>,
        base: &str,
        size_usd: &str,
        orders: u32,
        recovery_pct: &str,
        interval_s: u32,
    ) -> PyResult<String> {
        answer_json(py, || self.0.simulate_orders(base, size_usd, orders, recovery_pct, interval_s))
    }

    /// See [`face::OpenSnapshot::fill`]: four times 64 bits of raw units, the lowest first.
    fn fill(&self, py: Python<'_>, base: &str, amount_in: [u64; 4]) -> PyResult<Vec<u64>> {
        run_guarded(py, || {
            let index = self.0.base_index(base)?;
            Ok(self.0.fill(index, amount_in)?)
        })
    }
}
