//! A host panics at a message, and nobody joins it: who has sent the message?

use lamprey::{Builder, channel};

pub(crate) fn main() {
    let (lines, to_parse) = channel::<&str>();
    let parse = move || to_parse.iter().map(|line| line.parse::<u32>().expect("a number")).sum::<u32>();
    drop(Builder::new().name("parser").spawn(parse));
    let read =
        move || ["42", "4z"].into_iter().chain(std::iter::repeat("1")).all(|line| lines.send(line).is_ok());
    let reader = Builder::new().name("reader").spawn(read).expect("a host");
    assert!(!reader.join().expect("it does not panic"));
}
