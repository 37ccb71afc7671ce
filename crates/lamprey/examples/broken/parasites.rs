//! Parasites that serve requests which nobody sends, and a host that waits for their end.

use lamprey::{Receiver, channel, parasite};

pub fn main() {
    let (requests, served) = channel::<u32>();
    let servers = [(); 2].map(|()| parasite(serve(served.clone())));
    servers.into_iter().for_each(|server| _ = server.join());
    drop(requests); // too late
}

async fn serve(requests: Receiver<u32>) -> u32 {
    let mut sum = 0;
    while let Ok(number) = requests.recv_async().await {
        sum += number;
    }
    sum
}
