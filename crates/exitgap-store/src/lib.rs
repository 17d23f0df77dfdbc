//! exitgap-store
