//! Workers that stay on their cores.

use crate::common::{FOREVER, within};
use lamprey::{Builder, Runtime, RuntimeBuilder};
use rustix::thread::{CpuSet, sched_getaffinity};

fn cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// The cores of each worker.
fn of_workers(builder: RuntimeBuilder, workers: usize) -> Vec<Vec<usize>> {
    within(FOREVER, move || {
        builder.workers(workers).build().unwrap().run(|| {
            let hosts = (0..workers).map(|index| Builder::new().worker(index).spawn(cores).unwrap());
            hosts.collect::<Vec<_>>().into_iter().map(|host| host.join().unwrap()).collect()
        })
    })
}

#[test]
fn workers_are_free_by_default() {
    assert_eq!(of_workers(Runtime::builder(), 2), [cores(), cores()]);
    assert_eq!(of_workers(Runtime::builder().pin_workers(true).pin_workers(false), 1), [cores()]);
}

#[test]
fn each_worker_has_a_core_and_begins_again_where_there_are_too_few() {
    let all = cores();
    let workers = all.len().min(30) + 1;
    let expected: Vec<_> = all.iter().cycle().take(workers).map(|&core| vec![core]).collect();
    assert_eq!(of_workers(Runtime::builder().pin_workers(true), workers), expected);
    assert_eq!(cores(), all, "who builds the runtime keeps its own");
}

#[test]
fn a_list_is_taken_in_its_order() {
    let (first, last) = (cores()[0], *cores().last().unwrap());
    let pinned = of_workers(Runtime::builder().pin_workers_to([last, first]), 3);
    assert_eq!(pinned, [vec![last], vec![first], vec![last]]);
}

#[test]
fn what_workers_start_for_a_runtime_is_not_pinned() {
    let all = cores();
    within(FOREVER, move || {
        let runtime = Runtime::builder().workers(1).pin_workers(true).build().unwrap();
        runtime.run(move || {
            assert_eq!(lamprey::block(cores), all);
            let nested = lamprey::block(|| Runtime::builder().workers(1).build().unwrap().run(cores));
            assert_eq!(nested, all);
            // Built by the pinned worker itself.
            let nested = Runtime::builder().workers(2).pin_workers(true).build().unwrap();
            assert_eq!(nested.run(|| lamprey::block(cores)), all);
            assert_eq!(Runtime::builder().workers(1).build().unwrap().run(cores), all);
            // What the host starts by `std` inherits its core, or not, within `block`.
            let other = || std::thread::spawn(cores).join().unwrap();
            assert_eq!(other().len(), 1);
            assert_eq!(lamprey::block(other), all);
            let child = || {
                let said =
                    std::process::Command::new("nproc").env_remove("OMP_NUM_THREADS").output().unwrap();
                String::from_utf8(said.stdout).unwrap().trim().parse::<usize>().unwrap()
            };
            assert_eq!((child(), lamprey::block(child)), (1, all.len()));
            let said =
                lamprey::process::Command::new("nproc").env_remove("OMP_NUM_THREADS").output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap().trim(), all.len().to_string());
        });
    });
}

#[test]
fn cores_that_are_not_there_are_named() {
    let refused = |cores: &[usize]| {
        let builder = Runtime::builder().workers(1).pin_workers_to(cores.iter().copied());
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        error.to_string()
    };
    let missing = cores().last().unwrap() + 1;
    let text = refused(&[cores()[0], missing]);
    assert!(text.contains(&format!("core {missing}: this process may use the cores")), "{text}");
    assert!(refused(&[usize::MAX]).contains(&usize::MAX.to_string()));
    assert!(refused(&[]).contains("empty list"));
}
