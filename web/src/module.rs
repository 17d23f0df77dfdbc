//! Modules that are loaded when the reader requests them, and not with the page: see decision 23. The page contains
//! their locations, under the policy of its own scripts.

use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Checks state proofs.
pub const PROOF: &str = "proof";

/// The npm package, for checks and computations that few readers of these pages need.
pub const EXITGAP: &str = "exitgap";

/// A loaded module.
#[derive(Debug, Clone)]
pub struct Module(JsValue);

impl Module {
    /// Loads a module, once for all pages; the error is a message.
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

/// A member of a value; undefined if absent.
pub fn field(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

/// The text in a member of a value; empty if it is not a text.
pub fn text(of: &JsValue, name: &str) -> String {
    field(of, name).as_string().unwrap_or_default()
}

/// Calls a method of a value.
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

/// Bytes as a JavaScript array.
pub fn bytes(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}

/// The message of a thrown value: a text, a problem document, or an error.
fn words(thrown: &JsValue) -> String {
    let of = |name: &str| field(thrown, name).as_string();
    thrown.as_string().or_else(|| of("detail")).or_else(|| of("message")).unwrap_or_default()
}
