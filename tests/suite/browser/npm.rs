//! The npm package, installed from its tarball like its users do: in Node, in pages, in bundlers, and with TypeScript.
//! Its module must return the same as the native code.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::npm::{
    self as npm_scene, Project, has_extension, readme_programs, root, said, sound,
};
use crate::scenes::npm_cases::{self, Case};
use crate::scenes::service::{Recorded, Service, configured, record_blocks, recorded};

#[test]
fn node_agrees_with_the_native_code_and_withstands_garbage() {
    let project = Project::new();
    project.add(&["cases.mjs", "garbage.mjs", "node.mjs", "require.cjs"]);
    let cases = npm_cases::all();
    project.write("cases.json", &serde_json::to_string(&cases).unwrap());
    let outcome: Value = serde_json::from_str(&project.node(&["node.mjs", "cases.json"])).unwrap();
    assert_eq!(
        (&outcome["early"], &outcome["broken"]),
        (&json!("not_initialized"), &json!("init_failed"))
    );
    assert_eq!(outcome["tried"], json!(["lost", "there"]));
    assert_eq!(outcome["version"], env!("CARGO_PKG_VERSION"));
    let limits = &outcome["limits"];
    for name in ["snapshot", "evidence", "window", "figure", "page"] {
        assert!(limits["module"][name].is_u64(), "{limits}");
        assert_eq!(limits["client"][name], limits["module"][name], "{limits}");
    }
    sound(&outcome, cases.cases.len());
    assert_eq!(project.node(&["require.cjs", "cases.json"]), "valid\n");

    // Control: the comparison detects a single changed byte.
    let mut changed = cases;
    let digit = changed.cases[0].expected.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let other = if changed.cases[0].expected[digit..].starts_with('1') { "2" } else { "1" };
    changed.cases[0].expected.replace_range(digit..=digit, other);
    project.write("cases.json", &serde_json::to_string(&changed).unwrap());
    let outcome: Value = serde_json::from_str(&project.node(&["node.mjs", "cases.json"])).unwrap();
    assert_eq!(outcome["compared"]["differing"], 2, "by the module and by the package");
}

#[test]
fn slips_are_forgiven_or_told_with_their_remedy() {
    let project = Project::new();
    project.add(&["slips.mjs"]);
    project.write("cases.json", &serde_json::to_string(&npm_cases::all()).unwrap());
    assert_eq!(project.node(&["slips.mjs", "cases.json"]), "sound\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_packages_client_reads_the_service_and_believes_nothing() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let project = Project::new();
    project.add(&["client.mjs"]);
    let address = format!("http://{}", service.address);
    assert_eq!(project.node(&["client.mjs", &address, &recorded.pool(0)]), "sound\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_is_computed_again_from_what_a_service_sends() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let (pool, weth) = (world.pools[0].pool, &world.assets[World::WETH]);
    let last = record_blocks(&chain, &world, &folder, 6, |place| match place {
        2 => vec![chain.swap_tx(&pool, weth.token.address, weth.worth(400_000))],
        _ => Vec::new(),
    })
    .await;
    let recorded = Recorded { folder, world, last };
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let project = Project::new();
    project.add(&["figures.mjs"]);
    let address = format!("http://{}", service.address);
    assert_eq!(
        project.node(&["figures.mjs", &address, &recorded.pool(0), &recorded.pool(1)]),
        "sound\n"
    );
}

/// The package and the command line run the same checks against the chain's state and print the same sentence, word for
/// word.
#[tokio::test(flavor = "multi_thread")]
async fn the_chains_own_state_is_held_against_evidence() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let project = Project::new();
    project.add(&["state.mjs"]);
    let (address, slot) =
        (format!("http://{}", service.address), recorded.last.number().to_string());
    for index in [0, World::FIRST_V2] {
        let folder = recorded.folder.path();
        let asked = ["state.mjs", &address, &recorded.pool(index), &slot, folder.to_str().unwrap()];
        let ours: Value = serde_json::from_str(&project.node(&asked)).unwrap();
        let verify = ["verify", "evidence.json", "--state-proof", "state.egp", "--json"];
        let output = Command::new(binaries::path("exitgap"))
            .args(verify)
            .current_dir(folder)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for what in ["chain", "rung", "sentence"] {
            assert_eq!(report[what], ours[what], "{report}");
        }
    }
}

#[test]
fn the_packages_client_asks_only_for_what_is_described() {
    let project = Project::new();
    project.add(&["operations.mjs"]);
    let described = root().join("crates/exitgap-server/docs/openapi.json");
    assert_eq!(project.node(&["operations.mjs", described.to_str().unwrap()]), "sound\n");
}

#[test]
fn a_page_and_a_worker_agree_under_a_strict_policy() {
    let project = Project::new();
    project.add(&["cases.mjs", "garbage.mjs", "vectors.html", "vectors.js", "worker.js"]);
    let cases = npm_cases::all();
    project.write("cases.json", &serde_json::to_string(&cases).unwrap());
    let shown = project.page(project.path(), "vectors.html");
    let outcome: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(outcome.get("failed"), None, "{outcome}");
    sound(&outcome, cases.cases.len());
    assert_eq!(outcome["worker"]["compared"], cases.cases.len());
    assert_eq!(outcome["worker"]["differing"], 0);
}

#[test]
fn the_readmes_programs_run() {
    let project = Project::new();
    let names = project.add_from_readme();
    assert_eq!(
        names,
        [
            "verified.mjs",
            "split.mjs",
            "worst.mjs",
            "check.mjs",
            "main.mjs",
            "page.html",
            "page.js",
            "index.html",
            "exit.jsx",
            "app/page.jsx",
            "app/edge/route.js",
            "worker.mjs",
            "check.test.mjs",
            "spend.mjs"
        ]
    );
    let left = "1 USDC for exitgap.example/v1/exit on eip155:8453, in any 86400 s\n";
    assert_eq!(project.node(&["spend.mjs"]), left);
    // The example equals a shared vector.
    let vector = root().join("tests/vectors/evidence/true_concentrated_liquidity.json");
    let vector: Value = serde_json::from_slice(&fs::read(vector).unwrap()).unwrap();
    let example = fs::read_to_string(root().join("pkg/example/evidence.json")).unwrap();
    assert_eq!(vector["evidence"], example);
}

/// Installed from the tarball; no other entry point of the package loads the wallet.
#[test]
fn the_packages_wallet_is_an_entry_of_its_own() {
    let project = Project::new();
    let program = fs::read_to_string(root().join("tests/js/pay/cases.mjs")).unwrap();
    project.write("wallet.mjs", &program);
    let vectors = root().to_str().unwrap();
    assert_eq!(project.node(&["wallet.mjs", "exitgap/pay", vectors]), "sound\n");
    let package = project.path().join("node_modules/exitgap");
    for script in
        ["index.js", "inline.js", "edge.js", "api.js", "client.js", "answers.js", "arguments.js"]
    {
        let text = fs::read_to_string(package.join(script)).unwrap();
        assert!(!text.contains("pay.js") && !text.contains("pay/"), "{script}");
    }
}

#[test]
fn the_packages_form_is_clean() {
    let project = Project::new();
    let tarball = npm_scene::tarball();
    let tarball = tarball.to_str().unwrap();
    let said = project.tool("publint", &["--strict", tarball]);
    assert!(said.contains("All good"), "{said}");
    let ignored = ["--exclude-entrypoints", "./example/evidence.json", "./example/verifier-key"];
    let said = project.tool("attw", &[&["--profile", "esm-only", tarball][..], &ignored].concat());
    assert!(said.contains("\"exitgap\"") && !said.contains('💀'), "{said}");
    let package = project.path().join("node_modules/exitgap");
    for (packed, from) in [
        ("dist/LICENSE-MIT", "LICENSE-MIT"),
        ("dist/LICENSE-APACHE", "LICENSE-APACHE"),
        ("THIRD-PARTY.txt", "pkg/THIRD-PARTY.txt"),
    ] {
        let packed = fs::read(package.join(packed)).unwrap();
        assert_eq!(packed, fs::read(root().join(from)).unwrap(), "{from}");
    }
}

/// Compiles with TypeScript's strictest settings; returns the compiler's output on failure.
fn compiles(project: &Project, files: &[&str]) -> Result<(), String> {
    let types = npm_scene::tools().join("node_modules/@types");
    let mut command = Command::new("node");
    command.arg(npm_scene::tool("tsc"));
    command.args(["--noEmit", "--strict", "--allowJs", "--checkJs"]);
    command.args(["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]);
    command.args(["--resolveJsonModule", "--types", "node", "--typeRoots"]).arg(types).args(files);
    let output = project.run(&mut command);
    if output.status.success() { Ok(()) } else { Err(said(&output)) }
}

#[test]
fn typescript_accepts_the_readmes_programs_and_no_misuse() {
    let project = Project::new();
    project.add_from_readme();
    // The others need the types of React or of a test runner.
    let needs_more = |name: &str| {
        has_extension(name, "html") || has_extension(name, "jsx") || name.ends_with(".test.mjs")
    };
    let programs = readme_programs().into_iter().map(|(name, _)| name);
    let files: Vec<String> = programs.filter(|name| !needs_more(name)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    compiles(&project, &files).unwrap();
    for (misuse, code) in [
        ("verify(5);", "TS2345"),
        ("estimate('', { base: 'token0' });", "TS2741"),
        ("estimate('', { sizeUsd: 1 });", "TS2741"),
        ("estimate('', { sizeUsd: 1, base: 'token0', size: 2 });", "TS2353"),
        ("const n: number = estimate('', { sizeUsd: 1, base: 'token0' }).amount_in_raw;", "TS2322"),
        ("verify('').verdict === 'fine';", "TS2367"),
        ("new Client('https://a').exit('a:0x1', { signal: 1, sizeUsd: 1 });", "TS2322"),
        (
            "budget({ maxPerCall: 0.02, budgets: [], networks: [], ledger: fileLedger('') });",
            "TS2322",
        ),
        (
            "budget({ maxPerCall: '1', budgets: [], networks: ['base'], ledger: fileLedger('') });",
            "TS2322",
        ),
        ("budget({ maxPerCall: '1', budgets: [], networks: [] });", "TS2741"),
    ] {
        project.write(
            "misuse.ts",
            &format!(
                "import {{ Client, estimate, verify }} from 'exitgap';\n\
                 import {{ budget, fileLedger }} from 'exitgap/pay';\n{misuse}\n"
            ),
        );
        let refused = compiles(&project, &["misuse.ts"]).unwrap_err();
        assert!(refused.contains(code), "{misuse}: {refused}");
    }
}

/// The types of every entry, with the settings that a user may have: no entry needs the library `dom`, or that errors of
/// libraries are skipped.
#[test]
fn types_need_no_library_of_a_page() {
    let project = Project::new();
    project.add(&["types.mts", "types_page.mts"]);
    let compiled = |file: &str, libraries: &[&str], module: &str, resolution: &str| {
        let options = json!({
            "noEmit": true, "strict": true, "exactOptionalPropertyTypes": true, "skipLibCheck": false,
            "noUncheckedIndexedAccess": true, "verbatimModuleSyntax": true, "target": "es2022",
            "types": [], "lib": libraries, "module": module, "moduleResolution": resolution,
        });
        let config = json!({ "compilerOptions": options, "files": [file] });
        project.write("tsconfig.json", &config.to_string());
        let output =
            project.run(Command::new("node").arg(npm_scene::tool("tsc")).args(["-p", "."]));
        if output.status.success() { Ok(()) } else { Err(said(&output)) }
    };
    for (module, resolution) in
        [("node16", "node16"), ("nodenext", "nodenext"), ("esnext", "bundler")]
    {
        compiled("types.mts", &["es2022"], module, resolution).unwrap();
        compiled("types.mts", &["es2022", "webworker"], module, resolution).unwrap();
        compiled("types_page.mts", &["es2022", "dom"], module, resolution).unwrap();
    }
    // Control: the library is not there.
    let refused = compiled("types_page.mts", &["es2022"], "esnext", "bundler").unwrap_err();
    assert!(refused.contains("'document'"), "{refused}");
}

/// Returns the TypeScript type of a case's answer.
fn type_of(case: &Case) -> &'static str {
    match case.ask {
        _ if case.thrown => "Problem",
        "verify" => "VerificationReport",
        "recompute" => "Recomputation",
        "estimate" => "ExitResult",
        "ladder" => "Ladder",
        "maxSizeFor" => "MaxSizeResult",
        "simulateOrders" => "SimulationResult",
        "rankRoutes" => "RouteRanking",
        "bestSplit" => "BestSplit",
        other => panic!("{other} has no document"),
    }
}

/// Assigns every document as a literal to its type: no field may be missing or unknown.
#[test]
fn every_document_is_of_its_type() {
    let project = Project::new();
    let mut program =
        "import type { BestSplit, ExitResult, Ladder, MaxSizeResult, Problem, Recomputation, \
        RouteRanking, SimulationResult, VerificationReport } from 'exitgap';\n"
            .to_owned();
    let cases = npm_cases::all().cases;
    let documents = cases.iter().filter(|case| case.ask != "fill" || case.thrown);
    for (number, case) in documents.enumerate() {
        let (of, document) = (type_of(case), &case.expected);
        writeln!(program, "export const d{number}: {of} = {document};").unwrap();
    }
    project.write("documents.ts", &program);
    compiles(&project, &["documents.ts"]).unwrap();
    for (field, changed) in
        [("\"verdict\":", "\"verdic\":"), ("\"by_gap\":[", "\"more\":1,\"by_gap\":[")]
    {
        project.write("documents.ts", &program.replacen(field, changed, 1));
        let refused = compiles(&project, &["documents.ts"]).unwrap_err();
        assert!(refused.contains("TS2353") || refused.contains("TS2561"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_asks_each_of_two_hosts_for_what_it_has() {
    let (recorded, api, web, _service) = crate::scenes::hosts::scene().await;
    let project = Project::new();
    project.add(&["hosts.mjs"]);
    let pool = recorded.pool(0);
    let said = project.node(&["hosts.mjs", &api.url(), &web.url(), &pool]);
    assert_eq!(said.trim(), "both hosts answered");
}

/// Assigns every answer of a service as a literal to its type.
#[tokio::test(flavor = "multi_thread")]
async fn every_answer_of_a_service_is_of_its_type() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let slot = recorded.last.number();
    let answers = [
        ("PublishedExit", format!("/v1/exit/{pool}?size_usd=1000")),
        ("PublishedMaxSize", format!("/v1/size/{pool}?gap_pct=2")),
        ("PublishedSimulation", format!("/v1/simulate/{pool}?size_usd=1000&orders=2")),
        ("PublishedLadder", format!("/v1/ladder/{pool}")),
        ("PoolList", "/v1/pools?limit=1".to_owned()),
        ("History", format!("/v1/history/{pool}?size_usd=1000&interval=5m&limit=1")),
        ("History", format!("/v1/history/{pool}?size_usd=1000&interval=1d")),
        ("Stress", format!("/v1/stress/{pool}?size_usd=1000")),
        ("LiquidationExposure", format!("/v1/exposure?venue={pool}&cascade_usd=100000")),
        (
            "VenueStress",
            format!("/v1/stress?venue={pool}&size_usd=100000&haircut_pct=20&limit_pct=1"),
        ),
        ("VenueStress", format!("/v1/stress?venue={pool}&size_usd=900000000")),
        ("DepthDecay", format!("/v1/decay/{pool}?move_pct=0.01")),
        ("MarketHours", format!("/v1/hours/{pool}?size_usd=1000")),
        ("Equities", "/v1/equities".to_owned()),
        (
            "Routes",
            format!("/v1/routes/anvil/{:#x}?size_usd=1000", recorded.world.pools[0].pool.token0),
        ),
        ("Fragility", "/v1/fragility?sort=depth&limit=1".to_owned()),
        ("Capabilities", "/v1/capabilities".to_owned()),
        ("SlotStatus", format!("/api/v1/status/{pool}?slot={slot}")),
        ("Portfolio", format!("/v1/portfolio?position={pool}:1000&position={pool}:900000000")),
        (
            "Portfolio",
            format!("/v1/portfolio?position=anvil/{:#x}:1000", recorded.world.pools[0].pool.token0),
        ),
    ];
    let names: BTreeSet<&str> = answers.iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let mut program = format!("import type {{ {} }} from 'exitgap';\n", names.join(", "));
    for (number, (of, target)) in answers.iter().enumerate() {
        let document = service.get(target).found();
        writeln!(program, "export const d{number}: {of} = {document};").unwrap();
    }
    let project = Project::new();
    project.write("answers.ts", &program);
    compiles(&project, &["answers.ts"]).unwrap();
    for field in ["last_basis_pct", "daily_lowest_depth_usd", "unfilled_usd"] {
        let named = format!("\"{field}\":");
        assert!(program.contains(&named), "{field} is answered");
        project.write("answers.ts", &program.replacen(&named, "\"other\":", 1));
        let refused = compiles(&project, &["answers.ts"]).unwrap_err();
        assert!(refused.contains("TS2353") || refused.contains("TS2561"), "{field}: {refused}");
    }
}

#[test]
fn documents_are_those_of_the_command_line() {
    let cases = npm_cases::all();
    let folder = tempfile::tempdir().unwrap();
    let [evidence, snapshot] = ["evidence", "snapshot"].map(|name| folder.path().join(name));
    fs::write(&evidence, &cases.evidence).unwrap();
    fs::write(&snapshot, &cases.snapshot).unwrap();
    let exitgap = |arguments: &[&str]| -> Value {
        let mut command = Command::new(binaries::path("exitgap"));
        let output = command.arg("--json").args(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)))
    };
    let snapshot = snapshot.to_str().unwrap();
    let asked: [(&str, &[&str], &[&str]); 5] = [
        ("verify", &[""], &["verify", evidence.to_str().unwrap(), "--trust", &cases.keys[0]]),
        (
            "estimate",
            &["1"],
            &["estimate", "--base", "token0", "--snapshot", snapshot, "--size-usd", "1"],
        ),
        ("ladder", &["", ""], &["ladder", "--base", "token0", "--snapshot", snapshot]),
        ("maxSizeFor", &["2"], &["size", "--base", "token0", "--snapshot", snapshot, "--gap", "2"]),
        (
            "simulateOrders",
            &["1", "7", "33.333333", "12"],
            &[
                "simulate",
                "--base",
                "token0",
                "--snapshot",
                snapshot,
                "--size-usd",
                "1",
                "--orders",
                "7",
                "--recovery-pct",
                "33.333333",
                "--interval-s",
                "12",
            ],
        ),
    ];
    for (ask, args, arguments) in asked {
        let subject = if ask == "verify" { &cases.evidence } else { &cases.snapshot };
        let same = |case: &&Case| {
            let rest: Vec<&str> = case.args.iter().skip(2).flatten().map(String::as_str).collect();
            let first = if ask == "verify" { &cases.keys[0] } else { "token0" };
            let wanted = rest == args && case.args[1].as_deref() == Some(first);
            case.ask == ask && case.args[0].as_ref() == Some(subject) && wanted && !case.thrown
        };
        let case = cases.cases.iter().find(same).unwrap_or_else(|| panic!("no case of {ask}"));
        let ours: Value = serde_json::from_str(&case.expected).unwrap();
        assert_eq!(ours, exitgap(arguments), "{ask}");
    }
}
