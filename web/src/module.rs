//! Programs that are fetched when their reader asks for them, and not with the page: see decision 23. The page itself says where
//! they are, under the policy of its own scripts.

use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// What judges state proofs.
pub const PROOF: &str = "proof";

/// All that the npm package checks and computes: what few readers of these pages ask for is asked of it.
pub const EXITGAP: &str = "exitgap";

/// A program that was fetched.
#[derive(Debug, Clone)]
pub struct Module(JsValue);

impl Module {
    /// Fetches one, once for all pages; why it did not come, in words.
    pub async fn load(name: &str) -> Result<Self, String> {
        let loading = method(&js_sys::global(), "exitgapModule", &[name.into()])?;
        let module = JsFuture::from(Promise::resolve(&loading)).await;
        module.map(Self).map_err(|error| format!("its program did not load: {}", words(&error)))
    }

    /// One of its classes.
    pub fn class(&self, name: &str) -> JsValue {
        field(&self.0, name)
    }

    /// Calls one of its functions.
    pub fn call(&self, name: &str, arguments: &[JsValue]) -> Result<JsValue, String> {
        method(&self.0, name, arguments)
    }
}

/// What a value has under a name; undefined where that is nothing.
pub fn field(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

/// The text that a value has under a name; empty where that is none.
pub fn text(of: &JsValue, name: &str) -> String {
    field(of, name).as_string().unwrap_or_default()
}

/// Calls a function that belongs to a value.
pub fn method(of: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, String> {
    call_function(&field(of, name), of, arguments)
}

fn call_function(
    function: &JsValue,
    of: &JsValue,
    arguments: &[JsValue],
) -> Result<JsValue, String> {
    let missing = || "this page was built without this function".to_owned();
    let function = function.dyn_ref::<Function>().ok_or_else(missing)?;
    let arguments: Array = arguments.iter().collect();
    function.apply(of, &arguments).map_err(|error| words(&error))
}

/// Bytes, as a program takes them.
pub fn bytes(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}

/// The words of what was thrown: a text, a problem document, or an error.
fn words(thrown: &JsValue) -> String {
    let of = |name: &str| field(thrown, name).as_string();
    thrown.as_string().or_else(|| of("detail")).or_else(|| of("message")).unwrap_or_default()
}
