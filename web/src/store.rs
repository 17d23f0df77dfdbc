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
