//! What a host may own: values of any size and alignment, values that are not `Send`, its kernel thread's
//! state.

use crate::common::{Counted, count, counter, run, runtime};
use lamprey::{Builder, sleep, spawn, yield_now};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

/// `ALIGN` is not a type parameter of an attribute, so each has its own type.
macro_rules! aligned {
    ($name:ident, $align:literal) => {
        #[repr(align($align))]
        #[derive(Clone, Copy)]
        struct $name([u8; $align]);
        impl $name {
            fn check(&self) {
                assert_eq!(
                    black_box(std::ptr::from_ref(self)).addr() % $align,
                    0,
                    "not aligned to {}",
                    $align
                );
                assert!(self.0.iter().all(|&byte| byte == 0xA5));
            }
        }
    };
}
aligned!(Align32, 32);
aligned!(Align64, 64);
aligned!(Align128, 128);
aligned!(Align4096, 4096);

macro_rules! roundtrip {
    ($name:ident) => {{
        let value = $name([0xA5; _]);
        value.check();
        // Several at a time, so that packets do not share one lucky place.
        let hosts: Vec<_> = (0..50)
            .map(|n| {
                spawn(move || {
                    value.check();
                    if n % 2 == 0 {
                        yield_now();
                    }
                    let copy = value;
                    copy.check();
                    value
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap().check());
    }};
}

#[test]
fn captures_and_results_keep_their_alignment() {
    run(2, || {
        roundtrip!(Align32);
        roundtrip!(Align64);
        roundtrip!(Align128);
        roundtrip!(Align4096);
    });
    let runtime = runtime(1);
    let value = Align128([0xA5; _]);
    let from_outside = runtime.handle().spawn(move || {
        value.check();
        value
    });
    from_outside.join().unwrap().check();
}

#[test]
fn aligned_values_cross_a_channel() {
    run(2, || {
        let (tx, rx) = lamprey::channel();
        let sender = spawn(move || (0..100).for_each(|_| tx.send(Align128([0xA5; _])).unwrap()));
        rx.iter().for_each(|value| value.check());
        sender.join().unwrap();
    });
}

#[test]
fn locals_of_any_alignment_on_any_stack() {
    run(1, || {
        for bytes in [16 << 10, 64 << 10, 256 << 10, 1 << 20] {
            let host = Builder::new().stack_size(bytes).spawn(|| {
                let (a, b) = (Align32([0xA5; _]), Align64([0xA5; _]));
                yield_now();
                a.check();
                b.check();
            });
            host.unwrap().join().unwrap();
        }
    });
}

#[test]
fn large_captures_and_results_arrive_whole() {
    run(2, || {
        let mut page = [0_u8; 4096];
        page.iter_mut().enumerate().for_each(|(at, byte)| *byte = at as u8);
        let hosts: Vec<_> = (0..100)
            .map(|n| {
                let mut page = page;
                page[0] = n;
                spawn(move || {
                    yield_now();
                    page
                })
            })
            .collect();
        for (n, host) in hosts.into_iter().enumerate() {
            let back = host.join().unwrap();
            assert_eq!(usize::from(back[0]), n);
            assert_eq!(back[1..], page[1..]);
        }
    });
}

#[test]
fn nothing_at_all_is_a_capture_and_a_result_too() {
    struct Nothing;
    run(1, || {
        let nothing = Nothing;
        let Nothing = spawn(move || nothing).join().unwrap();
        let () = spawn(|| ()).join().unwrap();
    });
}

#[test]
fn captures_are_dropped_once_whether_used_or_not() {
    let drops = counter();
    for used in [false, true] {
        let held = Counted(drops.clone());
        run(1, move || {
            let host = spawn(move || {
                let held = held;
                if used { Some(held) } else { None }
            });
            drop(host.join().unwrap());
        });
    }
    assert_eq!(count(&drops), 2);
}

#[test]
fn values_that_are_not_send_live_across_blocking() {
    run(2, || {
        let hosts: Vec<_> = (0..20_u64)
            .map(|n| {
                spawn(move || {
                    let shared = Rc::new(RefCell::new(Vec::new()));
                    for step in 0..20 {
                        let again = Rc::clone(&shared);
                        let borrowed = shared.borrow_mut();
                        sleep(Duration::from_micros(n * 10));
                        drop(borrowed);
                        yield_now();
                        again.borrow_mut().push(step);
                    }
                    assert_eq!(Rc::strong_count(&shared), 1);
                    shared.take().len()
                })
            })
            .collect();
        assert!(hosts.into_iter().all(|host| host.join().unwrap() == 20));
    });
}

thread_local! {
    static MARK: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn a_host_never_changes_its_kernel_thread() {
    run(2, || {
        let hosts: Vec<_> = (1..=50_u64)
            .map(|n| {
                spawn(move || {
                    let (thread, worker) = (std::thread::current().id(), lamprey::current().worker());
                    // Its address may be kept across a switch by the compiler; it must stay right.
                    let mark = MARK.with(|mark| std::ptr::from_ref(mark).addr());
                    for step in 0..200 {
                        match step % 3 {
                            0 => yield_now(),
                            1 => sleep(Duration::from_micros(n)),
                            _ => lamprey::block(|| ()),
                        }
                        assert_eq!(std::thread::current().id(), thread);
                        assert_eq!(lamprey::current().worker(), worker);
                        assert_eq!(MARK.with(|mark| std::ptr::from_ref(mark).addr()), mark);
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn thread_locals_are_the_workers_as_the_documentation_says() {
    run(1, || {
        MARK.set(7);
        assert_eq!(spawn(|| MARK.replace(8)).join().unwrap(), 7);
        assert_eq!(MARK.get(), 8);
    });
}

#[test]
fn floating_point_and_wide_registers_survive_a_switch() {
    run(1, || {
        let hosts: Vec<_> = (0..8_u32)
            .map(|n| {
                spawn(move || {
                    let mut lanes = [f64::from(n); 16];
                    for _ in 0..500 {
                        for (at, lane) in lanes.iter_mut().enumerate() {
                            *lane = black_box(*lane) * 1.000_1 + at as f64;
                        }
                        yield_now();
                    }
                    lanes
                })
            })
            .collect();
        for (n, host) in hosts.into_iter().enumerate() {
            let mut lanes = [n as f64; 16];
            for _ in 0..500 {
                lanes.iter_mut().enumerate().for_each(|(at, lane)| *lane = *lane * 1.000_1 + at as f64);
            }
            assert_eq!(host.join().unwrap(), lanes);
        }
    });
}
