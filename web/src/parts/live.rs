//! Slots as they are sealed, told by the service's stream.

use exitgap_api::operations::{Operation, Target, parameters};
use exitgap_core::ids::PoolId;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::EventSource;

use crate::service::client;

/// Does something with each slot that is sealed, as long as the page is there; of a pool, with each that it has a head
/// in. Whoever loses the connection is told what came meanwhile. Nothing is done where the browser has no streams, or
/// the service refuses another one.
pub fn on_sealed(pool: Option<&PoolId>, then: impl Fn() + 'static) {
    let target = Operation::Stream.target();
    match pool {
        Some(pool) => listen(&target.with(&parameters::WATCHED, pool), "pool", then),
        None => listen(&target, "slot", then),
    }
}

/// The same with each slot that the reader's rules were evaluated with, whose ticket this is.
pub fn on_evaluated(ticket: &str, then: impl Fn() + 'static) {
    listen(&Operation::Stream.target().with(&parameters::TICKET, ticket), "slot", then);
}

fn listen(target: &Target, event: &str, then: impl Fn() + 'static) {
    let url = format!("{}{}", client().base(), target.as_str());
    let Ok(source) = EventSource::new(&url) else { return };
    let told = Closure::<dyn Fn()>::new(then);
    // Whoever listens for an event by its name cannot be refused.
    let _ = source.add_event_listener_with_callback(event, told.as_ref().unchecked_ref());
    let held = StoredValue::new_local((source, told));
    on_cleanup(move || {
        held.try_with_value(|(source, _)| source.close());
    });
}
