//! How an answer of a node is changed: ten kinds of faults, each with several changes.

use serde_json::{Value, json};

use super::nodes_data::{DATA_CHANGES, DataChange};
use super::nodes_records::Asked;
use super::nodes_reply::{Length, Reply, gzip};
use crate::devchain::Rng;

/// The kinds of faults.
pub const KINDS: [&str; 10] = [
    "missing",
    "null",
    "wrong_type",
    "wrong_length",
    "duplicate",
    "reordered",
    "contradictory",
    "huge",
    "status",
    "encoding",
];

/// A node's true answer.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// The request's id.
    pub id: &'a Value,
    /// Its result.
    pub result: &'a Value,
    /// The bytes of the body.
    pub body: &'a [u8],
}

/// A change of answers.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// Its name, unique.
    pub name: &'static str,
    way: Way,
}

/// What is changed.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The whole answer.
    Answer(fn(Truth<'_>) -> Reply),
    /// The data of one contract in it.
    Data(DataChange),
    /// The answer is to the same request of another block.
    OtherBlock,
}

impl Change {
    /// All changes.
    pub fn all() -> Vec<Self> {
        let whole = ANSWER_CHANGES.map(|(kind, name, change)| Self {
            kind,
            name,
            way: Way::Answer(change),
        });
        let data =
            DATA_CHANGES.map(|(kind, name, change)| Self { kind, name, way: Way::Data(change) });
        let other =
            Self { kind: "contradictory", name: "answer_of_other_block", way: Way::OtherBlock };
        whole.into_iter().chain(data).chain([other]).collect()
    }

    /// Whether it asks the recorder to stay away for a while, which in reality is over before the next slot.
    pub fn asks_to_wait(&self) -> bool {
        self.name.starts_with("too_many")
    }

    /// Whether only one contract's data changes.
    pub fn is_of_contract(&self) -> bool {
        matches!(self.way, Way::Data(_))
    }

    /// The request that is sent to the node in the place of this one; `None`: the same.
    pub fn request(&self, asked: &Value) -> Option<Value> {
        let Way::OtherBlock = self.way else { return None };
        let older = |number: &Value| {
            let digits = number.as_str()?.strip_prefix("0x")?;
            let number = u64::from_str_radix(digits, 16).ok()?.checked_sub(1)?;
            Some(Value::from(format!("{number:#x}")))
        };
        let mut other = asked.clone();
        let params = &mut other["params"];
        match asked["method"].as_str()? {
            "eth_getBlockByNumber" => params[0] = older(&params[0])?,
            "eth_getProof" => params[2] = older(&params[2])?,
            "eth_call" => params[1] = "0x2".into(),
            "eth_getLogs" => {
                for end in ["fromBlock", "toBlock"] {
                    params[0][end] = older(&params[0][end])?;
                }
            }
            _ => return None,
        }
        Some(other)
    }

    /// The changed answer; `None` where this answer cannot be changed like this.
    pub fn apply(&self, truth: Truth<'_>, asked: Asked<'_>, rng: &mut Rng) -> Option<Reply> {
        match self.way {
            Way::Answer(change) => Some(change(truth)),
            Way::Data(change) => {
                let mut records = asked.records()?;
                let result = change(&mut records, rng).then(|| asked.with_records(records))??;
                Some(with_result(truth, &result.to_string()))
            }
            Way::OtherBlock => Some(Reply::body(truth.body)),
        }
    }
}

/// An answer with this text as its result.
fn with_result(truth: Truth<'_>, result: &str) -> Reply {
    Reply::body(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, truth.id))
}

/// An answer with an error.
fn with_error(truth: Truth<'_>, code: i64, message: &str) -> Reply {
    let error = json!({ "code": code, "message": message });
    Reply::body(json!({ "jsonrpc": "2.0", "id": truth.id, "error": error }).to_string())
}

/// The bytes of the body as text, for bodies that contain it.
fn text(truth: Truth<'_>) -> String {
    String::from_utf8_lossy(truth.body).into_owned()
}

/// Many bytes, more than a reader may take.
const HUGE: usize = 12 << 20;

type AnswerChange = fn(Truth<'_>) -> Reply;

/// By kind and name.
const ANSWER_CHANGES: [(&str, &str, AnswerChange); 62] = [
    ("missing", "nothing", |_| Reply::body("")),
    ("missing", "no_result", |it| {
        Reply::body(json!({ "jsonrpc": "2.0", "id": it.id }).to_string())
    }),
    ("missing", "no_id", |it| Reply::body(json!({ "result": it.result }).to_string())),
    ("missing", "no_reply", |_| Reply::Close),
    ("missing", "no_reply_in_time", |_| Reply::Hang),
    ("null", "null_result", |it| with_result(it, "null")),
    ("null", "null_body", |_| Reply::body("null")),
    ("null", "null_id", |it| Reply::body(json!({ "id": null, "result": it.result }).to_string())),
    ("wrong_type", "number", |it| with_result(it, "7")),
    ("wrong_type", "text", |it| with_result(it, "\"soon\"")),
    ("wrong_type", "object", |it| with_result(it, "{}")),
    ("wrong_type", "list", |it| with_result(it, "[]")),
    ("wrong_type", "truth_value", |it| with_result(it, "true")),
    ("wrong_type", "empty_bytes", |it| with_result(it, "\"0x\"")),
    ("wrong_type", "id_as_text", |it| {
        Reply::body(json!({ "id": it.id.to_string(), "result": it.result }).to_string())
    }),
    ("wrong_type", "in_a_list", |it| Reply::body(format!("[{}]", text(it)))),
    ("wrong_length", "cut", |it| Reply::body(&it.body[..it.body.len() / 2])),
    ("wrong_length", "longer", |it| Reply::body([it.body, b"]}"].concat())),
    ("wrong_length", "ends_early", |it| {
        Reply::body(it.body).declaring(Length::False(it.body.len() as u64 + 100))
    }),
    ("wrong_length", "declares_less", |it| {
        Reply::body(it.body).declaring(Length::False(it.body.len() as u64 / 2))
    }),
    ("duplicate", "body_twice", |it| Reply::body([it.body, it.body].concat())),
    ("duplicate", "two_in_a_list", |it| Reply::body(format!("[{0},{0}]", text(it)))),
    ("duplicate", "two_results", |it| {
        Reply::body(format!(r#"{{"result":null,"id":{},"result":{}}}"#, it.id, it.result))
    }),
    ("reordered", "result_first", |it| {
        Reply::body(format!(r#"{{"result":{},"id":{},"jsonrpc":"2.0"}}"#, it.result, it.id))
    }),
    ("contradictory", "other_id", |it| {
        Reply::body(json!({ "id": 987_654_321, "result": it.result }).to_string())
    }),
    ("contradictory", "result_and_error", |it| {
        let error = json!({ "code": -32_000, "message": "header not found" });
        Reply::body(json!({ "id": it.id, "result": it.result, "error": error }).to_string())
    }),
    ("contradictory", "other_chain_id", |it| with_result(it, "\"0x1\"")),
    ("huge", "spaces", |_| Reply::body(vec![b' '; HUGE]).declaring(Length::Absent)),
    ("huge", "declared", |it| Reply::body(it.body).declaring(Length::False(1 << 40))),
    ("huge", "nested", |it| {
        let depth = 100_000;
        with_result(it, &format!("{}{}", "[".repeat(depth), "]".repeat(depth)))
    }),
    ("huge", "items", |it| with_result(it, &format!("[{}7]", "7,".repeat(400_000)))),
    ("huge", "objects", |it| with_result(it, &format!("[{}{{}}]", "{},".repeat(400_000)))),
    ("huge", "long_number", |it| with_result(it, &"7".repeat(1 << 20))),
    ("huge", "zeros", |it| with_result(it, &format!("\"0x{}\"", "0".repeat(6 << 20)))),
    ("status", "redirect", |_| Reply::status(301, "").with("Location", "http://127.0.0.1:9/")),
    ("status", "no_content", |_| Reply::status(204, "")),
    ("status", "bad_request", |_| Reply::status(400, "bad request")),
    ("status", "no_key", |_| Reply::status(401, "no key")),
    ("status", "forbidden", |_| Reply::status(403, "forbidden")),
    ("status", "not_found", |_| Reply::status(404, "<html>not found</html>")),
    ("status", "too_large", |_| Reply::status(413, "")),
    ("status", "too_many", |_| Reply::status(429, "").with("Retry-After", "1")),
    ("status", "too_many_for_long", |_| Reply::status(429, "").with("Retry-After", "86400")),
    ("status", "failed", |_| Reply::status(500, "internal error")),
    ("status", "failed_with_answer", |it| Reply::status(500, it.body)),
    ("status", "bad_gateway", |_| Reply::status(502, "<html>bad gateway</html>")),
    ("status", "unavailable", |_| Reply::status(503, "")),
    ("status", "code_no_block", |it| with_error(it, -32_000, "header not found")),
    ("status", "code_no_state", |it| with_error(it, -32_000, "missing trie node 7f (path )")),
    ("status", "code_limited", |it| with_error(it, -32_005, "daily request count exceeded")),
    ("status", "code_no_method", |it| with_error(it, -32_601, "the method does not exist")),
    ("status", "code_internal", |it| with_error(it, -32_603, "Internal error")),
    ("status", "code_reverted", |it| with_error(it, 3, "execution reverted")),
    ("status", "code_too_much", |it| {
        with_error(it, -32_005, "query returned more than 10000 results")
    }),
    ("encoding", "gzip", |it| Reply::body(gzip(it.body)).with("Content-Encoding", "gzip")),
    ("encoding", "gzip_cut", |it| {
        let packed = gzip(it.body);
        Reply::body(&packed[..packed.len() / 2]).with("Content-Encoding", "gzip")
    }),
    ("encoding", "gzip_huge", |_| {
        Reply::body(gzip(&vec![b' '; HUGE])).with("Content-Encoding", "gzip")
    }),
    ("encoding", "gzip_named_only", |it| Reply::body(it.body).with("Content-Encoding", "gzip")),
    ("encoding", "brotli_named", |it| Reply::body(it.body).with("Content-Encoding", "br")),
    ("encoding", "two_bytes_each", |it| {
        Reply::body(it.body.iter().flat_map(|byte| [*byte, 0]).collect::<Vec<u8>>())
    }),
    ("encoding", "not_text", |it| Reply::body([b"\xff\xfe\x80", it.body].concat())),
    ("encoding", "web_page", |_| Reply::body("<html><body>Sign in</body></html>")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_kind_has_changes() {
        let all = Change::all();
        let names: BTreeSet<&str> = all.iter().map(|change| change.name).collect();
        assert_eq!(names.len(), all.len());
        for kind in KINDS {
            assert!(all.iter().any(|change| change.kind == kind), "{kind}");
        }
        assert!(all.iter().all(|change| KINDS.contains(&change.kind)));
    }

    #[test]
    fn the_answer_of_another_block_is_asked_for() {
        let all = Change::all();
        let other = all.iter().find(|change| change.name == "answer_of_other_block").unwrap();
        let block = json!({ "method": "eth_getBlockByNumber", "params": ["0x10", false] });
        assert_eq!(other.request(&block).unwrap()["params"][0], "0xf");
        let newest = json!({ "method": "eth_getBlockByNumber", "params": ["latest", false] });
        assert_eq!(other.request(&newest), None);
    }
}
