//! The face of exitgap's verifier, SDK and client in Python, as the package `exitgap` calls it.
//!
//! **In scope**: each question as a function of bytes and options, answered with the JSON document that `exitgap … --json`
//! prints, or refused with [`Refused`]; a service's answers, fetched and verified.
//! **Out of scope**: arithmetic and verification (`exitgap-core`), documents (`exitgap-api`), the questions themselves
//! (`exitgap-wasm`, whose functions are native, too), requests (`exitgap-client`); types of arguments, their largest
//! lengths, documents as objects, frames (the package's Python, the only caller).
//!
//! - `opened`: questions to files
//! - `service`: questions to a service; `target`: their addresses; `kept`: what is remembered of its log
//! - `refused`: what crosses where there is no answer
//!
//! Nothing decides here, and nothing computes.

#![expect(
    clippy::needless_pass_by_value,
    clippy::result_large_err,
    reason = "what crosses is owned; a problem carries what it found, and a request makes one at most"
)]

mod kept;
mod opened;
mod refused;
mod service;
mod target;

use pyo3::prelude::*;

pub use opened::Opened;
pub use refused::Refused;
pub use service::Service;

/// The module.
#[pymodule]
fn _exitgap(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Refused", module.py().get_type::<Refused>())?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Opened>()?;
    module.add_class::<Service>()?;
    opened::add_to(module)
}
