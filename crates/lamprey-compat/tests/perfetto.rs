//! The trace for Perfetto: slices lie within each other, arrows lead from slice to slice.

use lamprey::inspect::recording;
use lamprey::{Builder, channel, parasite, parasite_fn, sleep};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Microseconds, exactly: in nanoseconds.
fn nanos(value: &Value) -> u64 {
    (value.as_f64().unwrap() * 1000.0).round() as u64
}

type Track = (u64, u64);

fn track(event: &Value) -> Track {
    (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap())
}

/// Begin and end of the slices of each track, in the order of the file.
fn slices(events: &[Value]) -> HashMap<Track, Vec<(u64, u64, &str)>> {
    let mut slices = HashMap::<_, Vec<_>>::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let begin = nanos(&event["ts"]);
        let slice = (begin, begin + nanos(&event["dur"]), event["name"].as_str().unwrap());
        slices.entry(track(event)).or_default().push(slice);
    }
    slices
}

#[test]
fn slices_nest_and_arrows_lead_from_slice_to_slice() {
    let runtime = lamprey::Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let (tx, rx) = channel::<u32>();
        let hosts = [0, 1].map(|worker| {
            let (tx, rx) = (tx.clone(), rx.clone());
            let talk = move || {
                for n in 0..20 {
                    let rx = rx.clone();
                    let answer = parasite(async move { rx.recv_async().await });
                    tx.send(n).unwrap();
                    parasite_fn(|| sleep(Duration::from_micros(1))).join().unwrap();
                    answer.join().unwrap().unwrap();
                }
            };
            Builder::new().name(format!("talker {worker}")).worker(worker).spawn(talk).unwrap()
        });
        hosts.into_iter().for_each(|host| host.join().unwrap());

        let trace: Value = serde_json::from_str(&lamprey_compat::perfetto::trace(&recording())).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let slices = slices(events);
        for (track, slices) in &slices {
            let mut open: Vec<(u64, u64, &str)> = Vec::new();
            for slice in slices {
                while open.last().is_some_and(|outer| outer.1 <= slice.0) {
                    open.pop();
                }
                assert!(
                    open.last().is_none_or(|outer| slice.1 <= outer.1),
                    "{track:?}: {slice:?} in {open:?}"
                );
                open.push(*slice);
            }
            assert!(slices.is_sorted_by_key(|slice| slice.0), "{track:?}");
        }
        for name in ["talker 0", "talker 1", "sleeps", "scheduler"] {
            assert!(slices.values().flatten().any(|slice| slice.2.contains(name)), "no slice of {name}");
        }

        let mut arrows = HashMap::<u64, Vec<&Value>>::new();
        for event in events.iter().filter(|event| event["ph"] == "s" || event["ph"] == "f") {
            arrows.entry(event["id"].as_u64().unwrap()).or_default().push(event);
            let (at, track) = (nanos(&event["ts"]), track(event));
            let is_within = slices[&track].iter().any(|slice| slice.0 <= at && at <= slice.1);
            assert!(is_within, "{event} is in no slice");
        }
        assert!(!arrows.is_empty());
        for (id, ends) in &arrows {
            assert!(matches!(&ends[..], [s, f] if s["ph"] == "s" && f["ph"] == "f"), "arrow {id}: {ends:?}");
            assert!(nanos(&ends[0]["ts"]) <= nanos(&ends[1]["ts"]), "arrow {id} leads back");
        }
        let names: Vec<_> = events.iter().filter(|event| event["ph"] == "M").collect();
        assert!(names.iter().any(|event| event["args"]["name"] == "worker 1"), "{names:?}");
    });
}
