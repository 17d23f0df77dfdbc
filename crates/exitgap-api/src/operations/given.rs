//! The parameters of a request. Each must be known and, unless it can be repeated, given only once. Unknown names are
//! refused, because ignoring a misspelt parameter would give a wrong answer.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::parameters::shown;
use crate::{Problem, ProblemCode, invalid_parameter};

use super::values::add_hint;
use super::{Operation, Parameter, Place, Presence, Question};

/// The parameters of a request as text.
#[derive(Debug)]
pub struct Given<'a>(Vec<(&'static Parameter, Cow<'a, str>)>);

impl<'a> Given<'a> {
    /// Reads the operation's `parameters` from an address. `named` is the decoded variable part of the path, and
    /// `query` the part after the question mark. Refuses unknown names with `unknown_parameter`, and repeated ones with
    /// `invalid_parameter`.
    pub fn from_url(
        parameters: &[&'static Parameter],
        named: Option<&'a str>,
        query: &'a str,
    ) -> Result<Self, Problem> {
        let in_path = || parameters.iter().filter(|parameter| parameter.place == Place::Path);
        // The last path parameter takes the rest, because a path in the log contains slashes.
        let parts = named.into_iter().flat_map(|named| named.splitn(in_path().count().max(1), '/'));
        let mut given: Vec<(&'static Parameter, Cow<'a, str>)> = in_path()
            .zip(parts)
            .map(|(parameter, part)| (*parameter, Cow::Borrowed(part)))
            .collect();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let parameter = in_query(parameters)
                .find(|parameter| parameter.name == name)
                .ok_or_else(|| unknown(in_query(parameters), &name, "this address"))?;
            let again = given.iter().any(|(known, _)| known.name == parameter.name);
            if again && !parameter.kind.is_repeated() {
                let detail = format!("{name} is given more than once");
                return Err(invalid_parameter(&name, &detail, "give it once"));
            }
            given.push((parameter, value));
        }
        Ok(Self(given))
    }

    /// Reads the parameters of a request from its path and its body, a JSON object whose members are named like the
    /// operation's parameters. Each member is a string, a number, or a list of strings if the parameter can be
    /// repeated.
    pub fn body(
        parameters: &[&'static Parameter],
        named: Option<&'a str>,
        members: &'a Map<String, Value>,
    ) -> Result<Self, Problem> {
        let mut given = Self::from_url(parameters, named, "")?;
        for (name, value) in members {
            let parameter = in_query(parameters)
                .find(|parameter| parameter.name == name)
                .ok_or_else(|| unknown(in_query(parameters), name, "this request"))?;
            let text = |value: &'a Value| match value {
                Value::String(text) => Ok(Cow::Borrowed(text.as_str())),
                Value::Number(number) => {
                    let text = number.to_string();
                    // In JSON, 40.0 is the whole number 40, too.
                    let whole = text.strip_suffix(".0").filter(|_| parameter.kind.is_number());
                    Ok(Cow::Owned(whole.map_or_else(|| text.clone(), str::to_owned)))
                }
                _ => {
                    let detail = format!("{name}: the value is neither text nor a number");
                    Err(invalid_parameter(name, &detail, parameter.hint.unwrap_or_default()))
                }
            };
            match value {
                Value::Array(several) if parameter.kind.is_repeated() => {
                    for value in several {
                        given.0.push((parameter, text(value)?));
                    }
                }
                value => given.0.push((parameter, text(value)?)),
            }
        }
        Ok(given)
    }

    /// Takes parameters given by name, such as a tool's arguments. Each is present at most once, whether it belongs to
    /// the path or the query. Refuses unknown names with `unknown_parameter`.
    pub fn from_arguments(
        parameters: &[&'static Parameter],
        arguments: impl IntoIterator<Item = (&'a str, Cow<'a, str>)>,
    ) -> Result<Self, Problem> {
        let known = || parameters.iter().copied();
        let find = |(name, value)| {
            let parameter = known().find(|parameter| parameter.name == name);
            let parameter = parameter.ok_or_else(|| unknown(known(), name, "this tool"))?;
            Ok((parameter, value))
        };
        arguments.into_iter().map(find).collect::<Result<_, _>>().map(Self)
    }

    /// All values of a parameter, in order.
    pub fn all_values(&self, parameter: &Parameter) -> impl Iterator<Item = &str> {
        let name = parameter.name;
        self.0.iter().filter(move |(known, _)| known.name == name).map(|(_, value)| &**value)
    }

    /// Parses an optional parameter.
    pub fn parse_optional<T>(
        &self,
        parameter: &Parameter,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        let default = match parameter.presence {
            Presence::Default(text) => Some(text),
            Presence::Required | Presence::Optional => None,
        };
        let Some(text) = self.all_values(parameter).next().or(default) else { return Ok(None) };
        read(text).map(Some).map_err(|problem| add_hint(problem, parameter))
    }

    /// Parses a parameter that is required or has a default.
    pub fn parse_required<T>(
        &self,
        parameter: &Parameter,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.parse_optional(parameter, read)?.ok_or_else(|| {
            let detail = format!("{} is missing", parameter.name);
            let problem = Problem::new(ProblemCode::InvalidParameter, detail);
            add_hint(problem.field(parameter.name), parameter)
        })
    }
}

impl Operation {
    /// Parses the parameters of this operation from an address, as in [`Given::from_url`].
    pub fn parse_question<Q: Question>(
        self,
        named: Option<&str>,
        query: &str,
    ) -> Result<Q, Problem> {
        Q::from_parameters(&Given::from_url(self.row().parameters, named, query)?)
    }
}

fn in_query(parameters: &[&'static Parameter]) -> impl Iterator<Item = &'static Parameter> {
    parameters.iter().copied().filter(|parameter| parameter.place == Place::Query)
}

/// The refusal of a name that is not among those known to `to`.
fn unknown(known: impl Iterator<Item = &'static Parameter>, name: &str, to: &str) -> Problem {
    let name = shown(name);
    let known: Vec<&str> = known.map(|parameter| parameter.name).collect();
    let hint = match known.as_slice() {
        [] => "it takes no parameters".to_owned(),
        known => format!("it takes {}", known.join(", ")),
    };
    let detail = format!("{name:?} is not a parameter of {to}");
    Problem::new(ProblemCode::UnknownParameter, detail).field(&name).hint(hint)
}
