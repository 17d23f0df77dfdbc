//! A tool's arguments as parameters of the table of operations: a JSON value is parsed like the text in a URL, with the
//! same errors.

use std::borrow::Cow;

use exitgap_api::operations::{Given, Parameter, Question};
use exitgap_api::{Problem, invalid_parameter};
use serde_json::{Map, Value};

/// Parses the arguments. `null` counts as absent.
pub fn parse_question<Q: Question>(
    parameters: &[&'static Parameter],
    arguments: &Map<String, Value>,
) -> Result<Q, Problem> {
    let given: Vec<(&str, Cow<'_, str>)> = arguments
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| Ok((name.as_str(), text(parameters, name, value)?)))
        .collect::<Result<_, Problem>>()?;
    Q::from_parameters(&Given::from_arguments(parameters, given)?)
}

/// The text of a value: a string's content, or a number's digits.
fn text<'a>(
    parameters: &[&'static Parameter],
    name: &str,
    value: &'a Value,
) -> Result<Cow<'a, str>, Problem> {
    let found = match value {
        Value::String(text) => return Ok(Cow::Borrowed(text)),
        Value::Number(number) => return Ok(Cow::Owned(number.to_string())),
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Bool(_) | Value::Null => "true or false",
    };
    // Parsing rejects an unknown name.
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
        return Ok(Cow::Borrowed(""));
    };
    let detail = format!("{name}: the value is {found}, not text or a number");
    Err(invalid_parameter(name, &detail, parameter.hint.unwrap_or("give text or a number")))
}
