//! The end of a run: all threads are cancelled, and run to their ends.

use crate::found::holds;
use lamprey::{parasite, parasite_fn, sleep, spawn};
use std::time::Duration;

/// Waits long in its destructor.
struct Lingers;

impl Drop for Lingers {
    fn drop(&mut self) {
        lamprey::shield(|| sleep(Duration::from_secs(3600)));
    }
}

/// While the destructor of a cancelled future waited, the other carriers of its worker looked for more work all the time:
/// a worker at 100 %, and with an unfair schedule nobody else came to run. (Found by random-programs, --simulated, as
/// threads that never end.)
#[test]
fn a_future_that_waits_in_its_destructor_keeps_nobody_busy() {
    holds(|| {
        for _ in 0..3 {
            let lingers = Lingers;
            parasite(async move {
                let _lingers = lingers;
                std::future::pending::<()>().await;
            })
            .detach();
        }
    });
}

#[test]
fn threads_of_each_kind_wait_in_their_destructors() {
    holds(|| {
        let [host, stackful, stackless] = [(); 3].map(|()| Lingers);
        spawn(move || {
            let _lingers = host;
            sleep(Duration::MAX);
        });
        parasite_fn(move || {
            let _lingers = stackful;
            sleep(Duration::MAX);
        })
        .detach();
        parasite(async move {
            let _lingers = stackless;
            lamprey::sleep_async(Duration::MAX).await;
        })
        .detach();
    });
}
