//! A tool's arguments as parameters of the table of operations: a JSON value is parsed like the text in a URL, with the
//! same errors.

use std::borrow::Cow;

use exitgap_api::operations::parameters::{CHAIN_IN_PATH, POOL, TOKEN_IN_PATH};
use exitgap_api::operations::{Given, Parameter, Question};
use exitgap_api::{Problem, invalid_parameter};
use serde_json::{Map, Value};

use crate::tool_list::Parameters;

/// Whether the arguments are about a token, not about one pool.
pub fn is_of_token(arguments: &Map<String, Value>) -> bool {
    [CHAIN_IN_PATH, TOKEN_IN_PATH].iter().any(|one| is_given(arguments, one))
}

fn is_given(arguments: &Map<String, Value>, parameter: &Parameter) -> bool {
    arguments.get(parameter.name).is_some_and(|value| !value.is_null())
}

/// Parses the arguments of one of a tool's questions: the second, if there are two and the arguments are about a token.
/// `null` counts as absent.
pub fn parse_question<Q: Question>(
    questions: &[Parameters],
    arguments: &Map<String, Value>,
) -> Result<Q, Problem> {
    let parameters = match questions {
        [_, of_token] if is_of_token(arguments) => {
            if is_given(arguments, &POOL) {
                let detail = "pool excludes chain and token";
                let hint = "give pool for a sale in one pool, or chain and token for a sale over all pools";
                return Err(invalid_parameter(POOL.name, detail, hint));
            }
            of_token
        }
        [parameters, ..] => parameters,
        [] => &[][..],
    };
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
