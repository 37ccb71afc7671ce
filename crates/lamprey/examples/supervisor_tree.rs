//! A tree of supervisors, told what to do line by line.
//!
//! At the top a supervisor of two: the `store`, an actor that counts words, and the `teams`, a supervisor whose children are
//! added and removed while it runs. Each of those is an actor that passes words on to the store. Who fails is started again,
//! alone; addresses stay the same, and what is told meanwhile waits. Where teams fail too often, their supervisor gives up,
//! and the whole branch is started again, without teams.
//!
//! ```sh
//! cargo run -p lamprey --example supervisor_tree
//! add red            a team
//! say red hello      it tells the store
//! count hello
//! crash red          it fails, and is started again; the fourth time the branch fails with it
//! crash store        so does the store: what it has counted is lost
//! remove red
//! list
//! ```
//! Without input it ends at once.

use lamprey::actor::{self, Address, Inbox, Reply};
use lamprey::scope::supervisor::AnyError;
use lamprey::scope::{Backoff, Restart, Supervisor, SupervisorHandle};
use lamprey::watch::{self, watch};
use std::collections::BTreeMap;
use std::time::Duration;

enum Store {
    Word(String),
    Count(String, Reply<u32>),
    Crash,
}

enum Team {
    Say(String, Reply<()>),
    Crash,
}

/// Counts words; forgets them when it crashes.
fn store(inbox: &mut Inbox<Store>) -> Result<(), AnyError> {
    let mut words = BTreeMap::<String, u32>::new();
    for message in inbox {
        match message {
            Store::Word(word) => *words.entry(word).or_default() += 1,
            Store::Count(word, reply) => drop(reply.send(words.get(&word).copied().unwrap_or(0))),
            Store::Crash => return Err("the store is on fire".into()),
        }
    }
    Ok(())
}

fn team(inbox: &mut Inbox<Team>, store: &Address<Store>) -> Result<(), AnyError> {
    for message in inbox {
        match message {
            Team::Say(word, reply) => {
                store.tell(Store::Word(word))?;
                let _ = reply.send(()); // an error: nobody waits
            }
            Team::Crash => return Err("the team quarrels".into()),
        }
    }
    Ok(())
}

/// A supervisor that restarts soon and says why, up to so many times in an hour.
fn supervisor<'env>(restarts: usize) -> Supervisor<'env> {
    Supervisor::new()
        .backoff(Backoff::new(Duration::from_millis(1)))
        .limit(restarts, Duration::from_secs(3600))
        .on_failure(|report| println!("{}: {}", report.child, report.failure))
}

/// What the lines of the input talk to.
struct Tree {
    store: Address<Store>,
    orders: watch::Receiver<Option<SupervisorHandle>>,
    teams: BTreeMap<String, Address<Team>>,
}

impl Tree {
    fn obey(&mut self, line: &str) -> Result<String, AnyError> {
        let words: Vec<_> = line.split_whitespace().collect();
        Ok(match *words {
            ["add", name] => {
                let ((address, inbox), store) = (actor::inbox(), self.store.clone());
                let body = inbox.supervised(move |inbox: &mut Inbox<Team>| team(inbox, &store));
                self.orders()?.add(name, Restart::OnFailure, body)?;
                self.teams.insert(name.to_owned(), address);
                format!("{name} is there")
            }
            ["say", name, word] => {
                self.team(name)?.ask(|reply| Team::Say(word.to_owned(), reply))?;
                format!("{name} has said {word}")
            }
            ["count", word] => {
                let count = self.store.ask(|reply| Store::Count(word.to_owned(), reply))?;
                format!("{word}: {count}")
            }
            ["crash", "store"] => {
                let monitor = self.store.monitor();
                self.store.tell(Store::Crash)?;
                format!("store: {}", monitor.wait())
            }
            ["crash", name] => {
                let monitor = self.team(name)?.monitor();
                self.team(name)?.tell(Team::Crash)?;
                format!("{name}: {}", monitor.wait())
            }
            ["remove", name] => {
                self.teams.remove(name);
                let was_there = self.orders()?.cancel_and_join(name);
                format!("{name} {}", if was_there { "is gone" } else { "was not there" })
            }
            ["list"] => format!("teams: {}", self.orders()?.children().join(" ")),
            _ => return Err(format!("not understood: {line}").into()),
        })
    }

    /// The supervisor of the teams that runs now.
    fn orders(&mut self) -> Result<SupervisorHandle, AnyError> {
        loop {
            // One that has failed is there until the next one has started.
            if let Some(orders) = self.orders.get().filter(|orders| !orders.is_finished()) {
                return Ok(orders);
            }
            self.orders.changed()?;
        }
    }

    fn team(&self, name: &str) -> Result<&Address<Team>, AnyError> {
        self.teams.get(name).ok_or_else(|| format!("there is no team {name}").into())
    }
}

fn main() -> Result<(), AnyError> {
    lamprey::run(|| {
        let (address, inbox) = actor::inbox();
        // A supervisor runs once: each start of this branch makes a new one, without teams, and says which.
        let (started, orders) = watch(None);
        let top = supervisor(100).child("store", Restart::OnFailure, inbox.supervised(store)).child(
            "teams",
            Restart::OnFailure,
            || {
                let teams = supervisor(3).until_stopped();
                started.send(Some(teams.handle()))?;
                Ok(teams.run().map_err(|error| error.to_string())?)
            },
        );
        lamprey::scope(|s| {
            let all = top.handle();
            let tree = s.spawn(move || top.run());
            let mut talks = Tree { store: address, orders, teams: BTreeMap::new() };
            for line in lamprey::io::stdin().lines() {
                match talks.obey(&line?) {
                    Ok(answer) => println!("{answer}"),
                    Err(error) => println!("error: {error}"),
                }
            }
            talks.orders()?.stop();
            all.stop();
            Ok(tree.join().map_err(|error| error.to_string())?.map_err(|error| error.to_string())?)
        })
    })
}
