//! The service described in `OpenAPI` 3.1: one table of addresses, from which the document and
//! the readable reference are made. Schemas come from the documents' own types.

use axum::extract::State;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use super::App;
use super::params::{MAX_BASE_LENGTH, Query};
use super::reply::{Keep, Refused, Reply};

#[derive(OpenApi)]
#[openapi(components(schemas(
    exitgap_api::PoolList,
    exitgap_api::Published<exitgap_api::Amounts>,
    exitgap_api::Published<exitgap_api::LadderRows>,
    exitgap_api::History,
    exitgap_api::Stress,
    exitgap_api::Fragility,
    exitgap_api::Portfolio,
    exitgap_api::Capabilities,
    exitgap_api::SlotStatus,
    exitgap_api::ProblemDocument,
)))]
struct Schemas;

/// A parameter of an address.
struct Parameter {
    name: &'static str,
    required: bool,
    repeated: bool,
    schema: fn() -> Value,
    about: &'static str,
}

/// What an address answers.
enum Answers {
    /// A document of this schema.
    Document(&'static str),
    /// Bytes of this media type.
    Bytes(&'static str),
    /// The same document with 200 and with 503.
    Readiness,
    /// Nothing but problems.
    Nothing,
}

/// An address.
struct Address {
    path: &'static str,
    id: &'static str,
    tag: &'static str,
    title: &'static str,
    about: &'static str,
    /// The variable part of the path, where it has one.
    segment: Option<&'static Parameter>,
    parameters: &'static [&'static Parameter],
    answers: Answers,
    /// The statuses of its problems, beside those that every address has.
    problems: &'static [u16],
}

const POOL_SCHEMA: fn() -> Value =
    || json!({"type": "string", "pattern": "^[a-z][a-z0-9-]{0,31}:0x[0-9a-f]{40}$"});
const SLOT_SCHEMA: fn() -> Value =
    || json!({"type": "integer", "minimum": 5_957_856, "maximum": 844_674_335});
const SIZE_PATTERN: &str = "^0*(0\\.(0[1-9]|[1-9][0-9]?)[0-9]{0,4}|[1-9][0-9]{0,8}(\\.[0-9]{1,6})?|1000000000(\\.0{1,6})?)$";
const INSTANT_SCHEMA: fn() -> Value = || json!({"type": "string", "format": "date-time"});

const fn parameter(
    name: &'static str,
    required: bool,
    schema: fn() -> Value,
    about: &'static str,
) -> Parameter {
    Parameter { name, required, repeated: false, schema, about }
}

const POOL: Parameter =
    parameter("pool", true, POOL_SCHEMA, "The pool, `<chain>:<address>` in small letters.");
const SIZE: Parameter = parameter(
    "size_usd",
    true,
    || json!({"type": "string", "pattern": SIZE_PATTERN, "examples": ["10000"]}),
    "The size in USD at the oracle's price: a plain number from 0.01 to 1000000000 with at most six decimals.",
);
const BASE: Parameter = parameter(
    "base",
    false,
    || json!({"type": "string", "pattern": format!("^[ -~]{{1,{MAX_BASE_LENGTH}}}$"), "examples": ["token0"]}),
    "The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out.",
);
const BASE_BY_PLACE: Parameter = parameter(
    "base",
    false,
    || json!({"type": "string", "enum": ["token0", "token1"]}),
    "The token sold, by its place only: evidence has one address. The pool's own choice where left out.",
);
const AT: Parameter = parameter(
    "at",
    false,
    INSTANT_SCHEMA,
    "An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out.",
);
const SLOT: Parameter =
    parameter("slot", true, SLOT_SCHEMA, "The slot's number: its instant is 300 seconds times it.");
const EVIDENCE_SLOT: Parameter = parameter(
    "slot",
    false,
    SLOT_SCHEMA,
    "The slot's number. The newest recorded one where left out.",
);
const METHOD: Parameter = parameter(
    "method_version",
    false,
    || json!({"type": "string", "enum": [exitgap_core::exit::METHOD_VERSION]}),
    "The version of the rules. The newest where left out.",
);
const STANDARD_SIZE: Parameter = parameter(
    "size_usd",
    true,
    || json!({"type": "string", "enum": ["1000", "10000", "100000", "1000000"]}),
    "One of the standard sizes in USD: the gaps of these are kept of every slot.",
);
const BOARD_SIZE: Parameter = parameter(
    "size_usd",
    false,
    || json!({"type": "string", "enum": ["1000", "10000", "100000", "1000000"]}),
    "The standard size whose gap is sorted by. 100000 where left out.",
);
const SORT: Parameter = parameter(
    "sort",
    false,
    || json!({"type": "string", "enum": ["gap", "score", "depth"]}),
    "What the most fragile comes first by. The gap where left out.",
);
const FROM: Parameter = parameter(
    "from",
    false,
    INSTANT_SCHEMA,
    "The first slot: the one at or before this instant. As far back as a page reaches where left out.",
);
const PERIOD_FROM: Parameter = parameter(
    "from",
    false,
    INSTANT_SCHEMA,
    "The first slot: the one at or before this instant. The pool's first where left out.",
);
const TO: Parameter = parameter(
    "to",
    false,
    INSTANT_SCHEMA,
    "The last slot: the one at or before this instant. The newest where left out.",
);
const INTERVAL: Parameter = parameter(
    "interval",
    false,
    || json!({"type": "string", "enum": ["5m", "1h", "1d"]}),
    "The length of a row: a slot, an hour or a day, UTC. 1h where left out.",
);
const CHAIN: Parameter = parameter(
    "chain",
    false,
    || json!({"type": "string", "pattern": "^[a-z][a-z0-9-]{0,31}$"}),
    "Only pools of this chain.",
);
const LIMIT: Parameter = parameter(
    "limit",
    false,
    || json!({"type": "integer", "minimum": 1, "maximum": 1000}),
    "How many rows a page has.",
);
const CURSOR_ABOUT: &str = "`next_cursor` of the page before, as it is.";
const POOL_CURSOR: Parameter = parameter("cursor", false, POOL_SCHEMA, CURSOR_ABOUT);
const SLOT_CURSOR: Parameter = parameter("cursor", false, SLOT_SCHEMA, CURSOR_ABOUT);
const RANK_CURSOR: Parameter = parameter(
    "cursor",
    false,
    || json!({"type": "integer", "minimum": 0, "maximum": 1_000_000}),
    CURSOR_ABOUT,
);
const POSITION: Parameter = Parameter {
    name: "position",
    required: true,
    repeated: true,
    schema: || {
        let size = SIZE_PATTERN.trim_start_matches('^');
        let base = format!("/[ -~]{{1,{MAX_BASE_LENGTH}}}");
        let pattern = format!("^[a-z][a-z0-9-]{{0,31}}:0x[0-9a-f]{{40}}({base})?:{size}");
        let item = json!({"type": "string", "pattern": pattern});
        json!({"type": "array", "items": item, "minItems": 1, "maxItems": 100})
    },
    about: "`<pool>:<size_usd>`, or `<pool>/<base>:<size_usd>` with a base as elsewhere; repeated, up to 100 times.",
};
const HASH: Parameter = parameter(
    "hash",
    true,
    || json!({"type": "string", "pattern": "^0x[0-9a-f]{64}$"}),
    "The snapshot's SHA-256.",
);
const LOG_PATH: Parameter = parameter(
    "path",
    true,
    || json!({"type": "string", "enum": ["checkpoint", "verifier-key"]}),
    "`checkpoint`, `verifier-key`, `tile/<level>/<index>`, `tile/entries/<index>`, `slots/<slot>.jsonl` or `parts/<sha256>`.",
);

const ADDRESSES: &[Address] = &[
    Address {
        path: "/v1/pools",
        id: "listPools",
        tag: "Estimates",
        title: "List the monitored pools",
        about: "Every pool with its tokens, its status, the date on which its series began and how long it is.",
        segment: None,
        parameters: &[&CHAIN, &LIMIT, &POOL_CURSOR],
        answers: Answers::Document("PoolList"),
        problems: &[400, 404],
    },
    Address {
        path: "/v1/exit/{pool}",
        id: "estimateExit",
        tag: "Estimates",
        title: "How far below the oracle does a sale of this size fill?",
        about: "Exact to the last token unit. `exit_gap_pct` is the decision field: positive where the fill is worse than the oracle. A size that cannot be filled has no gap; the refusal names `max_fillable_usd`.",
        segment: Some(&POOL),
        parameters: &[&SIZE, &BASE, &AT],
        answers: Answers::Document("Published_Amounts"),
        problems: &[400, 404, 422, 503],
    },
    Address {
        path: "/v1/ladder/{pool}",
        id: "readLadder",
        tag: "Estimates",
        title: "Depth by gap, slippage by size",
        about: "How much exits within each gap limit, and what each standard size fills at.",
        segment: Some(&POOL),
        parameters: &[&BASE, &AT],
        answers: Answers::Document("Published_LadderRows"),
        problems: &[400, 404, 503],
    },
    Address {
        path: "/v1/history/{pool}",
        id: "readHistory",
        tag: "Series",
        title: "The recorded series",
        about: "Gaps at a standard size and depths, slot by slot, hour by hour or day by day. A row of many slots gives the last gap, the worst number, how many slots refused the size and the least that could be filled then, and the lowest depth, each with its slot. Missing and retracted slots are rows or counted in them, never holes.",
        segment: Some(&POOL),
        parameters: &[&STANDARD_SIZE, &BASE, &FROM, &TO, &INTERVAL, &LIMIT, &SLOT_CURSOR],
        answers: Answers::Document("History"),
        problems: &[400, 404, 422, 503],
    },
    Address {
        path: "/v1/stress/{pool}",
        id: "readStress",
        tag: "Series",
        title: "The worst of a period",
        about: "The worst gap at a standard size that is a number; apart from it how many slots refused the size and the least that could be filled then; the lowest depth, each with its slot; and how many slots of the period were missing.",
        segment: Some(&POOL),
        parameters: &[&STANDARD_SIZE, &BASE, &PERIOD_FROM, &TO],
        answers: Answers::Document("Stress"),
        problems: &[400, 404, 422, 503],
    },
    Address {
        path: "/v1/fragility",
        id: "readFragility",
        tag: "Series",
        title: "The fragility board",
        about: "All pools, the most fragile first: gaps at the standard sizes, depth now, median and lowest of seven days. `score_method` says how the score is made.",
        segment: None,
        parameters: &[&CHAIN, &SORT, &BOARD_SIZE, &LIMIT, &RANK_CURSOR],
        answers: Answers::Document("Fragility"),
        problems: &[400, 404],
    },
    Address {
        path: "/v1/portfolio",
        id: "scorePortfolio",
        tag: "Estimates",
        title: "Several positions, exited at once",
        about: "Positions of one pool and base are sold together. Where something cannot be filled the total has no gap, but `unfilled_usd` and the gap of what can be filled.",
        segment: None,
        parameters: &[&POSITION],
        answers: Answers::Document("Portfolio"),
        // Many positions are more than an address may hold.
        problems: &[400, 404, 414, 503],
    },
    Address {
        path: "/v1/capabilities",
        id: "listCapabilities",
        tag: "Service",
        title: "What this deployment can do",
        about: "Every capability of the specification with its true status here: live, preview or roadmap.",
        segment: None,
        parameters: &[],
        answers: Answers::Document("Capabilities"),
        problems: &[400],
    },
    Address {
        path: "/v1/alerts",
        id: "listAlerts",
        tag: "Service",
        title: "Alerts: specified, not built yet",
        about: "Refused with `not_available`, whatever is asked.",
        segment: None,
        parameters: &[],
        answers: Answers::Nothing,
        problems: &[404],
    },
    Address {
        path: "/livez",
        id: "isAlive",
        tag: "Operations",
        title: "Whether the process answers",
        about: "`ok`. Where the operator keeps them at an address of their own, the operations are not here.",
        segment: None,
        parameters: &[],
        answers: Answers::Bytes("text/plain"),
        problems: &[400],
    },
    Address {
        path: "/readyz",
        id: "isReady",
        tag: "Operations",
        title: "Whether answers rest on fresh data",
        about: "Per chain the newest recorded slot and its age; 503 where one is older than three slots.",
        segment: None,
        parameters: &[],
        answers: Answers::Readiness,
        problems: &[400],
    },
    Address {
        path: "/metrics",
        id: "readMetrics",
        tag: "Operations",
        title: "What is measured",
        about: "Slots recorded, missing by reason, age of the newest slot per chain, requests, latencies, connections.",
        segment: None,
        parameters: &[],
        answers: Answers::Bytes("application/openmetrics-text"),
        problems: &[400],
    },
    Address {
        path: "/api/v1/exit/{pool}",
        id: "readEvidence",
        tag: "Evidence",
        title: "The evidence of a result",
        about: "One canonical JSON document of request, result, snapshot, head, slot leaf, proofs and the first signed checkpoint that covers the slot. With base, slot and size its bytes never change. `exitgap verify` checks it.",
        segment: Some(&POOL),
        parameters: &[&SIZE, &BASE_BY_PLACE, &EVIDENCE_SLOT, &METHOD],
        answers: Answers::Bytes("application/json"),
        problems: &[400, 404, 422, 503],
    },
    Address {
        path: "/api/v1/window/{pool}",
        id: "readWindow",
        tag: "Evidence",
        title: "A pool's heads of seven days up to a slot",
        about: "Proves `days_observed`, the observation window and `lowest_depth_7d_usd`.",
        segment: Some(&POOL),
        parameters: &[&SLOT],
        answers: Answers::Bytes("application/json"),
        problems: &[400, 404, 503],
    },
    Address {
        path: "/api/v1/status/{pool}",
        id: "readSlotStatus",
        tag: "Evidence",
        title: "What became of a slot since",
        about: "Recorded, missing, or retracted because its block was orphaned later or its ticks were misread: told beside the evidence, whose bytes never change.",
        segment: Some(&POOL),
        parameters: &[&SLOT],
        answers: Answers::Document("SlotStatus"),
        problems: &[400, 404, 503],
    },
    Address {
        path: "/api/v1/snapshots/{hash}",
        id: "readSnapshot",
        tag: "Evidence",
        title: "A snapshot by its hash",
        about: "Its canonical bytes: SHA-256 over them is the hash. They name the pool's state by its hash.",
        segment: Some(&HASH),
        parameters: &[],
        answers: Answers::Bytes("application/json"),
        problems: &[400, 404, 503],
    },
    Address {
        path: "/api/v1/states/{hash}",
        id: "readState",
        tag: "Evidence",
        title: "A pool's state by its hash",
        about: "Its canonical bytes, as a snapshot names them: SHA-256 over them is the hash.",
        segment: Some(&HASH),
        parameters: &[],
        answers: Answers::Bytes("application/json"),
        problems: &[400, 404, 503],
    },
    Address {
        path: "/log/{path}",
        id: "readLog",
        tag: "Evidence",
        title: "The published log",
        about: "Checkpoint, key, tiles, slots and their parts: what `exitgap audit` replays. C2SP tlog-tiles.",
        segment: Some(&LOG_PATH),
        parameters: &[],
        answers: Answers::Bytes("application/octet-stream"),
        problems: &[400, 404],
    },
];

fn parameter_value(place: &str, parameter: &Parameter) -> Value {
    let mut value = json!({
        "name": parameter.name,
        "in": place,
        "required": parameter.required,
        "description": parameter.about,
        "schema": (parameter.schema)(),
    });
    if parameter.repeated {
        value["style"] = json!("form");
        value["explode"] = json!(true);
    }
    value
}

fn problem(status: u16) -> Value {
    let description = match status {
        400 => "A parameter is unknown, repeated, missing or not acceptable",
        404 => "No such pool, token of it, slot or file",
        414 => "The address is too long",
        422 => {
            "Well said, but without an answer: the size has no gap (the reason, and \
             `max_fillable_usd` where liquidity ends), or the period ends before it begins"
        }
        429 => "More requests than one client may make",
        _ => "Nothing is recorded yet",
    };
    let schema = json!({"$ref": "#/components/schemas/ProblemDocument"});
    json!({"description": description, "content": {"application/problem+json": {"schema": schema}}})
}

fn operation(address: &Address) -> Value {
    let (media_type, schema) = match address.answers {
        Answers::Document(name) => {
            ("application/json", json!({"$ref": format!("#/components/schemas/{name}")}))
        }
        Answers::Bytes("application/json") | Answers::Readiness => {
            ("application/json", json!({"type": "object"}))
        }
        Answers::Bytes(media_type) => (media_type, json!({})),
        Answers::Nothing => ("application/problem+json", json!({})),
    };
    let mut content = Map::new();
    content.insert(media_type.to_owned(), json!({"schema": schema.clone()}));
    if media_type == "application/octet-stream" {
        content.insert("text/plain".to_owned(), json!({"schema": schema}));
    }
    let mut responses = Map::new();
    if let Answers::Readiness = address.answers {
        let content = content.clone();
        let stale = json!({"description": "Not ready: the same document", "content": content});
        responses.insert("503".to_owned(), stale);
    }
    if !matches!(address.answers, Answers::Nothing) {
        let answer = json!({"description": "The answer", "content": content});
        responses.insert("200".to_owned(), answer);
    }
    for status in address.problems.iter().chain(&[429]) {
        responses.insert(status.to_string(), problem(*status));
    }
    let segment = address.segment.iter().map(|segment| parameter_value("path", segment));
    let query = address.parameters.iter().map(|parameter| parameter_value("query", parameter));
    json!({
        "operationId": address.id,
        "tags": [address.tag],
        "summary": address.title,
        "description": address.about,
        "parameters": segment.chain(query).collect::<Vec<_>>(),
        "responses": responses,
    })
}

/// The document. `base_url` is where the service is reached.
pub fn document(base_url: &str) -> Value {
    let schemas = serde_json::to_value(Schemas::openapi()).unwrap_or_default();
    let mut paths = Map::new();
    for address in ADDRESSES {
        paths.insert(address.path.to_owned(), json!({"get": operation(address)}));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "exitgap",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "At this size, how far below the oracle price will I really fill? Exact, recorded, checkable.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [
            {"name": "Estimates", "description": "From the newest recorded slot, or the one asked for"},
            {"name": "Series", "description": "What was recorded; free, keyless, permanent"},
            {"name": "Evidence", "description": "What anyone can check a number with; free and keyless"},
            {"name": "Service", "description": "The deployment itself"},
            {"name": "Operations", "description": "For whoever runs it"},
        ],
        "paths": paths,
        "components": schemas["components"],
    })
}

/// `GET /v1/openapi.json`.
pub async fn serve(State(app): State<App>, query: Query) -> Result<Reply, Refused> {
    query.known(&[])?;
    let mut document = document(&app.service.urls().base);
    if let Some((pool, slot, hash)) = app.service.example() {
        give_examples(&mut document, &pool, slot, &hash);
    }
    Reply::json(&document, Keep::Seconds(300))
}

/// Puts what is really recorded into the parameters, so that whoever tries them gets answers.
fn give_examples(document: &mut Value, pool: &str, slot: u32, hash: &str) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for item in paths.values_mut() {
        let parameters = item["get"]["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten() {
            let example = match parameter["name"].as_str() {
                Some("pool") => json!(pool),
                Some("slot") => json!(slot),
                Some("hash") => json!(hash),
                Some("position") => json!([format!("{pool}:1000"), format!("{pool}/token1:500")]),
                Some("chain") => json!(pool.split(':').next()),
                _ => continue,
            };
            parameter["schema"]["examples"] = json!([example]);
        }
    }
}
