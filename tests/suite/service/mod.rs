//! The HTTP service.

mod accuracy;
mod accuracy_table;
mod alerts;
mod answers;
mod any_size;
mod capabilities;
mod challenged;
mod decay;
mod equities;
mod every_kind;
mod exposure;
mod guards;
mod hours;
mod kept;
mod limits;
mod own_stream;
mod receivers;
mod redemption;
mod refusals;
mod routes;
mod sales;
mod schemathesis;
mod series;
mod stream;
mod two_hosts;
mod venue_stress;
