//! The handlers of the operations: each parses its parameters according to the table of operations, calls one operation
//! of [`crate::ops`], and turns the result into a reply.

use axum::extract::State;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use exitgap_api::operations::{
    AccuracyAsked, AlertAsked, BoardAsked, CashAsked, DecayAsked, EquityAsked, ExitAsked,
    ExposureAsked, HistoryAsked, HoursAsked, Keep, MaxSizeAsked, Operation, PoolsAsked,
    PortfolioAsked, Question, RoutesAsked, SeriesAsked, SimulationAsked, SlotAsked, SnapshotAsked,
    StressAsked, VenueStressAsked,
};
use exitgap_api::{Problem, ProblemCode};
use serde::Serialize;

use super::address::Address;
use super::reply::{HttpRefusal, JSON, LINES, Reply};
use super::{SharedApp, alerts, evidence, export, log_files, operators, stream};
use crate::payments::PaymentProcessor;

/// The handler of an operation, with its methods.
#[expect(
    clippy::too_many_lines,
    reason = "a few lines for each operation, and no operation is left out"
)]
pub fn handler_for(operation: Operation) -> MethodRouter<SharedApp> {
    use Operation as O;
    match operation {
        O::Pools => {
            document(operation, |app, asked: PoolsAsked| async move { app.service.pools(&asked) })
        }
        O::Exit => {
            document(
                operation,
                |app, asked: ExitAsked| async move { app.service.exit(&asked).await },
            )
        }
        O::MaxSize => document(operation, |app, asked: MaxSizeAsked| async move {
            app.service.max_size(&asked).await
        }),
        O::Simulation => document(operation, |app, asked: SimulationAsked| async move {
            app.service.simulate(&asked).await
        }),
        O::Redemption => document(operation, |app, asked: ExitAsked| async move {
            app.service.redemption(&asked).await
        }),
        O::Ladder => document(operation, |app, asked: SnapshotAsked| async move {
            app.service.ladder(&asked).await
        }),
        O::History => document(operation, |app, asked: HistoryAsked| async move {
            app.service.history(asked).await
        }),
        O::Stress => {
            document(
                operation,
                |app, asked: StressAsked| async move { app.service.stress(asked).await },
            )
        }
        O::When => {
            document(
                operation,
                |app, asked: SeriesAsked| async move { app.service.when(asked).await },
            )
        }
        O::Hours => {
            document(
                operation,
                |app, asked: HoursAsked| async move { app.service.hours(asked).await },
            )
        }
        O::Routes => document(operation, |app, asked: RoutesAsked| async move {
            app.service.routes(&asked).await
        }),
        O::Cash => {
            document(
                operation,
                |app, asked: CashAsked| async move { app.service.cash(&asked).await },
            )
        }
        O::AccuracyFile
        | O::CashFile
        | O::DecayFile
        | O::DepthsFile
        | O::EquityFile
        | O::ExposureFile
        | O::HoursFile
        | O::PortfolioFile
        | O::VenueStressFile => get(move |State(app): State<SharedApp>, address: Address| {
            evidence::figure_file(app, operation, address)
        }),
        O::Export => document(operation, export::answer),
        O::Fragility => {
            document(
                operation,
                |app, asked: BoardAsked| async move { app.service.fragility(&asked) },
            )
        }
        O::Portfolio => document(operation, |app, asked: PortfolioAsked| async move {
            app.service.portfolio(&asked).await
        }),
        O::Capabilities => {
            document(operation, |app, (): ()| async move { Ok(app.service.capabilities()) })
        }
        O::Payments => document(operation, |app, (): ()| async move {
            let free = || {
                Problem::new(ProblemCode::NotAvailable, "nothing has a price here")
                    .hint("every address is answered free of charge")
            };
            app.till.as_ref().map(PaymentProcessor::document).ok_or_else(free)
        }),
        O::SlotStatus => document(operation, |app, asked: SlotAsked| async move {
            app.service.slot_status(&asked).await
        }),
        O::Decay => {
            document(
                operation,
                |app, asked: DecayAsked| async move { app.service.decay(asked).await },
            )
        }
        O::Equities => {
            document(operation, |app, (): ()| async move { app.service.equities().await })
        }
        O::Equity => {
            document(
                operation,
                |app, asked: EquityAsked| async move { app.service.equity(asked).await },
            )
        }
        O::Exposure => document(operation, |app, asked: ExposureAsked| async move {
            app.service.exposure(asked).await
        }),
        O::VenueStress => document(operation, |app, asked: VenueStressAsked| async move {
            app.service.venue_stress(asked).await
        }),
        O::Shocks => document(operation, |app, (): ()| async move { app.service.shocks().await }),
        O::Stream => get(stream::serve),
        O::AlertsOf => {
            document(
                operation,
                |app, asked: AlertAsked| async move { app.service.alerts(asked).await },
            )
        }
        O::AccuracyTable => document(operation, |app, asked: PoolsAsked| async move {
            app.service.accuracy_table(&asked)
        }),
        O::Accuracy => document(operation, |app, asked: AccuracyAsked| async move {
            app.service.accuracy(asked).await
        }),
        O::Fills => {
            lines(operation, |app, asked: SlotAsked| async move { app.service.fills(asked).await })
        }
        O::Issued => lines(operation, |app, asked: SlotAsked| async move {
            app.service.issued_receipts(asked).await
        }),
        O::Snapshots => {
            lines(
                operation,
                |app, asked: SlotAsked| async move { app.service.snapshots(asked).await },
            )
        }
        O::Window => {
            bytes(operation, |app, asked: SlotAsked| async move { app.service.window(asked).await })
        }
        O::Snapshot => {
            bytes(operation, |app, hash| async move { app.service.snapshot(hash).await })
        }
        O::State => bytes(operation, |app, hash| async move { app.service.state(hash).await }),
        O::StateProof => get(evidence::state_proof),
        O::Evidence => get(evidence::file),
        O::Log => get(log_files::serve),
        O::Livez => get(operators::livez),
        O::Readyz => get(operators::readyz),
        O::Metrics => get(operators::metrics),
        O::Alerts => {
            alerts::answer(operation, |desk, caller, (): ()| async move { desk.list(caller).await })
        }
        O::KeepAlert => alerts::answer(operation, |desk, caller, asked| async move {
            desk.keep(caller, asked).await
        }),
        O::Alert => alerts::answer(operation, |desk, caller, named| async move {
            desk.get_alert(caller, named).await
        }),
        O::EndAlert => {
            alerts::answer(
                operation,
                |desk, caller, named| async move { desk.end(caller, named).await },
            )
        }
        O::AlertEvents => alerts::answer(operation, |desk, caller, asked| async move {
            desk.events(caller, asked).await
        }),
        O::AskEndpoint => {
            alerts::answer(
                operation,
                |desk, caller, named| async move { desk.ask(caller, named).await },
            )
        }
        O::RotateKeys => alerts::answer(operation, |desk, caller, named| async move {
            desk.rotate(caller, named).await
        }),
        O::StreamTicket => {
            alerts::answer(
                operation,
                |desk, caller, (): ()| async move { desk.ticket(caller).await },
            )
        }
        O::SendAgain => alerts::answer(operation, |desk, caller, asked| async move {
            desk.send_again(caller, asked).await
        }),
    }
}

/// Answers with a document.
fn document<Q, D, F>(
    operation: Operation,
    answer: impl Fn(SharedApp, Q) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<SharedApp>
where
    Q: Question + Send + 'static,
    D: Serialize + Send + 'static,
    F: Future<Output = Result<D, Problem>> + Send + 'static,
{
    reply(operation, answer, Reply::json)
}

/// Answers with a document's bytes exactly as they were hashed.
fn bytes<Q, F>(
    operation: Operation,
    answer: impl Fn(SharedApp, Q) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<SharedApp>
where
    Q: Question + Send + 'static,
    F: Future<Output = Result<Bytes, Problem>> + Send + 'static,
{
    reply(operation, answer, |bytes, keep| Ok(Reply::new(bytes.clone(), JSON, keep)))
}

/// Answers with the bytes of several documents, one per line.
fn lines<Q, F>(
    operation: Operation,
    answer: impl Fn(SharedApp, Q) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<SharedApp>
where
    Q: Question + Send + 'static,
    F: Future<Output = Result<Bytes, Problem>> + Send + 'static,
{
    reply(operation, answer, |bytes, keep| Ok(Reply::new(bytes.clone(), LINES, keep)))
}

fn reply<Q, D, F>(
    operation: Operation,
    answer: impl Fn(SharedApp, Q) -> F + Clone + Send + Sync + 'static,
    reply: fn(&D, Keep) -> Result<Reply, HttpRefusal>,
) -> MethodRouter<SharedApp>
where
    Q: Question + Send + 'static,
    D: Send + 'static,
    F: Future<Output = Result<D, Problem>> + Send + 'static,
{
    let keep = operation.row().keep.unwrap_or(Keep::Never);
    get(move |State(app): State<SharedApp>, address: Address| {
        let answer = answer.clone();
        async move {
            let answered = answer(app, address.parse_question(operation)?).await?;
            reply(&answered, keep)
        }
    })
}
