//! Spans of `tracing` that belong to Lamprey's threads instead of kernel threads: a subscriber around yours.

use ::tracing::span::{Attributes, Id, Record};
use ::tracing::subscriber::{Interest, Subscriber};
use ::tracing::{Event, Metadata, level_filters::LevelFilter};
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use tracing_core::span::Current;

/// A subscriber around `S` for programs whose threads are Lamprey's: each host and each parasite has its own spans.
///
/// A subscriber such as `tracing_subscriber::Registry` keeps the spans that have been entered for each *kernel* thread. Where a host
/// that has entered a span waits, others run on the same kernel thread: without this wrapper their events would be told as
/// ones within that span. The wrapper keeps the spans of each Lamprey thread itself. When the subscriber is called, and another thread runs
/// here than at the last call, it first leaves the spans of that one and enters those of the one that calls.
///
/// So a switch costs nothing; a call of the subscriber costs a look at a [`HostLocal`](lamprey::HostLocal). A span is left in `S`, and
/// entered again, not when the threads are switched but at the next call after that: what `S` says of how long a span was *busy*
/// (`FmtSpan::CLOSE`) is therefore not exact.
///
/// A new thread begins without spans, as with `std::thread::spawn`; give it one by `span.in_scope(..)`, or `Instrument` for a future. Spans
/// that are entered for each poll (`Instrument`, `#[instrument]` of an `async fn`) are right also without the wrapper.
///
/// `S` must not wait with Lamprey's calls where it enters or leaves spans; those of `std` are fine.
///
/// # Examples
/// ```
/// use lamprey_compat::tracing::PerThread;
/// use tracing::{info, info_span};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let subscriber = tracing_subscriber::registry().with(tracing_subscriber::fmt::layer());
/// tracing::subscriber::set_global_default(PerThread::new(subscriber)).unwrap();
///
/// lamprey::run(|| {
///     let other = lamprey::spawn(|| info!("not within the request"));
///     let _entered = info_span!("request", number = 1).entered();
///     info!("within it");
///     other.join().unwrap();
///     info!("still within it");
/// });
/// ```
#[derive(Debug)]
pub struct PerThread<S>(S);

/// The spans that a Lamprey thread has entered and not left, the outermost first.
struct Entered {
    /// Unique: the storage of a thread that has ended is used again.
    thread: u64,
    spans: RefCell<Vec<Id>>,
}

lamprey::host_local! {
    static ENTERED: Entered = Entered::default();
}

impl Default for Entered {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only uniqueness matters.
        Self { thread: NEXT.fetch_add(1, Ordering::Relaxed), spans: RefCell::default() }
    }
}

thread_local! {
    /// The thread whose spans the subscriber has for this kernel thread.
    static PRESENT: Cell<u64> = const { Cell::new(0) };
    /// These spans. Taken while they are changed: the subscriber may call itself.
    static ITS_SPANS: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

impl<S: Subscriber> PerThread<S> {
    /// Wraps `subscriber`.
    pub fn new(subscriber: S) -> Self {
        Self(subscriber)
    }

    /// Has the subscriber know the spans of the calling thread, and calls `f`.
    fn here<R>(&self, f: impl FnOnce(&S, &Entered) -> R) -> R {
        ENTERED.with(|entered| {
            // A thread-local that is being destroyed: the kernel thread ends, and runs no others.
            let before =
                PRESENT.try_with(|present| present.replace(entered.thread)).unwrap_or(entered.thread);
            if before != entered.thread {
                self.exchange(entered);
            }
            f(&self.0, entered)
        })
    }

    #[cold]
    fn exchange(&self, entered: &Entered) {
        let _ = ITS_SPANS.try_with(|its_spans| {
            // Without a borrow while the subscriber is called.
            let before = its_spans.take();
            before.iter().rev().for_each(|span| self.0.exit(span));
            let now = entered.spans.borrow().clone();
            now.iter().for_each(|span| self.0.enter(span));
            its_spans.replace(now);
        });
    }
}

impl<S: Subscriber> Subscriber for PerThread<S> {
    fn enter(&self, span: &Id) {
        self.here(|subscriber, entered| {
            entered.spans.borrow_mut().push(span.clone());
            let _ = ITS_SPANS.try_with(|its_spans| its_spans.borrow_mut().push(span.clone()));
            subscriber.enter(span);
        });
    }

    fn exit(&self, span: &Id) {
        self.here(|subscriber, entered| {
            remove_last(&mut entered.spans.borrow_mut(), span);
            let _ = ITS_SPANS.try_with(|its_spans| remove_last(&mut its_spans.borrow_mut(), span));
            subscriber.exit(span);
        });
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.here(|subscriber, _| subscriber.new_span(span))
    }

    fn event(&self, event: &Event<'_>) {
        self.here(|subscriber, _| subscriber.event(event));
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.here(|subscriber, _| subscriber.enabled(metadata))
    }

    fn event_enabled(&self, event: &Event<'_>) -> bool {
        self.here(|subscriber, _| subscriber.event_enabled(event))
    }

    fn current_span(&self) -> Current {
        self.here(|subscriber, _| subscriber.current_span())
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.0.register_callsite(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.0.max_level_hint()
    }

    fn on_register_dispatch(&self, subscriber: &::tracing::Dispatch) {
        self.0.on_register_dispatch(subscriber);
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.0.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.0.record_follows_from(span, follows);
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.0.clone_span(span)
    }

    fn try_close(&self, span: Id) -> bool {
        self.0.try_close(span)
    }

    /// # Safety
    /// The caller keeps the contract of [`Subscriber::downcast_raw`].
    unsafe fn downcast_raw(&self, id: TypeId) -> Option<*const ()> {
        if id == TypeId::of::<Self>() {
            return Some(std::ptr::from_ref(self).cast());
        }
        // SAFETY: the contract is the caller's.
        unsafe { self.0.downcast_raw(id) }
    }
}

/// Takes the last `span` out.
fn remove_last(spans: &mut Vec<Id>, span: &Id) {
    if let Some(at) = spans.iter().rposition(|one| one == span) {
        spans.remove(at);
    }
}
