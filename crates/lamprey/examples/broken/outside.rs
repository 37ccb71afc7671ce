//! A host and a kernel thread of `std` that wait for each other.

use lamprey::channel;
use std::thread;

pub fn main() {
    let (questions, asked) = channel::<u32>();
    let (answers, answered) = channel::<u32>();
    thread::spawn(move || {
        let question = asked.recv().unwrap();
        answers.send(question + 1).unwrap();
    });
    println!("{}", answered.recv().unwrap()); // nothing was asked
    drop(questions);
}
