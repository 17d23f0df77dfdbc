//! Documents as plain JavaScript objects.

use serde::Serialize;
use wasm_bindgen::JsValue;

/// The object of a document, or of the problem to throw.
pub fn answer<T: Serialize, P: Serialize>(outcome: Result<T, P>) -> Result<JsValue, JsValue> {
    match outcome {
        Ok(document) => object(&document),
        Err(problem) => Err(thrown(&problem)),
    }
}

/// The object of a document: the same as from `JSON.parse`.
pub fn object(document: &impl Serialize) -> Result<JsValue, JsValue> {
    Ok(document.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?)
}

/// The object to throw for a problem.
pub fn thrown(problem: &impl Serialize) -> JsValue {
    object(problem).unwrap_or_else(|error| error)
}
