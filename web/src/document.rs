//! A document of the service that a page only displays: its fields are read by name. A separate type for each such
//! document would add several kilobytes; only documents that are checked or used in computations have their own types.

use js_sys::{Array, Reflect};
use serde::Deserialize;
use wasm_bindgen::JsValue;

/// A document, or a part of one. Anything with an unexpected type counts as absent.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Document(#[serde(with = "serde_wasm_bindgen::preserve")] JsValue);

impl Document {
    fn at(&self, name: &str) -> JsValue {
        Reflect::get(&self.0, &name.into()).unwrap_or(JsValue::UNDEFINED)
    }

    /// The text of a field, or the digits of its number. Numbers have at most fifteen significant digits, so they are
    /// returned exactly as sent.
    pub fn text(&self, name: &str) -> Option<String> {
        let field = self.at(name);
        let digits =
            |number| js_sys::Number::from(number).to_string_with_radix(10).ok().map(String::from);
        field.as_string().or_else(|| digits(field.as_f64()?))
    }

    /// The same, or an empty text.
    pub fn text_or_none(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// A count; 0 if absent.
    pub fn count(&self, name: &str) -> u64 {
        self.text(name).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Whether a field is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.at(name).is_truthy()
    }

    /// A nested object.
    pub fn part(&self, name: &str) -> Option<Self> {
        Some(self.at(name)).filter(JsValue::is_object).map(Self)
    }

    /// The texts of a list; empty if it is not a list.
    pub fn text_list(&self, name: &str) -> Vec<String> {
        let field = self.at(name);
        let texts = Array::is_array(&field).then(|| Array::from(&field));
        texts.iter().flat_map(Array::iter).filter_map(|text| text.as_string()).collect()
    }

    /// The objects of a list; empty if it is not a list.
    pub fn list(&self, name: &str) -> Vec<Self> {
        let field = self.at(name);
        if !Array::is_array(&field) {
            return Vec::new();
        }
        Array::from(&field).iter().map(Self).collect()
    }
}
