//! `exitgap exit`: a service's current answer, with payment if the service requires it.

use exitgap_api::{GuardInputs, size_as_written};
use exitgap_client::Native;
use exitgap_pay::{LocalSigner, Paid, PayingTransport, Usdc};

use super::{Beside, estimate, print_published};
use crate::failure::Failure;
use crate::pay_arguments::ExitArgs;
use crate::source::{self, api, pool_id};

pub fn run(args: &ExitArgs, json: bool) -> Result<(), Failure> {
    let ExitArgs { pool, base, size_usd, api: url, guards, wallet } = args;
    let (pool, size, guards) = (pool_id(pool)?, size_as_written(size_usd)?, guards.parse_guards()?);
    let mut receipt = Ok(());
    let published = if wallet.pay {
        let (wallet, receipts) = wallet.wallet(url)?;
        let mut paid = Vec::new();
        let answer = api::through(url, wallet, guards, async |client| {
            let answer = client.recomputed_exit(&pool, size, base.as_deref(), None).await;
            paid = client.transport().take_paid();
            // Report what was paid even if the answer could not be used.
            tell(client.transport(), &paid);
            answer
        });
        receipt = receipts.keep_receipt(url, &paid);
        answer?
    } else {
        api::through(url, api::native()?, guards, async |client| {
            client.recomputed_exit(&pool, size, base.as_deref(), None).await
        })?
    };
    guards.check(&GuardInputs::from_context(&published.answer.context, source::now_s()))?;
    if json {
        print_published(&published)?;
    } else {
        estimate::print_text(&published.answer, &Beside::from(&published))?;
    }
    // The answer is valid, even if its receipt is not.
    receipt
}

/// Prints the payment and the remaining budgets to standard error.
fn tell(wallet: &PayingTransport<Native, LocalSigner>, paid: &[Paid]) {
    for Paid { terms, transaction, status, .. } in paid {
        let transaction = transaction.map_or_else(
            || format!("no transaction hash returned, response status {status}"),
            |hash| format!("transaction {hash}"),
        );
        let amount = Usdc::from(terms.amount);
        anstream::eprintln!(
            "paid {amount} USDC on {} to {} ({transaction})",
            terms.network,
            terms.pay_to
        );
        for budget in wallet.policy().budgets.iter().filter(|one| one.network == terms.network) {
            // If the ledger cannot be read now, the next payment reports that.
            let Ok(standing) = wallet.ledger().budget_usage(budget) else { continue };
            anstream::eprintln!(
                "  {} of {} USDC counted for {budget}",
                standing.total(),
                budget.limit
            );
        }
    }
}
