//! The one error type of these commands: what failed, and what to do about it.

use std::fmt;

/// Result of a developer's command.
pub type Result<T> = std::result::Result<T, Failure>;

/// A command could not do its work.
#[derive(Debug)]
pub struct Failure {
    what: String,
    remedy: Option<String>,
    code: u8,
}

impl Failure {
    /// Something that the command needs or checks is not as required: exit code 1.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, code: 1 }
    }

    /// The command line itself is wrong: exit code 2.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { code: 2, ..Self::new(what) }
    }

    /// The same, with the exit code of the program that failed.
    pub fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// Adds the sentence that tells the reader what to do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The process exit code this failure ends with.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  -> {remedy}"),
            None => Ok(()),
        }
    }
}

/// Adds a description of the operation to an input or output error.
pub trait Context<T> {
    /// `doing` completes the sentence "failed while …".
    fn context(self, doing: impl fmt::Display) -> Result<T>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn context(self, doing: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
