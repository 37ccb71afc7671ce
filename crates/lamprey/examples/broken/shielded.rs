//! A host that waits for itself, within a part that cannot be cancelled.

use lamprey::{channel, shield};

pub fn main() {
    let (sender, receiver) = channel::<u32>();
    println!("{:?}", shield(|| receiver.recv()));
    drop(sender);
}
