//! The publisher passes each count on once, as it was counted.

use ::metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit, with_local_recorder,
};
use lamprey::Runtime;
use lamprey_compat::metrics::Publisher;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// What a recorder was given last, and how many values.
#[derive(Default)]
struct Cell(Mutex<(f64, u64)>);

impl CounterFn for Cell {
    fn increment(&self, _: u64) {
        panic!("counts are absolute");
    }
    fn absolute(&self, value: u64) {
        self.set(value as f64);
    }
}

impl GaugeFn for Cell {
    fn increment(&self, _: f64) {}
    fn decrement(&self, _: f64) {}
    fn set(&self, value: f64) {
        self.0.lock().unwrap().0 = value;
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        let mut of = self.0.lock().unwrap();
        *of = (value, of.1 + 1);
    }
}

#[derive(Default)]
struct Kept(Mutex<HashMap<String, Arc<Cell>>>, Mutex<HashMap<String, (Option<Unit>, String)>>);

impl Kept {
    fn describe(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        let before = self.1.lock().unwrap().insert(name.as_str().into(), (unit, text.into_owned()));
        assert!(before.is_none(), "described twice: {before:?}");
    }

    fn cell(&self, key: &Key) -> Arc<Cell> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        self.0.lock().unwrap().entry(format!("{}{labels:?}", key.name())).or_default().clone()
    }

    fn last(&self, name: &str) -> (f64, u64) {
        let all = self.0.lock().unwrap();
        *all.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", all.keys())).0.lock().unwrap()
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }
    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }
    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

#[test]
fn each_value_is_published_once() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (mut publisher, kept) = (Publisher::of(runtime.handle()), Kept::default());
    let wake = r#"lamprey_wake_to_run["worker=0"]"#;
    for round in 1..=3 {
        runtime.run(move || (0..10 * round).for_each(|_| lamprey::spawn(lamprey::yield_now).join().unwrap()));
        with_local_recorder(&kept, || publisher.publish());
        let metrics = runtime.metrics();
        // The worker may still have been on its way to sleep.
        assert!(kept.last("lamprey_hosts[]").0 == metrics.stats.hosts as f64);
        let published = kept.last(wake).1;
        assert!(published > 0 && published <= metrics.workers[0].wake_to_run.count());
        with_local_recorder(&kept, || publisher.publish());
        assert_eq!(kept.last(wake).1, metrics.workers[0].wake_to_run.count(), "nothing twice");
    }
    assert_eq!(kept.last(r#"lamprey_pool_queued["pool=blocking"]"#).0, 0.0);
    // Each is described, and nothing else is.
    let names = kept.0.into_inner().unwrap().into_keys();
    let names: HashSet<_> = names.map(|name| name.split('[').next().unwrap().to_owned()).collect();
    let described = kept.1.into_inner().unwrap();
    assert_eq!(names, described.keys().cloned().collect());
    assert_eq!(described["lamprey_run"].0, Some(Unit::Seconds));
}
