//! exitgap-core
