//! Generators whose bodies use the API.

use crate::program::Body;
use crate::run::{Context, run};
use std::cell::RefCell;
use swapstack::{Generator, GeneratorBuilder};

type Parts = Generator<(), (), ()>;

thread_local! {
    /// Kept generators, which other hosts of this kernel thread resume.
    static KEPT: RefCell<Vec<Parts>> = const { RefCell::new(Vec::new()) };
}

/// Creates a generator, resumes it some times, and drops or keeps it.
pub fn generator(context: &Context, parts: &[Body], resumes: u8, keep: bool) {
    if std::thread::panicking() {
        return; // a body that yields could not continue
    }
    let (context, parts) = (context.clone(), parts.to_vec());
    let body = move |yielder: &swapstack::Yielder<(), ()>, ()| {
        for part in &parts {
            run(&context, part);
            yielder.suspend(());
        }
    };
    let Ok(mut generator) = GeneratorBuilder::new().stack_size(4 << 20).build(body) else { return };
    for _ in 0..resumes {
        if !generator.is_done() {
            generator.resume(());
        }
    }
    if keep {
        let _ = KEPT.try_with(|kept| kept.borrow_mut().push(generator));
    }
}

/// Resumes a kept generator, or drops it.
pub fn resume(ends: bool) {
    let Ok(Some(mut generator)) = KEPT.try_with(|kept| kept.borrow_mut().pop()) else { return };
    if ends || generator.is_done() || std::thread::panicking() {
        return;
    }
    generator.resume(());
    if !generator.is_done() {
        let _ = KEPT.try_with(|kept| kept.borrow_mut().push(generator));
    }
}
