//! The trace for dial9, as the format's own reader reads it.

use dial9_trace_format::decoder::Decoder;
use lamprey::inspect::recording;
use lamprey::{Builder, channel, parasite};
use serde::Deserialize;
use std::collections::HashMap;

/// The events that the test looks at, as dial9's analysis reads them: by name.
#[derive(Debug, Deserialize)]
#[serde(tag = "event")]
#[expect(clippy::enum_variant_names, reason = "the names are those of the format's events")]
enum Event {
    ClockSyncEvent { realtime_ns: u64 },
    SegmentMetadataEvent { entries: HashMap<String, String> },
    PollStartEvent { timestamp_ns: u64, worker_id: u64, task_id: u64, spawn_loc: String },
    PollEndEvent { timestamp_ns: u64, worker_id: u64 },
    TaskSpawnEvent { task_id: u64, spawn_loc: String, worker_id: Option<u64> },
    TaskTerminateEvent { task_id: u64 },
    WakeEventEvent { waker_task_id: u64, woken_task_id: u64 },
    WorkerParkEvent { worker_id: u64 },
    WorkerUnparkEvent { sched_wait_ns: Option<u64> },
    WaitEvent { task_id: u64, wait: String },
    NotRecordedEvent { worker_id: u64 },
}

fn read(trace: &[u8]) -> Vec<Event> {
    let (mut decoder, mut events) = (Decoder::new(trace).expect("the header is dial9's"), Vec::new());
    decoder.for_each_event(|raw| events.push(raw.deserialize().expect("an event that is known"))).unwrap();
    events
}

#[test]
fn dial9s_own_reader_finds_the_polls_the_wakes_and_the_waits() {
    let runtime = lamprey::Runtime::builder().workers(2).build().unwrap();
    let (reader, trace) = runtime.run(|| {
        let (tx, rx) = channel::<u32>();
        let host = Builder::new().name("reader").spawn(move || rx.iter().sum::<u32>()).unwrap();
        let reader = host.id();
        let theirs = tx.clone();
        let sender = parasite(async move {
            for n in 0..3 {
                theirs.send_async(n).await.unwrap();
            }
        });
        (0..3).for_each(|n| tx.send(n).unwrap());
        sender.join().unwrap();
        drop(tx);
        assert_eq!(host.join().unwrap(), 6);
        (reader, lamprey_compat::dial9::trace(&recording()))
    });
    let events = read(&trace);

    // The polls of a worker begin and end in turn, in the order of time.
    let mut open = HashMap::<u64, u64>::new();
    let mut last = 0;
    let mut polls = 0;
    for event in &events {
        match event {
            Event::PollStartEvent { timestamp_ns, worker_id, task_id, spawn_loc } => {
                assert!(*timestamp_ns >= last && open.insert(*worker_id, *task_id).is_none(), "{event:?}");
                assert!(*task_id != reader || spawn_loc.ends_with("`reader`"), "{event:?}");
                (last, polls) = (*timestamp_ns, polls + usize::from(*task_id == reader));
            }
            Event::PollEndEvent { timestamp_ns, worker_id } => {
                assert!(*timestamp_ns >= last && open.remove(worker_id).is_some(), "{event:?}");
                last = *timestamp_ns;
            }
            _ => {}
        }
    }
    assert!(open.is_empty() && polls > 0, "{open:?}, {polls}");

    let has = |is: &dyn Fn(&Event) -> bool| assert!(events.iter().any(is), "{events:#?}");
    has(
        &|event| matches!(event, Event::ClockSyncEvent { realtime_ns } if *realtime_ns > 1_600_000_000 * 1_000_000_000),
    );
    has(
        &|event| matches!(event, Event::SegmentMetadataEvent { entries } if entries.contains_key("runtime.0")),
    );
    has(&|event| {
        matches!(event, Event::TaskSpawnEvent { task_id, spawn_loc, worker_id: Some(_) }
            if *task_id == reader && spawn_loc.contains("dial9.rs"))
    });
    has(&|event| matches!(event, Event::TaskTerminateEvent { task_id } if *task_id == reader));
    has(&|event| {
        matches!(event, Event::WakeEventEvent { waker_task_id, woken_task_id }
            if *woken_task_id == reader && *waker_task_id != 0)
    });
    has(
        &|event| matches!(event, Event::WaitEvent { task_id, wait } if *task_id == reader && wait == "receive on a channel"),
    );
    for event in &events {
        match event {
            Event::WorkerParkEvent { worker_id } | Event::NotRecordedEvent { worker_id } => {
                assert!(*worker_id < 2)
            }
            Event::WorkerUnparkEvent { sched_wait_ns } => assert_eq!(*sched_wait_ns, None),
            _ => {}
        }
    }
}
