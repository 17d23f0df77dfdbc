//! The added cost of payment: a service with a price, asked again with a payment that it has settled, compared with the
//! same service without a price on the same recorded series.

use std::time::{Duration, Instant};

use alloy_primitives::B256;
use exitgap_tests::faults::payments_clients::{offer, target, until_up_free};
use exitgap_tests::faults::payments_scene::{Process, Scene};

use super::failed;
use super::load::Client;
use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::report::Report;

/// Number of requests to each, alternating.
const TURNS: Effort<usize> = Effort::new(2_000, 10);
/// Number of warm-up answers.
const WARM: Effort<usize> = Effort::new(200, 4);
/// The requested size, dollars.
const SIZE: u64 = 1_000;
/// How long the payment is repeated until it is settled.
const PATIENCE: Duration = Duration::from_secs(60);

/// Adds `http.paid_exit_us`, `http.free_exit_us` and their difference, as medians.
pub async fn measure(report: &mut Report) -> Result<(), BenchError> {
    let scene = Scene::new().await.map_err(failed)?;
    let config = scene.configure("paid.toml", &scene.chain.url()).map_err(failed)?;
    let paid = Process::service(&config).map_err(failed)?;
    let offer = offer(&paid, &scene).await.map_err(failed)?;
    let free = Process::service(&scene.free()).map_err(failed)?;
    until_up_free(&free, &scene).await.map_err(failed)?;
    let header = scene.pay(&offer, 0, B256::repeat_byte(7), 900);
    let target = target(&scene, SIZE);
    let mut with_payment = Client::connect(paid.address).await?.with(header);
    let mut without = Client::connect(free.address).await?;
    settled(&mut with_payment, &target).await?;
    let mut us: [Vec<f64>; 2] = Default::default();
    for turn in 0..WARM.get() + TURNS.get() {
        for (client, us) in [&mut with_payment, &mut without].into_iter().zip(&mut us) {
            let begun = Instant::now();
            client.ask(&target).await?;
            if turn >= WARM.get() {
                us.push(begun.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let [paid_us, free_us] = us.map(median);
    report.add("http.paid_exit_us", paid_us);
    report.add("http.free_exit_us", free_us);
    report.add("http.paid_exit_overhead_us", paid_us - free_us);
    Ok(())
}

/// Sends the payment until it is settled and answered.
async fn settled(client: &mut Client, target: &str) -> Result<(), BenchError> {
    let begun = Instant::now();
    loop {
        match client.ask(target).await {
            Ok(_) => return Ok(()),
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    }
}
