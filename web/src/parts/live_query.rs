//! Requests of a page, with their answers.

use core::pin::Pin;
use core::time::Duration;

use exitgap_api::{Problem, WrittenSizeError, written_size};
use exitgap_core::units::{DecimalError, SizeUsd};
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local_scoped_with_cancellation;

/// A request that is repeated whenever its parameters change. An answer is only shown for the parameters it belongs to:
/// with changed controls it would be wrong.
///
/// Leptos' own resources keep the last answer meanwhile, finish one request before they begin the next, and add several
/// kilobytes of code for each type of answer.
pub struct LiveQuery<A: 'static, T: 'static> {
    held: StoredValue<Option<(A, T)>, LocalStorage>,
    changed: RwSignal<u32>,
    again: RwSignal<u32>,
}

impl<A, T> Clone for LiveQuery<A, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, T> Copy for LiveQuery<A, T> {}

impl<A: Clone + PartialEq + 'static, T: Clone + 'static> LiveQuery<A, T> {
    /// Sends the request that `asked` returns, and again when the signals that it reads change. `fetch` must not read
    /// signals after its first wait, because the reader may have left the page.
    pub fn new<F>(asked: impl Fn() -> A + 'static, fetch: impl Fn(A) -> F + 'static) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        let held = StoredValue::new_local(None);
        let (changed, again) = (RwSignal::new(0), RwSignal::new(0));
        let newest = StoredValue::new(0_u32);
        Effect::new(move || {
            again.track();
            let asked = asked();
            let answer = fetch(asked.clone());
            let mine = newest.get_value().wrapping_add(1);
            newest.set_value(mine);
            spawn(Box::pin(async move {
                let answer = answer.await;
                if newest.try_get_value() == Some(mine) {
                    held.set_value(Some((asked, answer)));
                    next(changed);
                }
            }));
        });
        Self { held, changed, again }
    }

    /// The answer to exactly this request, once it has arrived.
    pub fn answer(self, asked: &A) -> Option<T> {
        self.changed.track();
        self.held.with_value(|held| {
            let (to, answer) = held.as_ref()?;
            (to == asked).then(|| answer.clone())
        })
    }

    /// Repeats the request, and keeps the current answer until the new one arrives.
    pub fn renew(self) {
        next(self.again);
    }

    /// Discards the answer, and repeats the request.
    pub fn again(self) -> Callback<()> {
        Callback::new(move |()| {
            self.held.set_value(None);
            next(self.changed);
            next(self.again);
        })
    }
}

fn next(count: RwSignal<u32>) {
    count.update(|count| *count = count.wrapping_add(1));
}

/// Runs a future that ends with the request and with the page, so that unneeded requests stop. One copy of the
/// executor's code serves all futures.
fn spawn(future: Pin<Box<dyn Future<Output = ()>>>) {
    spawn_local_scoped_with_cancellation(future);
}

/// A value once it has not changed for a while: each change restarts the wait.
pub fn debounce_value<T>(value: Memo<T>, pause: Duration) -> ReadSignal<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let (rested, set) = signal(value.get_untracked());
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let stop = move || {
        if let Some(Some(handle)) = waiting.try_update_value(Option::take) {
            handle.clear();
        }
    };
    Effect::new(move |begun: Option<()>| {
        let now = value.get();
        stop();
        if begun.is_some() {
            let done = move || drop(set.try_set(now));
            waiting.set_value(set_timeout_with_handle(done, pause).ok());
        }
    });
    on_cleanup(stop);
    rested
}

/// Parses a size as people write it.
pub fn size_asked(text: &str) -> Result<SizeUsd, Problem> {
    written_size(text).map_err(|error| {
        let written = "Write a size in dollars, such as 250,000.";
        let detail = match &error {
            WrittenSizeError::DigitGroups { .. } => format!("{error}. {written}"),
            WrittenSizeError::Ambiguous { .. } => format!("{error}."),
            WrittenSizeError::TooLong { .. }
            | WrittenSizeError::AboveMaximum { .. }
            | WrittenSizeError::Decimal(DecimalError::TooLarge { .. }) => {
                "The largest size is $1,000,000,000.".to_owned()
            }
            WrittenSizeError::BelowMinimum { .. } => {
                "The smallest size is one cent, $0.01.".to_owned()
            }
            WrittenSizeError::Decimal(_) => written.to_owned(),
        };
        Problem { detail, hint: None, ..error.into() }
    })
}
