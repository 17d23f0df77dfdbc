//! exitgap-tests
