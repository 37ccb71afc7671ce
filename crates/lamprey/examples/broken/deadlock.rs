//! Three hosts in a ring, each of which waits for the one before it.

use lamprey::{Builder, Receiver, Sender, channel};

pub fn main() {
    let (to_first, first) = channel();
    let (to_second, second) = channel();
    let (to_third, third) = channel();
    let hosts = [
        ("first", first, to_second),
        ("second", second, to_third),
        ("third", third, to_first), // nobody begins
    ]
    .map(|(name, from, to)| Builder::new().name(name).spawn(move || pass_on(&from, &to)).unwrap());
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

fn pass_on(from: &Receiver<u32>, to: &Sender<u32>) {
    let number = from.recv().unwrap();
    to.send(number + 1).unwrap();
}
