//! A tool's arguments as parameters of the table of operations: what a JSON value says is read as the
//! text of an address would be, with the same refusals.

use std::borrow::Cow;

use exitgap_api::operations::{Given, Parameter, Question};
use exitgap_api::{Problem, invalid_parameter};
use serde_json::{Map, Value};

/// Reads what is asked. `null` stands for what is left out.
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

/// The text of a value: of a string what it says, of a number its digits.
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
    // A name that is not known is refused as such.
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
        return Ok(Cow::Borrowed(""));
    };
    let detail = format!("{name}: the value is {found}, not text or a number");
    Err(invalid_parameter(name, &detail, parameter.hint.unwrap_or("give text or a number")))
}
