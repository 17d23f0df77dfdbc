//! The Python interface of exitgap's verifier, SDK and client, as called by the package `exitgap`.
//!
//! **In scope**: each call as a function of bytes and options that returns the JSON document
//! printed by `exitgap … --json` or fails with [`Refused`]; a service's answers, downloaded and
//! verified. **Out of scope**: arithmetic and verification (`exitgap-core`), documents
//! (`exitgap-api`), the functions themselves (`exitgap-wasm`, whose functions also run natively),
//! requests (`exitgap-client`); argument types and maximum lengths, documents as objects, data
//! frames (the package's Python code, the only caller).
//!
//! - `files`: calls on files
//! - `service`: calls to a service; `target`: their addresses; `kept`: what is stored about its log
//! - `errors`: the error passed to Python when there is no answer
//!
//! This crate makes no decisions and computes nothing.

#![expect(
    clippy::needless_pass_by_value,
    clippy::result_large_err,
    reason = "what crosses is owned; a problem carries what it found, and a request makes one at most"
)]

mod errors;
mod files;
mod kept;
mod service;
mod target;

use pyo3::prelude::*;

pub use errors::Refused;
pub use files::Opened;
pub use service::Service;

/// The module.
#[pymodule]
fn _exitgap(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Refused", module.py().get_type::<Refused>())?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Opened>()?;
    module.add_class::<Service>()?;
    files::add_to(module)
}
