//! exitgap-chain
