//! Every address, asked as the reference shows it in Rust. Written by a test of `languages.rs`, which then asks them:
//! `EXITGAP_WRITE_EXAMPLES=1` writes it anew.

use std::time::Duration;

use exitgap_api::operations::parameters::{ALERT_KIND, ALERT_PCT, ALERT_SIZE, SLOT};
use exitgap_api::operations::{
    AccuracyAsked, CashAsked, DecayAsked, EquityAsked, EvidenceOf, ExportAsked, ExposureAsked,
    Given, Method, Operation, PortfolioAsked, Question, RoutesAsked, VenueStressAsked,
};
use exitgap_api::{AlertsTold, Interval, RowOrder};
use exitgap_client::{Client, HistoryOf, Native, Request};
use exitgap_core::exit::OrderPlan;
use exitgap_core::ids::Code;
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;

/// Asks an address by its operation.
#[rustfmt::skip]
#[expect(clippy::too_many_lines, clippy::let_and_return, reason = "a snippet for each address, as it is shown")]
pub async fn ask(
    id: &str,
    client: &Client<Native>,
    token: &str,
    alert: Code,
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    Ok(match id {
        "listPools" => {
            let answer = client.pools(None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "estimateExit" => {
            let answer = client.exit(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, "10000".parse()?, None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "maxExitSize" => {
            let answer = client.max_size(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, "1".parse()?, None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "simulateOrders" => {
            let plan = OrderPlan::new("10000".parse()?, 2, Percent(0), 0)?;
            let answer = client.simulate(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, &plan, None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "readLadder" => {
            let answer = client.ladder(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "readHistory" => {
            let of = HistoryOf {
                pool: "anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?,
                size: "1000".parse()?,
                interval: Interval::FiveMinutes,
                order: RowOrder::Ascending,
                base: None,
                from: None,
                to: None,
                cursor: None,
            };
            let answer = client.history(&of).await?;
            serde_json::to_vec(&answer)?
        }
        "readStress" => {
            let of = HistoryOf {
                pool: "anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?,
                size: "1000".parse()?,
                interval: Interval::FiveMinutes,
                order: RowOrder::Ascending,
                base: None,
                from: None,
                to: None,
                cursor: None,
            };
            let answer = client.stress(&of, Some("1".parse()?)).await?;
            serde_json::to_vec(&answer)?
        }
        "readWhenToSell" => {
            let of = HistoryOf {
                pool: "anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?,
                size: "1000".parse()?,
                interval: Interval::FiveMinutes,
                order: RowOrder::Ascending,
                base: None,
                from: None,
                to: None,
                cursor: None,
            };
            let answer = client.when_to_sell(&of).await?;
            serde_json::to_vec(&answer)?
        }
        "readFragility" => {
            let answer = client.fragility(None, None, None, Some(1), None).await?;
            serde_json::to_vec(&answer)?
        }
        "scorePortfolio" => {
            let of = Given::from_url(
                Operation::Portfolio.row().parameters,
                None,
                "position=anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720:1000&position=anvil:0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d:1000",
            )?;
            let answer = client.portfolio(&PortfolioAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "listCapabilities" => {
            let answer = client.capabilities().await?;
            serde_json::to_vec(&answer)?
        }
        "readPayments" => {
            let answer = client.payments().await?;
            serde_json::to_vec(&answer)?
        }
        "listAlerts" => {
            let answer = client.kept_alerts(token).await?;
            serde_json::to_vec(&answer)?
        }
        "isAlive" => {
            let answer = client.bytes(
                &Operation::Livez.target(),
                "text/plain",
                4 << 20,
            ).await?;
            answer
        }
        "isReady" => {
            let answer = client.bytes(
                &Operation::Readyz.target(),
                "application/json",
                4 << 20,
            ).await?;
            answer
        }
        "readMetrics" => {
            let answer = client.bytes(
                &Operation::Metrics.target(),
                "application/openmetrics-text",
                4 << 20,
            ).await?;
            answer
        }
        "readEvidence" => {
            let of = EvidenceOf::from_url(
                "https://api.example.org/api/v1/exit/anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720?base=token0&slot=5957861&size_usd=10000&method_version=1.0.0",
            );
            let answer = client.evidence(&of.ok_or("no evidence_url")?).await?;
            answer
        }
        "readWindow" => {
            let answer = client.window(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, Slot::new(5_957_861)?).await?;
            answer
        }
        "readSlotStatus" => {
            let answer = client.slot_status(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, Slot::new(5_957_861)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readStateProof" => {
            let answer = client.state_proof(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, Slot::new(5_957_861)?).await?;
            answer
        }
        "readSnapshot" => {
            let answer = client.snapshot_documents("0x523f27e4feda9cf1bebb943db962a59c8516061c5f744b6d4f2a3953b6f4b686".parse()?).await?;
            answer.snapshot
        }
        "readState" => {
            let answer = client.bytes(
                &Operation::State.target_of("0xa0729864c38b329e11c88deb96e451939dfc4a2c0ff4789ad575465f316bc936"),
                "application/json",
                4 << 20,
            ).await?;
            answer
        }
        "readLog" => {
            let answer = client.checkpoint().await?;
            answer.into_bytes()
        }
        "readMarketHours" => {
            let of = HistoryOf {
                pool: "anvil:0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d".parse()?,
                size: "10000".parse()?,
                interval: Interval::FiveMinutes,
                order: RowOrder::Ascending,
                base: None,
                from: None,
                to: None,
                cursor: None,
            };
            let answer = client.hours(&of).await?;
            serde_json::to_vec(&answer)?
        }
        "readHoursFile" => {
            let answer = client.figure(
                Operation::HoursFile,
                "https://api.example.org/api/v1/hours/anvil:0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d?size_usd=10000&base=token1&from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z",
            ).await?;
            answer
        }
        "compareRoutes" => {
            let of = Given::from_url(
                Operation::Routes.row().parameters,
                Some("anvil/0x5fbdb2315678afecb367f032d93f642f64180aa3"),
                "size_usd=10000",
            )?;
            let answer = client.routes(&RoutesAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "sellForCash" => {
            let of = Given::from_url(
                Operation::Cash.row().parameters,
                Some("anvil/0x5fbdb2315678afecb367f032d93f642f64180aa3"),
                "size_usd=10000&into=0x8a791620dd6260079bf849dc5567adc3f2fdc318",
            )?;
            let answer = client.cash(&CashAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readCashFile" => {
            let answer = client.figure(
                Operation::CashFile,
                "https://api.example.org/api/v1/cash/anvil/0x5fbdb2315678afecb367f032d93f642f64180aa3?amount_in=4018496563106090459&into=0x8a791620dd6260079bf849dc5567adc3f2fdc318&slot=5957861&pool=anvil%3A0x28d96280f5cbed3aaa54ea820c5f2bda6df96559&pool=anvil%3A0x5ba75c432efb447e26374cb75c734d02ae3675f0&pool=anvil%3A0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d&pool=anvil%3A0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720&pool=anvil%3A0x9c7509ee7b6dfdbac7b8e66f3f0c026e61c0220d&pool=anvil%3A0xada82193a3a3b550f2e194fd190a6d138c8a5e14&pool=anvil%3A0xcc27ef092662ab69853c66311dfabe8a8410d859",
            ).await?;
            answer
        }
        "readPortfolioFile" => {
            let answer = client.figure(
                Operation::PortfolioFile,
                "https://api.example.org/api/v1/portfolio/anvil?sold=0x5fbdb2315678afecb367f032d93f642f64180aa3%3A4018496563106090459&sold=0xa51c1fc2f0d1a1b8494ed1fe312d7c3a78ed91c0%3A1535545&into=0x8a791620dd6260079bf849dc5567adc3f2fdc318&slot=5957861&pool=anvil%3A0x28d96280f5cbed3aaa54ea820c5f2bda6df96559&pool=anvil%3A0x5ba75c432efb447e26374cb75c734d02ae3675f0&pool=anvil%3A0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d&pool=anvil%3A0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720&pool=anvil%3A0x9c7509ee7b6dfdbac7b8e66f3f0c026e61c0220d&pool=anvil%3A0xada82193a3a3b550f2e194fd190a6d138c8a5e14&pool=anvil%3A0xcc27ef092662ab69853c66311dfabe8a8410d859",
            ).await?;
            answer
        }
        "listClosedDays" => {
            let of = Given::from_url(
                Operation::Export.row().parameters,
                None,
                "",
            )?;
            let answer = client.closed_days(&ExportAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readDepthDecay" => {
            let of = Given::from_url(
                Operation::Decay.row().parameters,
                Some("anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720"),
                "move_pct=0.01&within_slots=1",
            )?;
            let answer = client.depth_decay(&DecayAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readDecayFile" => {
            let answer = client.figure(
                Operation::DecayFile,
                "https://api.example.org/api/v1/decay/anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720?base=token0&from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z&move_pct=0.01&within_slots=1&gap_pct=2",
            ).await?;
            answer
        }
        "readDepthsFile" => {
            let answer = client.figure(
                Operation::DepthsFile,
                "https://api.example.org/api/v1/depths/anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720?from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z",
            ).await?;
            answer
        }
        "scoreLiquidationExposure" => {
            let of = Given::from_url(
                Operation::Exposure.row().parameters,
                None,
                "venue=anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720&cascade_usd=10000",
            )?;
            let answer = client.liquidation_exposure(&ExposureAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readExposureFile" => {
            let answer = client.figure(
                Operation::ExposureFile,
                "https://api.example.org/api/v1/exposure?venue=anvil%3A0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720%2Ftoken0&cascade_usd=10000&bonus_pct=5&protocol_fee_pct=0&fall_pct=20&from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z&reference=oracle",
            ).await?;
            answer
        }
        "readVenueStress" => {
            let of = Given::from_url(
                Operation::VenueStress.row().parameters,
                None,
                "venue=anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720&size_usd=10000&haircut_pct=40&fall_pct=10&limit_pct=1",
            )?;
            let answer = client.venue_stress(&VenueStressAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readVenueStressFile" => {
            let answer = client.figure(
                Operation::VenueStressFile,
                "https://api.example.org/api/v1/stress?venue=anvil%3A0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720%2Ftoken0&size_usd=10000&haircut_pct=40&fall_pct=10&limit_pct=1&from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z&reference=oracle",
            ).await?;
            answer
        }
        "listShocks" => {
            let answer = client.shocks().await?;
            serde_json::to_vec(&answer)?
        }
        "readSnapshots" => {
            let answer = client.series(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, Slot::new(5_957_861)?).await?;
            answer
        }
        "readRedemption" => {
            let answer = client.redemption(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, "10000".parse()?, Some("WETH"), None).await?;
            serde_json::to_vec(&answer)?
        }
        "listAccuracy" => {
            let answer = client.accuracy_table(None, None).await?;
            serde_json::to_vec(&answer)?
        }
        "readAccuracy" => {
            let of = Given::from_url(
                Operation::Accuracy.row().parameters,
                Some("anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720"),
                "",
            )?;
            let answer = client.accuracy(&AccuracyAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readAccuracyFile" => {
            let answer = client.figure(
                Operation::AccuracyFile,
                "https://api.example.org/api/v1/accuracy/anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720?from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z&until=2026-08-22T00%3A25%3A00Z",
            ).await?;
            answer
        }
        "readFills" => {
            let answer = client.fills(&"anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720".parse()?, Slot::new(5_957_856)?).await?;
            answer
        }
        "readIssued" => {
            let answer = client.bytes(
                &Operation::Issued.target_of("anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720").with(&SLOT, 5_957_861),
                "application/x-ndjson",
                4 << 20,
            ).await?;
            answer
        }
        "listEquities" => {
            let answer = client.equities().await?;
            serde_json::to_vec(&answer)?
        }
        "readEquity" => {
            let of = Given::from_url(
                Operation::Equity.row().parameters,
                Some("anvil/0xa51c1fc2f0d1a1b8494ed1fe312d7c3a78ed91c0"),
                "size_usd=5000",
            )?;
            let answer = client.equity_score(&EquityAsked::from_parameters(&of)?).await?;
            serde_json::to_vec(&answer)?
        }
        "readEquityFile" => {
            let answer = client.figure(
                Operation::EquityFile,
                "https://api.example.org/api/v1/equity/anvil:0x88909fa66c7b6e1fce8c98c054097d5c2cf61c1d?size_usd=5000&gap_pct=2&base=token1&from=2026-08-22T00%3A00%3A00Z&to=2026-08-22T00%3A25%3A00Z",
            ).await?;
            answer
        }
        "streamSlots" => {
            let request = Request {
                method: Method::Get,
                body: Vec::new(),
                url: format!("{}/v1/stream?pool=anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720&last_event_id=5957860.0", client.base()),
                accept: "text/event-stream",
                timeout: Duration::from_secs(30),
                max_bytes: 1 << 20,
                fresh: true,
                headers: Vec::new(),
            };
            let mut stream = client.transport().open(&request).await?;
            let answer = stream.piece().await?;
            answer.unwrap_or_default()
        }
        "evaluateAlert" => {
            let target = Operation::AlertsOf
                .target_of("anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720")
                .with(&ALERT_KIND, "gap_above")
                .with(&ALERT_SIZE, "10000")
                .with(&ALERT_PCT, "0.01");
            let answer = client.get_document::<AlertsTold>(&target).await?;
            serde_json::to_vec(&answer)?
        }
        "keepAlert" => {
            let rule = serde_json::from_str(r#"{
              "kind": "gap_above",
              "pct": 2,
              "pool": "anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720",
              "size_usd": 10000,
              "webhook_url": "https://hooks.example.org/exits"
            }"#)?;
            let answer = client.keep_alert(&rule, None).await?;
            serde_json::to_vec(&answer)?
        }
        "readAlert" => {
            let answer = client.kept_alert(alert, token).await?;
            serde_json::to_vec(&answer)?
        }
        "endAlert" => {
            let answer = client.end_alert(alert, token).await?;
            serde_json::to_vec(&answer)?
        }
        "listAlertEvents" => {
            let answer = client.alert_events(alert, 0, 100, token).await?;
            serde_json::to_vec(&answer)?
        }
        "askEndpoint" => {
            let answer = client.ask_webhook(alert, token).await?;
            serde_json::to_vec(&answer)?
        }
        "rotateKeys" => {
            let answer = client.rotate_keys(alert, token).await?;
            serde_json::to_vec(&answer)?
        }
        "sendAgain" => {
            let answer = client.send_again(alert, 1, token).await?;
            serde_json::to_vec(&answer)?
        }
        "streamTicket" => {
            let answer = client.stream_ticket(token).await?;
            serde_json::to_vec(&answer)?
        }
        other => return Err(format!("{other} is not asked").into()),
    })
}
