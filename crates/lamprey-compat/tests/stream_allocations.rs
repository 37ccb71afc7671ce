//! What streams and sinks allocate: in place nothing, in a box nothing for what is there.

use futures::{SinkExt, StreamExt};
use lamprey::wait;
use lamprey_compat::stream::{IntoSink, IntoStream};
use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: it is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const VALUES: u64 = 10_000;

/// Values through a sink and a stream, each of which has to wait for the other now and then.
fn allocations<S, R>((tx, rx): (S, R)) -> u64
where
    S: IntoSink<u64> + 'static,
    R: IntoStream<Item = u64> + 'static,
{
    let before = COUNT.load(Ordering::Relaxed);
    let sum = lamprey::parasite(async move {
        let mut stream = pin!(rx.stream_in_place());
        let mut sum = 0;
        while let Some(n) = stream.next().await {
            sum += n;
        }
        sum
    });
    wait(async {
        let mut sink = pin!(tx.sink_in_place());
        for n in 0..VALUES {
            sink.send(n).await.unwrap();
        }
        sink.close().await.unwrap();
    });
    assert_eq!(sum.join().unwrap(), (0..VALUES).sum::<u64>());
    COUNT.load(Ordering::Relaxed) - before
}

/// Values that are there when the stream asks for them.
fn allocations_of_what_is_there() -> u64 {
    let (tx, rx) = lamprey::bounded(VALUES as usize);
    let before = COUNT.load(Ordering::Relaxed);
    wait(async {
        let mut sink = tx.into_sink();
        for n in 0..VALUES {
            sink.send(n).await.unwrap();
        }
        drop(sink);
        assert_eq!(rx.into_stream().count().await as u64, VALUES);
    });
    COUNT.load(Ordering::Relaxed) - before
}

#[test]
fn no_value_costs_an_allocation() {
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| {
        for capacity in [0, 1, 100] {
            let count = allocations(lamprey::channel_of(capacity));
            assert!(count < VALUES / 50, "{count} allocations with a capacity of {capacity}");
        }
        let count = allocations(lamprey::channel());
        assert!(count < VALUES / 50, "{count} allocations of a rendezvous");
        let count = allocations(lamprey::bounded(3));
        assert!(count < VALUES / 50, "{count} allocations of a bounded channel");
        let count = allocations_of_what_is_there();
        assert!(count < VALUES / 50, "{count} allocations of what is there");
    });
}
