//! Observed answers of nodes and gateways, with their meanings. Every row of the table has at least one.

use std::collections::BTreeSet;

use super::*;

const CALL: &str = "eth_call";
const GET_LOGS: &str = "eth_getLogs";
const BLOCK: &str = "eth_getBlockByNumber";
const PROOF: &str = "eth_getProof";
const SEND: &str = "eth_sendRawTransaction";

/// Method, status, code (0: none), message, data, meaning.
type Seen = (&'static str, u16, i64, &'static str, &'static str, Meaning);

const REVERTS: &[Seen] = &[
    (CALL, 200, 3, "execution reverted: no", "0x08c379a0", Meaning::Reverted),
    (CALL, 200, -32_000, "execution reverted", "", Meaning::Reverted),
    (CALL, 200, -32_000, "execution reverted: too many requests", "", Meaning::Reverted),
    (CALL, 200, -32_000, "Execution reverted: header not found", "", Meaning::Reverted),
    (CALL, 200, 3, "rate limit", "", Meaning::Reverted),
    (CALL, 200, -32_015, "VM execution error.", "Reverted 0x", Meaning::Reverted),
    (
        CALL,
        200,
        -32_603,
        "Error: VM Exception while processing transaction: reverted with reason string 'per day'",
        "",
        Meaning::Reverted,
    ),
    (CALL, 200, -32_015, "VM execution error.", "revert: block range", Meaning::Reverted),
];

const WAITS: &[Seen] = &[
    (CALL, 429, 0, "", "", Meaning::RateLimited),
    (CALL, 200, 429, "slow", "", Meaning::RateLimited),
    (CALL, 402, 0, "payment required", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_012, "credits limited to 6000/sec", "", Meaning::RateLimited),
    (CALL, 200, -32_012, "limited", "", Meaning::RateLimited),
    (
        CALL,
        429,
        -32_007,
        "50/second request limit reached - reduce calls per second or upgrade your account at …",
        "",
        Meaning::RateLimited,
    ),
    (
        CALL,
        429,
        429,
        "Your app has exceeded its compute units per second capacity.",
        "",
        Meaning::RateLimited,
    ),
    (
        CALL,
        200,
        -32_005,
        "daily request count exceeded, request rate limited",
        "",
        Meaning::RateLimited,
    ),
    (CALL, 200, -32_005, "project ID request rate exceeded", "", Meaning::RateLimited),
    (CALL, 200, -32_005, "limit exceeded", "", Meaning::RateLimited),
    (
        CALL,
        200,
        -32_005,
        "You've exceeded the RPS limit available on the current plan.",
        "",
        Meaning::RateLimited,
    ),
    (
        GET_LOGS,
        200,
        -32_090,
        "Too many requests, reason: call rate limit exhausted, retry in 10s",
        "",
        Meaning::RateLimited,
    ),
    (CALL, 429, -32_016, "over rate limit", "", Meaning::RateLimited),
    (CALL, 429, -32_012, "backend is over capacity", "", Meaning::RateLimited),
    (
        GET_LOGS,
        200,
        -32_005,
        "method eth_getLogs in batch triggered rate limit",
        "",
        Meaning::RateLimited,
    ),
    (CALL, 200, -32_000, "Monthly capacity limit exceeded.", "", Meaning::RateLimited),
    (CALL, 403, 0, "error code: 1015", "", Meaning::RateLimited),
    // In words that others use of a request's size.
    (CALL, 429, -32_000, "limit exceeded", "", Meaning::RateLimited),
    (GET_LOGS, 429, -32_005, "exceeds limit of your plan", "", Meaning::RateLimited),
    (GET_LOGS, 402, -32_000, "block range limit is for paying users", "", Meaning::RateLimited),
    (CALL, 200, 402, "limit is reached", "", Meaning::RateLimited),
    (GET_LOGS, 200, 429, "exceeded max of today", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_005, "request limit exceeded", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "limit is 300 per minute", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "exceeded the limit of 3000 calls per hour", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_000, "limited to 100000 per day", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_000, "more than 100 requests in 10 seconds", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "exceeds max concurrent calls", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_000, "too many concurrent requests", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "capacity exceeded the limit of your plan", "", Meaning::RateLimited),
    (
        GET_LOGS,
        200,
        -32_000,
        "exceeds limit of 330 compute units per second",
        "",
        Meaning::RateLimited,
    ),
    (CALL, 200, -32_000, "throttled, limit is 10", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "quota exceeds limit", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_012, "limited to 5", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "maximum requests: exceeds limit of 5", "", Meaning::RateLimited),
    // Requests are counted, in words that others use of blocks and logs.
    (GET_LOGS, 200, -32_000, "limit of 100 requests exceeded", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_000, "limited to 25 rps", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "more than 100 requests", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "reduce your request frequency", "", Meaning::RateLimited),
    (GET_LOGS, 200, -32_000, "exceeded max of 50 qps", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "limit is 100 calls", "", Meaning::RateLimited),
    (CALL, 200, -32_000, "please reduce the frequency of calls", "", Meaning::RateLimited),
];

const OTHERS: &[Seen] = &[
    (
        CALL,
        200,
        -32_000,
        "missing trie node 12ab (path ) state 0x1 is not available",
        "",
        Meaning::NoState,
    ),
    (CALL, 200, -32_002, "No state available for block 0xe7b1", "", Meaning::NoState),
    (CALL, 200, -32_603, "StateUnavailableException", "", Meaning::NoState),
    (CALL, 200, -32_000, "World state unavailable", "", Meaning::NoState),
    (CALL, 200, -32_000, "state at block #7 is pruned", "", Meaning::NoState),
    (
        PROOF,
        200,
        -32_000,
        "distance to target block exceeds maximum proof window",
        "",
        Meaning::NoState,
    ),
    (
        CALL,
        200,
        -32_000,
        "required historical state unavailable (reexec=128)",
        "",
        Meaning::NoState,
    ),
    (GET_LOGS, 200, 4_444, "gone", "", Meaning::NoState),
    (
        CALL,
        403,
        -32_002,
        "Archive, Debug and Trace requests are not available on your current plan",
        "",
        Meaning::NoState,
    ),
    (CALL, 200, -32_000, "header not found", "", Meaning::NoBlock),
    (CALL, 200, -32_000, "hash 0x12 is not currently canonical", "", Meaning::NoBlock),
    (CALL, 200, -32_000, "4294967295 could not be found", "", Meaning::NoBlock),
    (CALL, 200, -32_001, "block not found: hash 0x12", "", Meaning::NoBlock),
    (CALL, 200, -32_014, "something about the block", "", Meaning::NoBlock),
    (BLOCK, 400, -32_019, "block is out of range", "", Meaning::NoBlock),
    (GET_LOGS, 200, -32_602, "block range extends beyond current head block", "", Meaning::NoBlock),
    (GET_LOGS, 200, -32_000, "block range exceeds current head block", "", Meaning::NoBlock),
    (CALL, 200, -32_603, "upstream does not have the requested block yet", "", Meaning::NoBlock),
];

const NARROWS: &[Seen] = &[
    (CALL, 200, -32_000, "execution aborted (timeout = 5s)", "", Meaning::TooSlow),
    (CALL, 200, -32_002, "request timed out", "", Meaning::TooSlow),
    (GET_LOGS, 200, -32_000, "log query timed out", "", Meaning::TooSlow),
    (
        GET_LOGS,
        200,
        -32_000,
        "Query timeout exceeded. Consider reducing your block range.",
        "",
        Meaning::TooSlow,
    ),
    (GET_LOGS, 408, 30, "Request timeout on the free tier", "", Meaning::TooSlow),
    (CALL, 200, -32_016, "Expired", "", Meaning::TooSlow),
    (CALL, 200, -32_015, "VM execution error.", "Out of gas", Meaning::TooMuch),
    (CALL, 200, -32_015, "VM execution error.", "OutOfGas", Meaning::TooMuch),
    (CALL, 200, -32_000, "out of gas", "0x", Meaning::TooMuch),
    (CALL, 200, -32_000, "gas required exceeds allowance (550000000)", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_005, "query returned more than 10000 results", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "range 28 exceeds limit of 5", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_602, "logs matched by query exceeds limit of 10000", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "maximum [from, to] blocks distance: 5", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "exceed maximum block range: 50000", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_000,
        "requested too many blocks from 1 to 5000, maximum is set to 2048",
        "",
        Meaning::TooMuch,
    ),
    (
        GET_LOGS,
        200,
        35,
        "ranges over 10000 blocks are not supported on freetier",
        "",
        Meaning::TooMuch,
    ),
    (GET_LOGS, 200, -32_614, "eth_getLogs is limited to a 10,000 range", "", Meaning::TooMuch),
    (GET_LOGS, 200, 35, "over the plan", "", Meaning::TooMuch),
    (
        GET_LOGS,
        400,
        -32_600,
        "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range",
        "",
        Meaning::TooMuch,
    ),
    (GET_LOGS, 200, -32_602, "Log response size exceeded.", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_602,
        "Block range limit exceeded. See more details at …",
        "",
        Meaning::TooMuch,
    ),
    (
        GET_LOGS,
        200,
        -32_000,
        "block range is larger than max block range, block range = 5120",
        "",
        Meaning::TooMuch,
    ),
    (GET_LOGS, 200, -32_005, "Requested range exceeds maximum range limit", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_000,
        "query exceeds max results 20000, retry with the range 1-5",
        "",
        Meaning::TooMuch,
    ),
    (GET_LOGS, 200, -32_600, "block range too high", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "query must be smaller than size 1024", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_602,
        "exceed max addresses or topics per search position",
        "",
        Meaning::TooMuch,
    ),
    (CALL, 500, -32_020, "backend response too large", "", Meaning::TooMuch),
    (CALL, 200, -32_008, "Response is too big", "Exceeded max limit of 100", Meaning::TooMuch),
    (CALL, 413, 0, "<html>413 Request Entity Too Large</html>", "", Meaning::TooMuch),
    (CALL, 413, 0, "", "", Meaning::TooMuch),
    // Limits of a request, in words that others use of the number of requests.
    (GET_LOGS, 200, -32_000, "log count exceeded", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "range 5000 exceeds your plan limit", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "too many logs: request limit 1000", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "too many topics, request limit is 4", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "request limit of 50 addresses exceeded", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_000, "requests are limited to a range of 10", "", Meaning::TooMuch),
    (CALL, 200, -32_000, "a batch has more than 100 requests", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_000,
        "eth_getLogs requests in the free plan are limited to 10 blocks",
        "",
        Meaning::TooMuch,
    ),
    (GET_LOGS, 200, -32_000, "block range exceeds the quota of 5 blocks", "", Meaning::TooMuch),
    (GET_LOGS, 200, -32_012, "block range limit is 5", "", Meaning::TooMuch),
    (
        GET_LOGS,
        200,
        -32_000,
        "block range too large, see https://example.org/docs/rate-limits/per-second",
        "",
        Meaning::TooMuch,
    ),
];

const OUTAGES: &[Seen] = &[
    (CALL, 200, -32_603, "Internal error", "", Meaning::Outage),
    (CALL, 503, -32_603, "no", "", Meaning::Outage),
    (CALL, 200, -32_001, "Unable to complete request at this time.", "", Meaning::Outage),
    (CALL, 200, -32_001, "no", "", Meaning::Outage),
    (CALL, 200, -32_503, "no", "", Meaning::Outage),
    (CALL, 503, -32_011, "no backend is currently healthy to serve traffic", "", Meaning::Outage),
    (CALL, 500, 19, "Temporary internal error. Please retry, trace-id: …", "", Meaning::Outage),
    (CALL, 500, 19, "no", "", Meaning::Outage),
    (
        CALL,
        503,
        0,
        "upstream connect error or disconnect/reset before headers",
        "",
        Meaning::Outage,
    ),
    (CALL, 502, 0, "<html>nginx</html>", "", Meaning::Outage),
    (CALL, 403, 0, "", "", Meaning::Outage),
    (CALL, 530, 0, "", "", Meaning::Outage),
    (CALL, 503, -32_000, "no", "", Meaning::Outage),
    (BLOCK, 200, -32_009, "Server is busy, try again later", "", Meaning::Outage),
];

const REST: &[Seen] = &[
    (
        PROOF,
        200,
        -32_601,
        "the method eth_getProof does not exist/is not available",
        "",
        Meaning::NotSupported,
    ),
    (GET_LOGS, 200, -32_601, "no", "", Meaning::NotSupported),
    (PROOF, 200, -32_604, "Method not enabled", "", Meaning::NotSupported),
    (PROOF, 200, -32_601, "eth_getProof is temporarily disabled", "", Meaning::Outage),
    (CALL, 200, -32_004, "Method not supported", "", Meaning::Unclear),
    (CALL, 200, -32_604, "Method not enabled", "", Meaning::Unclear),
    (CALL, 200, -32_000, "eth_call is disabled", "", Meaning::Unclear),
    (CALL, 200, -32_000, "method not available", "", Meaning::Unclear),
    (BLOCK, 403, -32_000, "method is not supported", "", Meaning::Unclear),
    (BLOCK, 200, -32_001, "rpc method is not whitelisted", "", Meaning::Unclear),
    ("eth_chainId", 200, -32_604, "no", "", Meaning::Unclear),
    ("eth_getTransactionReceipt", 200, -32_004, "no", "", Meaning::Unclear),
    (GET_LOGS, 403, -32_001, "rpc method is not whitelisted", "", Meaning::NotSupported),
    (
        CALL,
        200,
        -32_601,
        "the method eth_call does not exist/is not available",
        "",
        Meaning::Unclear,
    ),
    (GET_LOGS, 200, -32_005, "limit exceeded", "", Meaning::Unclear),
    (CALL, 504, 0, "", "", Meaning::Unclear),
    (CALL, 504, -32_015, "gateway timeout", "", Meaning::Unclear),
    (CALL, 200, -32_000, "upstream request timeout", "", Meaning::Unclear),
    (CALL, 200, -32_000, "qux", "", Meaning::Unclear),
    (GET_LOGS, 200, -32_602, "qux", "", Meaning::Unclear),
    (CALL, 200, 0, "", "", Meaning::Unclear),
    (SEND, 200, -32_000, "nonce too low", "", Meaning::Rejected),
    (SEND, 200, -32_000, "already known", "", Meaning::Rejected),
    (
        SEND,
        200,
        -32_000,
        "insufficient funds for gas * price + value: have 1 want 2",
        "",
        Meaning::Rejected,
    ),
    (SEND, 200, -32_000, "exceeds block gas limit", "", Meaning::Rejected),
    (SEND, 200, -32_000, "qux", "", Meaning::Rejected),
    (SEND, 429, -32_005, "too many requests", "", Meaning::RateLimited),
    (SEND, 503, -32_000, "no", "", Meaning::Outage),
];

fn fault(seen: &Seen) -> Fault<'static> {
    let (method, status, code, message, data, _) = *seen;
    Fault { method, status, code: (code != 0).then_some(code), message, data }
}

#[test]
fn what_nodes_were_seen_to_answer_means_what_it_means_and_each_row_was_seen() {
    let mut seen_rows = BTreeSet::new();
    for seen in [REVERTS, WAITS, OTHERS, NARROWS, OUTAGES, REST].concat() {
        let fault = fault(&seen);
        assert_eq!(fault.meaning(), seen.5, "{seen:?}");
        let place = |row: &'static Row| ROWS.iter().position(|other| std::ptr::eq(other, row));
        seen_rows.extend(fault.row().and_then(place));
    }
    let unseen: Vec<&Row> =
        (0..ROWS.len()).filter(|row| !seen_rows.contains(row)).map(|row| &ROWS[row]).collect();
    assert!(unseen.is_empty(), "rows without an example: {unseen:?}");
}

#[test]
fn words_are_looked_for_in_lower_case() {
    for row in ROWS {
        let words: &[&str] = match row.words {
            Words::Any => &[],
            Words::Begins(words)
            | Words::Message(words)
            | Words::Anywhere(words)
            | Words::Data(words) => words,
        };
        for word in words.iter().chain(row.without) {
            assert_eq!(*word, word.to_ascii_lowercase());
        }
    }
}

#[test]
fn what_is_told_has_code_status_and_data() {
    let words = |seen: &Seen| fault(seen).words();
    let told = words(&(CALL, 503, -32_011, "no\nbackend", "", Meaning::Outage));
    assert_eq!(told, "HTTP status 503, error -32011: no backend");
    assert_eq!(words(&(CALL, 502, 0, "", "", Meaning::Outage)), "HTTP status 502");
    let told = words(&(CALL, 200, -32_015, "VM execution error.", "Out of gas", Meaning::TooMuch));
    assert_eq!(told, "error -32015: VM execution error. (Out of gas)");
    let told = words(&(CALL, 200, 3, "execution reverted", "0x08c379a0", Meaning::Reverted));
    assert_eq!(told, "execution reverted");
}
