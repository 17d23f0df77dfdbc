//! Witnesses: this program as one, against a log that others wrote; killed while it cosigns; and what their word comes to.

mod judged;
mod stand;
