//! exitgap-api
