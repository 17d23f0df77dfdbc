//! exitgap-server
