//! Readers in processes of Node.js: the second verifier, and the package that is compiled to WebAssembly.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::Result;

/// Which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeReader {
    /// The second verifier, `tests/js`.
    Second,
    /// The npm package.
    Package,
}

impl NodeReader {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Second => "second verifier",
            Self::Package => "WebAssembly",
        }
    }

    /// Whether it is there: the package must have been built.
    pub fn is_there(self) -> bool {
        self == Self::Second || package().join("dist/exitgap_bg.wasm").is_file()
    }
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pkg")
}

/// A running process.
pub struct Node {
    which: NodeReader,
    running: Option<Running>,
    /// How often it ended by itself.
    pub ended: u64,
}

struct Running {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The seeds whose context it has.
    told: BTreeSet<(String, usize)>,
}

/// What it answered.
#[derive(Debug)]
pub struct Answer {
    /// What readers must say alike.
    pub compared: String,
    /// An error that is no verdict.
    pub error: Option<String>,
}

impl Node {
    /// A process that is started with the first question.
    pub fn new(which: NodeReader) -> Self {
        Self { which, running: None, ended: 0 }
    }

    /// The answer about a changed file. `context` is what it has to know of the seed.
    pub fn ask(
        &mut self,
        seed: usize,
        context: impl FnOnce() -> Option<Value>,
        question: &Value,
    ) -> Result<Answer> {
        let kind = question["kind"].as_str().unwrap_or_default().to_owned();
        let mut question = question.clone();
        question["seed"] = seed.into();
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(Running::start(self.which)?),
        };
        if running.told.insert((kind.clone(), seed))
            && let Some(context) = context()
        {
            let told = json!({"kind": kind, "seed": seed, "context": context});
            running.exchange(&told)?;
        }
        match running.exchange(&question) {
            Ok(answer) => {
                let text = |name: &str| answer[name].as_str().map(str::to_owned);
                Ok(Answer { compared: text("compared").unwrap_or_default(), error: text("error") })
            }
            Err(error) => {
                // The next question starts another process.
                self.running = None;
                self.ended += 1;
                Ok(Answer { compared: String::new(), error: Some(format!("it ended: {error}")) })
            }
        }
    }
}

impl Running {
    fn start(which: NodeReader) -> Result<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/forged.mjs");
        let mut node = Command::new("node");
        node.arg(program).arg(match which {
            NodeReader::Second => "second",
            NodeReader::Package => "package",
        });
        if which == NodeReader::Package {
            node.arg(package());
        }
        let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take().ok_or("it has no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("it has no output")?);
        Ok(Self { child, questions, answers, told: BTreeSet::new() })
    }

    fn exchange(&mut self, question: &Value) -> Result<Value> {
        writeln!(self.questions, "{question}")?;
        self.questions.flush()?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(format!("no answer, {:?}", self.child.try_wait()?).into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
