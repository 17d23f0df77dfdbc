//! The table of known errors of nodes and gateways, with their meanings.

use super::{Meaning, Row, Words};

/// Calls of contracts. The error may contain the contract's own text.
const CALLS: &[&str] = &["eth_call", "eth_estimateGas"];

/// Methods whose requests are made smaller if they take too long.
const HEAVY: &[&str] = &["eth_call", "eth_estimateGas", "eth_getLogs", "eth_getProof"];

const LOGS: &[&str] = &["eth_getLogs"];

/// Methods that every node has: one that seems not to have them is out, or means something else.
const EVERYWHERE: &[&str] = &[
    "eth_call",
    "eth_getBlockByNumber",
    "eth_chainId",
    "eth_getTransactionReceipt",
    "eth_getTransactionCount",
    "eth_getBalance",
];

/// How nodes write that they do not have, or do not allow, a method.
const NO_METHOD: Words = Words::Message(&[
    "method not found",
    "method not supported",
    "unsupported method",
    "method is not supported",
    "method not enabled",
    "method not allowed",
    "method is not allowed",
    "method is not available",
    "method not available",
    "method is unavailable",
    "method unavailable",
    "no such method",
    "unknown method",
    "does not exist/is not available",
    "not whitelisted",
    "is not supported on",
    "is not enabled",
    "is disabled",
    "has been disabled",
    "method disabled",
    "not implemented",
]);

/// How nodes write that their head is nearer than what was asked for.
const HEADS: &[&str] = &[
    "beyond current head",
    "beyond the head",
    "beyond head",
    "exceeds current head",
    "exceeds the current head",
    "exceeds head",
    "after the head",
    "ahead of head",
    "block is out of range",
    "does not have the requested block",
    "greater than latest",
    "greater than the latest",
    "higher than latest",
    "after last accepted block",
    "future block",
    "block in the future",
    "not yet synced",
    "not synced",
    "still syncing",
    "is syncing",
    "syncing in progress",
];

/// Words of a span of time, over which only requests are counted.
const PER_TIME: &[&str] = &[
    "/sec",
    "/second",
    "/minute",
    "/min",
    "/hour",
    "/day",
    "/month",
    "/s ",
    "per sec",
    "per min",
    "per hour",
    "per day",
    "per month",
    "requests per",
    "requests every",
    "requests/",
    "req/",
    "hourly limit",
    "daily limit",
    "monthly limit",
    "rps limit",
    "cu/s",
];

/// Words of a request's size: with them, "limit" and "capacity" are of the request, and not of how many there are.
const SIZES: &[&str] = &[
    "block range",
    "blocks range",
    "range of blocks",
    "blocks",
    "range",
    "results",
    "response size",
    "gas",
    "log count",
    " logs",
    " topics",
    " addresses",
    "batch",
];

/// How nodes write that there is a limit, of whatever.
const LIMITS: &[&str] =
    &["limit", "exceed", "more than", "reduce", "too many", "too much", "max", "lower", "at most"];

/// The rows, in the order in which they are tried. Words are in lower case.
pub(super) static ROWS: &[Row] = &[
    // A contract's own text comes first, because a contract can revert with any text, even one that another row
    // matches. go-ethereum, Erigon, reth and Besu write "execution reverted" and give code 3 (ethereum/execution-apis,
    // JSON-RPC error codes).
    Row::words(
        Words::Begins(&[
            "execution reverted",
            "vm execution error: revert",
            "vm exception while processing transaction: revert",
            "error: vm exception while processing transaction: revert",
        ]),
        Meaning::Reverted,
    )
    .of(CALLS),
    Row::codes(&[3], Meaning::Reverted).of(CALLS),
    // Nethermind and OpenEthereum: code -32015, "VM execution error.", and the cause in `data` ("Reverted 0x…").
    Row::words(Words::Data(&["revert"]), Meaning::Reverted).with_codes(&[-32_015]).of(CALLS),
    // A transaction that the node already has, or that cannot be mined (go-ethereum, core/txpool/errors.go and
    // core/error.go). Sending it again does not help.
    Row::words(
        Words::Message(&[
            "already known",
            "already imported",
            "known transaction",
            "already exists",
            "nonce too",
            "insufficient funds",
            "underpriced",
            "intrinsic gas",
            "exceeds block gas limit",
            "exceeds the configured cap",
            "fee cap",
            "invalid sender",
            "invalid signature",
            "replacement",
        ]),
        Meaning::Rejected,
    )
    .of(&["eth_sendRawTransaction"]),
    // Rate limits. Infura: "project ID request rate exceeded", "daily request count exceeded, request rate limited"; Alchemy:
    // "exceeded its compute units per second capacity"; QuickNode: "50/second request limit reached", "credits limited to
    // 6000/sec" (latticexyz/mud#1522); Chainstack: "exceeded the RPS limit"; Ankr: "call rate limit exhausted"; proxyd
    // (ethereum-optimism/infra, proxyd/rpc.go): "over rate limit", "backend is over capacity"; dRPC and Cloudflare: "too many
    // requests", "error code: 1015"; BSC: "method eth_getLogs in batch triggered rate limit".
    Row::status(&[429, 402], Meaning::RateLimited),
    Row::codes(&[429, 402, -32_029, -32_090], Meaning::RateLimited),
    Row::words(
        Words::Anywhere(&[
            "rate limit",
            "rate-limit",
            "rate_limit",
            "ratelimit",
            "rate exceeded",
            "rate is exceeded",
            "request rate",
            "too many requests",
            "too many concurrent",
            "throttl",
            "credits limited",
            "credit limit",
            "out of credits",
            "credits exhausted",
            "error code: 1015",
            "slow down",
        ]),
        Meaning::RateLimited,
    ),
    Row::words(Words::Anywhere(PER_TIME), Meaning::RateLimited),
    Row::words(
        Words::Anywhere(&[
            "request limit",
            "requests limit",
            "request-limit",
            "requests are limit",
            "requests in ",
            "requests within",
            "requests exceed",
            "requests allowed",
            "allowed requests",
            "max requests",
            "maximum requests",
            "of requests",
            "on requests",
            "request quota",
            "request count",
            "requests count",
            "api limit",
            "api calls",
            "call limit",
            "usage limit",
            "plan limit",
            "connection limit",
            "too many connections",
            "concurren",
            "simultaneous",
            "in flight",
            "compute unit",
            "capacity",
            "throughput",
            "bandwidth",
            "quota",
            "credits",
            "payment required",
            "count exceeded",
            "too often",
            "too frequent",
            "back off",
            "backoff",
        ]),
        Meaning::RateLimited,
    )
    .without(SIZES),
    Row::codes(&[-32_007, -32_012, -32_024], Meaning::RateLimited).without(SIZES),
    // Requests are counted, or how often they come: "limit of 100 requests exceeded", "limited to 25 rps", "reduce your
    // request frequency". The words "limit of", "limited to", "more than" and "reduce" alone are used of a request's size.
    Row::words(
        Words::Message(&[
            "requests",
            " calls",
            " rps",
            " qps",
            " tps",
            "frequen",
            "per-second",
            "your plan",
            "your tier",
        ]),
        Meaning::RateLimited,
    )
    .with(LIMITS)
    .without(SIZES),
    // The head is before the requested block, so the node lags. go-ethereum (eth/filters/api.go) and the tests of
    // ethereum/execution-apis: "block range extends beyond current head block"; reth: "block range exceeds current
    // head"; proxyd: "block is out of range"; gateways: "upstream does not have the requested block yet"
    // (nethermind#11173).
    Row::words(Words::Anywhere(HEADS), Meaning::NoBlock),
    // States that the node does not have, not yet or no longer. go-ethereum: "missing trie node … (path …) state … is not
    // available", "historical state … is not available", "required historical state unavailable", "pruned history
    // unavailable" (code 4444); Nethermind: "No state available for block …", "StateUnavailableException",
    // "… is missing from the database" (nethermind#13603, #9403); Besu: "World state unavailable"; Erigon: "old data not
    // available due to pruning"; reth: "state at block … is pruned", "no state found for block", "distance to target block
    // exceeds maximum proof window"; Filecoin: "lookbacks of more than … are disallowed"; providers: "Archive requests are
    // not supported".
    Row::words(
        Words::Anywhere(&[
            "missing trie node",
            "state is not available",
            "state not available",
            "state unavailable",
            "stateunavailable",
            "historical state",
            "historical data",
            "state already discarded",
            "state histories",
            "state has been",
            "pruned",
            "pruning",
            "required historical",
            "distance to target block exceeds",
            "proof window",
            "no state available",
            "no state found",
            "no historical",
            "missing from the database",
            "blockoutofrangeerror",
            "lookback",
            "failed to load state",
            "archive",
            "old data not available",
            "history unavailable",
        ]),
        Meaning::NoState,
    ),
    Row::codes(&[4_444], Meaning::NoState),
    // Blocks that the node does not have. go-ethereum: "header not found", "header for hash not found", "hash … is not
    // currently canonical", "unknown block"; Nethermind: "… could not be found" (nethermind#11173); Besu: "Block not found";
    // reth: "block not found: hash …"; EIP-1474: "Resource not found".
    Row::words(
        Words::Anywhere(&[
            "header not found",
            "header for hash not found",
            "block not found",
            "blocknotfound",
            "unknown block",
            "unknown header",
            "could not find block",
            "cannot find block",
            "could not be found",
            "no block found",
            "no such block",
            "block does not exist",
            "block is not available",
            "block not available",
            "block is unavailable",
            "not canonical",
            "not currently canonical",
            "resource not found",
            "requested block is not",
            "requested block not",
            "tipset",
        ]),
        Meaning::NoBlock,
    ),
    // A method that a node does not have or does not allow: JSON-RPC 2.0 (-32601), EIP-1474 (-32004), Besu "Method not
    // enabled" (-32604), proxyd "rpc method is not whitelisted" (-32001). Not of methods that every node has.
    // What is off for a while is an outage.
    Row::words(Words::Message(&["temporar"]), Meaning::Outage)
        .with_codes(&[-32_601, -32_604, -32_004]),
    Row::codes(&[-32_601, -32_604, -32_004], Meaning::Unclear).of(EVERYWHERE),
    Row::words(NO_METHOD, Meaning::Unclear).of(EVERYWHERE).without(&["temporar"]),
    Row::words(NO_METHOD, Meaning::NotSupported).without(&["temporar"]),
    Row::codes(&[-32_601, -32_604, -32_004], Meaning::NotSupported),
    // A gateway's message about the node behind it does not yet show that the request is too large. It is repeated
    // first, and then made smaller. Envoy: "upstream request timeout"; proxyd: "gateway timeout" (-32015); below,
    // statuses 408 and 504 of RFC 9110, 522 and 524 of Cloudflare.
    Row::words(Words::Message(&["gateway time", "upstream request timeout"]), Meaning::Unclear),
    // Too heavy: the node gave up computing. go-ethereum: "execution aborted (timeout = 5s)", "request timed out" (-32002);
    // Arbitrum: "log query timed out"; Alchemy: "Query timeout exceeded"; Moonbeam: "query timeout of 10 seconds exceeded";
    // dRPC: "Request timeout on the free tier" (30); Besu: "Timeout expired"; Nethermind: code -32016.
    Row::words(
        Words::Anywhere(&[
            "execution aborted",
            "timed out",
            "timeout",
            "time out",
            "deadline exceeded",
            "took too long",
            "context canceled",
            "too complex",
            "too expensive",
            "too heavy",
        ]),
        Meaning::TooSlow,
    )
    .of(HEAVY),
    Row::codes(&[-32_016, 30], Meaning::TooSlow).of(HEAVY),
    Row::status(&[408, 504, 522, 524], Meaning::Unclear),
    // Gas: go-ethereum "out of gas", "gas required exceeds allowance"; Nethermind and OpenEthereum: -32015 with `data` "Out of
    // gas" or "OutOfGas".
    Row::words(
        Words::Anywhere(&[
            "out of gas",
            "outofgas",
            "gas required exceeds",
            "gas limit",
            "exceeds gas",
            "gas cap",
            "gas allowance",
            "gas uint64 overflow",
        ]),
        Meaning::TooMuch,
    )
    .of(CALLS),
    // Too many blocks, results, bytes or addresses. Infura and Bor: "query returned more than 10000 results"; BSC: "exceed
    // maximum block range"; Base's and Arbitrum's "logs matched by query exceeds limit of 10000"; "range 28 exceeds limit of
    // 5"; Ethermint: "maximum [from, to] blocks distance: 5"; reth: "query exceeds max block range", "query exceeds max
    // results"; Besu: "Requested range exceeds maximum range limit"; Frontier: "block range is too wide"; Alchemy: "Log
    // response size exceeded", "up to a 10 block range"; QuickNode: "limited to a 10,000 range"; Chainstack: "Block range
    // limit exceeded" (zksync-era#2974); Morph: "block range is larger than max block range"; dRPC: "ranges over 10000 blocks
    // are not supported"; Avalanche: "requested too many blocks from 1 to 5000"; Volta: "Query requested more than 10.000
    // blocks"; Harmony: "query must be smaller than size 1024"; go-ethereum: "exceed max addresses", "response too large"
    // (-32003), "batch too large"; jsonrpsee: "Response is too big" (-32008), "Exceeded max limit"; proxyd: "backend response
    // too large" (-32020), "request body too large" (-32021).
    Row::words(
        Words::Anywhere(&[
            "response size",
            "too big",
            "too large",
            "too wide",
            "too high",
            "too long",
            "too many blocks",
            "too many logs",
            "too many results",
            "too many addresses",
            "too many topics",
            "more than",
            "block range",
            "blocks range",
            "blockrange",
            "range is too",
            "range too",
            "range limit",
            "range exceeds",
            "ranges over",
            "max range",
            "maximum range",
            "exceeds limit",
            "exceeds the limit",
            "exceeds max",
            "exceed max",
            "exceeds the max",
            "exceeded max",
            "exceeds range",
            "exceeded the limit",
            "blocks distance",
            "block distance",
            "blocks are not supported",
            "limit the query to",
            "limited to",
            "limit is",
            "limit of",
            "max limit",
            "max results",
            "max block",
            "max logs",
            "must be smaller",
            "must be less than",
            "smaller range",
            "smaller block",
            "narrow",
            "reduce",
            "size exceeded",
            "count exceeded",
            "plan limit",
            "request limit",
            "quota",
            "entity too large",
        ]),
        Meaning::TooMuch,
    ),
    Row::codes(&[-32_008, -32_020, -32_021, -32_614, -32_062, 35], Meaning::TooMuch),
    Row::status(&[413], Meaning::TooMuch),
    // BSC's public nodes answer "limit exceeded" (-32005) to requests for logs of any range
    // (DefiLlama/dimension-adapters#286), so it can mean either. Elsewhere it is EIP-1474's "Limit exceeded", about the
    // number of requests.
    Row::codes(&[-32_005], Meaning::Unclear).of(LOGS),
    Row::codes(&[-32_005], Meaning::RateLimited),
    // A lagging node, recognised only by its code: observed with eth_call and eth_getLogs of the newest blocks, and
    // proxyd -32019.
    Row::codes(&[-32_014, -32_019, -39_001], Meaning::NoBlock),
    // Outages. JSON-RPC 2.0: -32603 "Internal error"; Alchemy: -32001 "Unable to complete request at this time."; dRPC: 19
    // "Temporary internal error. Please retry", 12 "Can't route your request to suitable provider"; proxyd: -32010 "backend
    // offline", -32011 "no backend is currently healthy to serve traffic", -32013, -32018; jsonrpsee: -32009 "Server is
    // busy"; Envoy: "no healthy upstream", "upstream connect error".
    Row::words(
        Words::Anywhere(&[
            "temporar",
            "try again",
            "please retry",
            "unable to complete",
            "can't route",
            "no available upstream",
            "no response from upstream",
            "no healthy upstream",
            "upstream connect",
            "not healthy",
            "healthy to serve",
            "backend offline",
            "bad gateway",
            "service unavailable",
            "is unavailable",
            "server is busy",
            "overloaded",
            "maintenance",
            "internal error",
            "internal server error",
            "connection re",
            "shutting down",
        ]),
        Meaning::Outage,
    ),
    Row::codes(
        &[
            -32_603, -32_001, -32_503, -32_009, -32_010, -32_011, -32_013, -32_018, 19, 12, 500,
            502, 503,
        ],
        Meaning::Outage,
    ),
    Row::status(
        &[401, 403, 404, 407, 410, 425, 499, 500, 502, 503, 520, 521, 523, 525, 526, 527, 529, 530],
        Meaning::Outage,
    ),
    // Any other error about a transaction is the node's final refusal.
    Row::words(Words::Any, Meaning::Rejected).of(&["eth_sendRawTransaction"]),
];
