//! exitgap-cli
