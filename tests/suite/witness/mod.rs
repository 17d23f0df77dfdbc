//! Witnesses: this program as a witness of third-party logs; killed while it cosigns; and the verdicts on cosignatures.

mod judged;
mod stand;
