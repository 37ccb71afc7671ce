//! The thread ring (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight Context Switching*, 2013, 7.4) of
//! actors: each passes a token on to the next.
//!
//! Each actor is sent to by the one before it, so all addresses are made before any actor is started.
//!
//! ```sh
//! cargo run -p lamprey --example actors
//! cargo test --example actors
//! ```

use lamprey::actor::{self, Address, Inbox};
use lamprey::spawn;

enum Token {
    /// Still to be passed so many times.
    Pass(u64),
    /// Ends everybody, once round.
    End,
}

/// One of a ring: passes a token on to the next, until it has been passed often enough. How often it has passed it.
fn member(inbox: &mut Inbox<Token>, next: &Address<Token>) -> u64 {
    let mut passed = 0;
    for token in inbox {
        // An error: the next one has ended, which ends the ring as well.
        let sent = match token {
            Token::Pass(left @ 1..) => next.tell(Token::Pass(left - 1)),
            Token::Pass(0) | Token::End => {
                let _ = next.tell(Token::End);
                break;
            }
        };
        passed += 1;
        if sent.is_err() {
            break;
        }
    }
    passed
}

/// Passes a token `times` times round a ring of `members`; how often each of them has passed it.
pub fn ring(members: usize, times: u64) -> Vec<u64> {
    let (addresses, inboxes): (Vec<_>, Vec<_>) = (0..members).map(|_| actor::inbox()).unzip();
    let nexts = addresses.iter().cycle().skip(1).cloned();
    let start = |(mut inbox, next): (Inbox<_>, _)| spawn(move || inbox.run(|inbox| member(inbox, &next)));
    let hosts: Vec<_> = inboxes.into_iter().zip(nexts).map(start).collect();
    addresses[0].tell(Token::Pass(times)).unwrap();
    drop(addresses);
    hosts.into_iter().map(|host| host.join().unwrap().unwrap()).collect()
}

fn main() {
    lamprey::run(|| {
        let begun = std::time::Instant::now();
        let passed = ring(503, 500_000);
        println!("{} passes in {:?}", passed.iter().sum::<u64>(), begun.elapsed());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_round() {
        for workers in 1..=2 {
            lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
                assert_eq!(ring(3, 7), [3, 2, 2]);
                assert_eq!(ring(1, 5), [5]);
                assert_eq!(ring(503, 10_000).iter().sum::<u64>(), 10_000);
            });
        }
    }
}
