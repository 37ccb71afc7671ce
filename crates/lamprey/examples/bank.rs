//! A bank in which each account is an actor, and the bank does as it is told line by line.
//!
//! ```sh
//! cargo run -p lamprey --example bank < orders
//! open ann 100
//! open bob 0
//! move 30 ann bob    the lines that begin with `move` and follow each other are done at the same time
//! move 500 bob ann
//! balance ann
//! ```
//! A transfer asks one account for the money, and tells the other: money is never made, and never in two accounts at
//! once. It is asked in one direction only, so accounts never wait for each other. Without input: 1000 transfers
//! between ten accounts of its own.

use lamprey::actor::{self, Address, AskError, Inbox, Reply};
use lamprey::scope::join_all;
use std::collections::BTreeMap;
use std::io;

enum Order {
    Deposit(u64),
    Withdraw(u64, Reply<Result<(), String>>),
    Balance(Reply<u64>),
}

/// An account; what is in it at the end.
fn account(inbox: &mut Inbox<Order>) -> u64 {
    let mut balance: u64 = 0;
    for order in inbox {
        match order {
            Order::Deposit(amount) => balance += amount,
            Order::Withdraw(amount, reply) => match balance.checked_sub(amount) {
                // If nobody waits for the answer any more, nobody will deposit it either: it stays.
                Some(left) => balance = if reply.send(Ok(())).is_ok() { left } else { balance },
                None => drop(reply.send(Err(format!("{amount} is more than {balance}")))),
            },
            Order::Balance(reply) => drop(reply.send(balance)),
        }
    }
    balance
}

#[derive(Default)]
struct Bank {
    accounts: BTreeMap<String, (Address<Order>, Option<lamprey::JoinHandle<u64>>)>,
}

impl Bank {
    fn open(&mut self, name: &str, amount: u64) -> Result<(), String> {
        if self.accounts.contains_key(name) {
            return Err(format!("{name} has an account"));
        }
        let (address, host) = actor::spawn(account);
        address.tell(Order::Deposit(amount)).map_err(|error| error.to_string())?;
        self.accounts.insert(name.to_owned(), (address, Some(host)));
        Ok(())
    }

    fn account(&self, name: &str) -> Result<&Address<Order>, String> {
        self.accounts.get(name).map(|(address, _)| address).ok_or(format!("{name} has no account"))
    }

    fn transfer(&self, amount: u64, from: &str, to: &str) -> Result<(), String> {
        let (from, to) = (self.account(from)?, self.account(to)?);
        let gone = |error: AskError| error.to_string();
        from.ask(|reply| Order::Withdraw(amount, reply)).map_err(gone)??;
        to.tell(Order::Deposit(amount)).map_err(|error| error.to_string())
    }

    /// Does an order; what came of it.
    fn obey(&mut self, line: &str) -> Result<String, String> {
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
        match *line.split_whitespace().collect::<Vec<_>>() {
            ["open", name, amount] => {
                self.open(name, number(amount)?).map(|()| format!("{name} has an account"))
            }
            ["balance", name] => {
                let balance = self.account(name)?.ask(Order::Balance).map_err(|error| error.to_string())?;
                Ok(format!("{name} has {balance}"))
            }
            _ => Err(format!("not understood: {line}")),
        }
    }

    /// Does transfers at the same time; what came of each.
    fn transfers(&self, lines: &[String]) -> Vec<Result<String, String>> {
        join_all(lines.iter().map(|line| {
            move || match *line.split_whitespace().collect::<Vec<_>>() {
                ["move", amount, from, to] => {
                    let amount = amount.parse().map_err(|error| format!("{amount}: {error}"))?;
                    self.transfer(amount, from, to)?;
                    Ok(format!("{amount} from {from} to {to}"))
                }
                _ => Err(format!("not understood: {line}")),
            }
        }))
    }

    /// Closes all accounts; what was in them.
    fn close(self) -> u64 {
        let hosts: Vec<_> = self.accounts.into_values().filter_map(|(_, host)| host).collect(); // no address is left
        hosts.into_iter().map(|host| host.join().unwrap()).sum()
    }
}

fn main() -> io::Result<()> {
    lamprey::run(|| {
        let mut bank = Bank::default();
        let mut lines = lamprey::io::stdin().lines().collect::<io::Result<Vec<_>>>()?;
        if lines.is_empty() {
            lines.extend((0..10).map(|n| format!("open {n} 100")));
            lines.extend((0..1000).map(|n| format!("move {} {} {}", n % 90, n % 10, (n * 7 + 3) % 10)));
        }
        for lines in lines.chunk_by(|one, next| one.starts_with("move ") && next.starts_with("move ")) {
            let results = match lines {
                [line] if !line.starts_with("move ") => vec![bank.obey(line)],
                moves => bank.transfers(moves),
            };
            for result in results {
                result.map_or_else(|error| println!("error: {error}"), |text| println!("{text}"));
            }
        }
        println!("in all accounts: {}", bank.close());
        Ok(())
    })
}
