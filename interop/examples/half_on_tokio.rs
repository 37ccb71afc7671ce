//! One program, half of whose threads are tasks of tokio, the other half hosts of Lamprey.
//!
//! Tasks make numbers; hosts, which are blocking code, square them; tasks add them up. A channel of Lamprey leads from the first to the
//! second, one of tokio from the second to the third: either kind works from both sides.
//!
//! `cargo run --example half_on_tokio -- [THREADS]`

use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;

const NUMBERS: u64 = 100;

/// A task of tokio: waits by tokio's clock, sends on a channel of Lamprey.
async fn make(from: u64, numbers: lamprey::bounded::Sender<u64>) {
    for n in from..from + NUMBERS {
        if n % 10 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        numbers.send_async(n).await.expect("hosts receive until all senders are gone");
    }
}

/// A host: waits by Lamprey's clock, sends on a channel of tokio.
fn square(numbers: &lamprey::bounded::Receiver<u64>, squares: &mpsc::Sender<u64>) {
    for n in numbers {
        if n % 10 == 5 {
            lamprey::sleep(Duration::from_millis(1));
        }
        lamprey::wait(squares.send(n * n)).expect("the task receives until all senders are gone");
    }
}

fn main() -> ExitCode {
    let Ok(threads @ 1..) = std::env::args().nth(1).as_deref().unwrap_or("100").parse::<u64>() else {
        eprintln!("usage: half_on_tokio [THREADS], a number of at least 1");
        return ExitCode::from(2);
    };
    let sum = lamprey::run(|| {
        let tokio = lamprey_compat::tokio::handle().expect("a kernel thread for tokio");
        let (to_hosts, numbers) = lamprey::bounded(16);
        let (to_tasks, mut squares) = mpsc::channel(16);
        let adding = tokio.spawn(async move {
            let mut sum = 0;
            while let Some(square) = squares.recv().await {
                sum += square;
            }
            sum
        });
        for thread in 0..threads {
            tokio.spawn(make(thread * NUMBERS, to_hosts.clone()));
            let (numbers, to_tasks) = (numbers.clone(), to_tasks.clone());
            lamprey::spawn(move || square(&numbers, &to_tasks));
        }
        drop((to_hosts, to_tasks));
        lamprey::wait(adding).expect("it does not panic")
    });
    println!("{threads} tasks and {threads} hosts: {sum}");
    ExitCode::SUCCESS
}
