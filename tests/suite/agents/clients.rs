//! Clients that others wrote, as they publish them, against the tools: the conformance suite of the
//! protocol, its TypeScript client and its Python client.
