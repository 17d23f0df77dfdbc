//! The languages of the example requests.

use exitgap_api::operations::Method;

use super::example_request::{ExampleRequest, RULE};
use super::{javascript, python, rust};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// The shell, with curl.
    Curl,
    /// JavaScript, with the npm package.
    JavaScript,
    /// Python, with the package.
    Python,
    /// Rust, with the crate.
    Rust,
}

impl Language {
    /// All languages, in the order they are offered.
    pub const ALL: [Self; 4] = [Self::Curl, Self::JavaScript, Self::Python, Self::Rust];

    /// Its name on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
            Self::Rust => "Rust",
        }
    }

    /// Its name in the style sheet.
    pub fn code(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }

    /// What a reader must install for it.
    pub fn about(self) -> &'static str {
        match self {
            Self::Curl => {
                "Alert calls also need `TOKEN` and `ALERT`, from the answer of `POST /v1/alerts`."
            }
            Self::JavaScript => {
                "With the npm package `exitgap`, or with `fetch` if the package has no function. Every call below begins like this. Alert calls also need `token` and `alert`, from the answer of `POST /v1/alerts`."
            }
            Self::Python => {
                "With the package `exitgap`, or with the standard library if the package has no function. Every call below begins like this. Alert calls also need `token` and `alert`, from the answer of `POST /v1/alerts`."
            }
            Self::Rust => {
                "With the crate `exitgap-client`, in an `async` function. Every call below begins like this. Alert calls also need `token` and `alert`, from the answer of `POST /v1/alerts`."
            }
        }
    }

    /// The first lines of every snippet, for a service at `api`.
    pub fn before(self, api: &str) -> String {
        match self {
            Self::Curl => "TOKEN=\nALERT=".to_owned(),
            Self::JavaScript => javascript::before(api),
            Self::Python => python::before(api),
            Self::Rust => rust::before(api),
        }
    }

    /// Renders an example request.
    pub fn snippet(self, asked: &ExampleRequest<'_>) -> String {
        match self {
            Self::Curl => curl(asked),
            Self::JavaScript => javascript::snippet(asked),
            Self::Python => python::snippet(asked),
            Self::Rust => rust::snippet(asked),
        }
    }
}

fn curl(asked: &ExampleRequest<'_>) -> String {
    let method = match asked.operation.method() {
        Method::Get => String::new(),
        other => format!("-X {} ", other.name()),
    };
    let token = if asked.is_owned() { "-H \"Authorization: Bearer $TOKEN\" " } else { "" };
    let sent = asked.sent().map(|sent| format!("-d '{sent}' ")).unwrap_or_default();
    let url = asked.url();
    let quote = if url.contains(RULE) { '"' } else { '\'' };
    format!("curl {method}{token}{sent}{quote}{url}{quote}")
}
