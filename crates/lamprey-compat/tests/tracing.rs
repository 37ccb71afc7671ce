//! Spans belong to the thread that has entered them, whatever else runs on its kernel thread meanwhile.

use ::tracing::subscriber::with_default;
use ::tracing::{Dispatch, Instrument, dispatcher, info, info_span};
use lamprey::{Runtime, channel, parasite, parasite_fn, spawn, yield_now};
use lamprey_compat::tracing::PerThread;
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Writes down for each event its message and the spans it is in.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn events(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Message(String);

impl ::tracing::field::Visit for Message {
    fn record_debug(&mut self, _: &::tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0 = format!("{value:?}");
    }
}

impl<S: ::tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_event(&self, event: &::tracing::Event<'_>, context: Context<'_, S>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let spans: Vec<_> = context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
            .map(|span| span.name())
            .collect();
        self.0.lock().unwrap().push(format!("{} in {}", message.0, spans.join(">")));
    }
}

/// What `main`, on one worker, logs.
fn logged(main: impl FnOnce() + Send + 'static) -> Vec<String> {
    let log = Log::default();
    let dispatch = Dispatch::new(PerThread::new(tracing_subscriber::registry().with(log.clone())));
    let runtime = Runtime::builder().workers(1).build().unwrap();
    // The subscriber of a kernel thread: that of the only worker, on which everything runs.
    runtime.run(move || {
        let _lasts = std::mem::ManuallyDrop::new(dispatcher::set_default(&dispatch));
        main();
    });
    log.events()
}

#[test]
fn a_span_that_is_entered_while_its_host_waits_is_not_of_others() {
    let events = logged(|| {
        let (tx, rx) = channel::<()>();
        let other = spawn(move || {
            info!("begins");
            let _own = info_span!("own").entered();
            info!("other");
            rx.recv().unwrap();
            info!("other again");
        });
        let outer = info_span!("outer").entered();
        info!("first");
        yield_now();
        info!("second");
        let inner = info_span!("inner").entered();
        tx.send(()).unwrap();
        yield_now();
        info!("third");
        drop(inner);
        other.join().unwrap();
        info!("fourth");
        drop(outer);
        info!("last");
    });
    let expected = [
        "first in outer",
        "begins in ",
        "other in own",
        "second in outer",
        "other again in own",
        "third in outer>inner",
        "fourth in outer",
        "last in ",
    ];
    assert_eq!(events, expected);
}

#[test]
fn parasites_have_their_own() {
    let events = logged(|| {
        let (tx, rx) = channel::<u32>();
        let stackless = {
            let rx = rx.clone();
            let waits = async move {
                info!("before");
                rx.recv_async().await.unwrap();
                info!("after");
            };
            parasite(waits.instrument(info_span!("stackless")))
        };
        let stackful = parasite_fn(move || {
            let _own = info_span!("stackful").entered();
            rx.recv().unwrap();
            info!("after");
        });
        let _sends = info_span!("sends").entered();
        tx.send(1).unwrap();
        info!("sent");
        tx.send(2).unwrap();
        info!("sent");
        stackless.join().unwrap();
        stackful.join().unwrap();
        info!("joined");
    });
    let (mut sorted, mut expected) = (
        events.clone(),
        vec![
            "before in stackless",
            "sent in sends",
            "after in stackless",
            "sent in sends",
            "after in stackful",
            "joined in sends",
        ],
    );
    sorted.sort();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "{events:?}");
}

#[test]
fn on_kernel_threads_it_is_as_without_it() {
    fn main() {
        let outer = info_span!("outer").entered();
        let inner = info_span!("inner").entered();
        info!("both");
        // Out of order.
        drop(outer);
        info!("one");
        drop(inner);
        info!("none");
    }
    let (with, without) = (Log::default(), Log::default());
    with_default(PerThread::new(tracing_subscriber::registry().with(with.clone())), main);
    with_default(tracing_subscriber::registry().with(without.clone()), main);
    let with = with.events();
    assert_eq!(with, without.events());
    assert_eq!((with.len(), with[0].as_str()), (3, "both in outer>inner"));
}
