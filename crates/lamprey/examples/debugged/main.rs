//! One thread of each kind that waits, for debuggers to look at (`tools/gdb_hosts.py`, `tools/lldb_hosts.py`): it prints `ready`, and
//! stays until it is killed.

use lamprey::inspect::{self, ThreadRow};
use lamprey::{Builder, Receiver, Runtime, Wait, channel, parasite, parasite_fn, sleep};
use std::time::Duration;

async fn listen(rx: Receiver<u32>) -> Option<u32> {
    rx.recv_async().await.ok()
}

#[inline(never)]
fn wait_in_a_call(rx: &Receiver<u32>) -> Option<u32> {
    rx.recv().ok()
}

fn main() -> std::io::Result<()> {
    Runtime::builder().workers(2).deadlocks(false).build()?.run(|| {
        let (tx, rx) = channel::<u32>();
        let theirs = rx.clone();
        let host = Builder::new().name("a host").worker(0).spawn(move || wait_in_a_call(&theirs))?;
        let unnamed = parasite(listen(rx.clone()));
        let named = Builder::new().name("a parasite").parasite(listen(rx.clone()))?;
        let stackful = parasite_fn(move || wait_in_a_call(&rx));
        let waiting = || {
            inspect::threads()
                .iter()
                .filter(|row| row.wait() == Some(Wait::Recv))
                .map(ThreadRow::count)
                .sum::<usize>()
        };
        while waiting() < 4 {
            sleep(Duration::from_millis(1));
        }
        println!("ready");
        host.join().ok();
        drop((tx, unnamed, named, stackful));
        Ok(())
    })
}
