//! Documents as plain JavaScript objects.

use serde::Serialize;
use wasm_bindgen::JsValue;

/// The object of a document, or that of the problem, to be thrown.
pub fn answer<T: Serialize, P: Serialize>(outcome: Result<T, P>) -> Result<JsValue, JsValue> {
    match outcome {
        Ok(document) => object(&document),
        Err(problem) => Err(thrown(&problem)),
    }
}

/// The object of a document: what `JSON.parse` would make of it.
pub fn object(document: &impl Serialize) -> Result<JsValue, JsValue> {
    Ok(document.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?)
}

/// What is thrown of a problem.
pub fn thrown(problem: &impl Serialize) -> JsValue {
    object(problem).unwrap_or_else(|error| error)
}
