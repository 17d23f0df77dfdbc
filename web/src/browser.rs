//! The browser's downloads and storage: files for the reader, the last checkpoint seen, and the trusted keys.

use exitgap_client::Storage;
use leptos::prelude::window;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Offers bytes to the reader as a download.
pub fn download(bytes: &[u8], media_type: &str, name: &str) {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(media_type);
    let Ok(blob) = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &options) else {
        return;
    };
    let Ok(url) = web_sys::Url::create_object_url_with_blob(&blob) else { return };
    let anchor = document()
        .create_element("a")
        .ok()
        .and_then(|a| a.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    let _ = web_sys::Url::revoke_object_url(&url);
}

/// The browser's local storage; stores nothing if the reader does not allow it.
#[derive(Debug, Clone, Copy)]
pub struct LocalStorage;

impl Storage for LocalStorage {
    fn get(&self, name: &str) -> Option<String> {
        window().local_storage().ok()??.get_item(name).ok()?
    }

    fn put(&self, name: &str, text: &str) {
        if let Ok(Some(storage)) = window().local_storage() {
            // If it is full or forbidden, the reader gets fewer warnings, but no false ones.
            let _ = storage.set_item(name, text);
        }
    }
}

/// The keys of all logs that this browser has stored in earlier visits, one per line.
pub fn kept_keys() -> String {
    let Ok(Some(storage)) = window().local_storage() else { return String::new() };
    let count = storage.length().unwrap_or(0);
    let names = (0..count).filter_map(|index| storage.key(index).ok().flatten());
    let names = names.filter(|name| name.starts_with("exitgap keys "));
    let keys: Vec<String> =
        names.filter_map(|name| storage.get_item(&name).ok().flatten()).collect();
    keys.join("\n")
}

/// Whether this browser has visited before.
pub fn has_kept_keys() -> bool {
    !kept_keys().is_empty()
}
