//! What this browser remembers: the last checkpoint it saw, and the key it trusts for that.

use exitgap_client::Storage;
use leptos::prelude::window;

/// The browser's local storage; forgets everything where the reader does not allow it.
#[derive(Debug, Clone, Copy)]
pub struct LocalStorage;

impl Storage for LocalStorage {
    fn get(&self, name: &str) -> Option<String> {
        window().local_storage().ok()??.get_item(name).ok()?
    }

    fn put(&self, name: &str, text: &str) {
        if let Ok(Some(storage)) = window().local_storage() {
            // Full or forbidden: the reader is then warned of less, not of something false.
            let _ = storage.set_item(name, text);
        }
    }
}

/// The keys of all logs that this browser has kept from earlier visits, one per line.
pub fn kept_keys() -> String {
    let Ok(Some(storage)) = window().local_storage() else { return String::new() };
    let count = storage.length().unwrap_or(0);
    let names = (0..count).filter_map(|index| storage.key(index).ok().flatten());
    let names = names.filter(|name| name.starts_with("exitgap keys "));
    let keys: Vec<String> =
        names.filter_map(|name| storage.get_item(&name).ok().flatten()).collect();
    keys.join("\n")
}

/// Whether this browser was here before.
pub fn has_kept_keys() -> bool {
    !kept_keys().is_empty()
}
