//! A chat server: what one client types, all others see.
//!
//! Each client has two hosts: one reads lines from it and puts them into the room, which is a broadcast channel; one
//! writes what is said in the room. A client that reads too slowly misses lines, is told how many, and holds nobody up.
//!
//! ```sh
//! cargo run -p lamprey --example chat -- 127.0.0.1:7000
//! nc 127.0.0.1 7000   # in two other terminals: your name, then what you say
//! ```
//! Without an address three clients of its own talk. Ctrl-C ends it.

use lamprey::broadcast::{self, RecvError};
use lamprey::net::{TcpListener, TcpStream};
use lamprey::{CancelToken, scope, signal, spawn};
use std::io::{self, BufRead, BufReader, Write};

/// Who says it, and what.
type Line = (String, String);

/// Serves `listener` until `stop` is cancelled.
fn serve(listener: &TcpListener, stop: &CancelToken) -> io::Result<()> {
    let (room, _) = lamprey::broadcast::<Line>(256);
    scope(|s| {
        let room = &room;
        let ended = listener.serving().until(stop).serve(s, move |stream, _| {
            // An error: the client is gone, which is no news.
            let _ = client(&stream, room);
        });
        s.cancel(); // clients that are still there
        ended
    })
}

/// A client, until it hangs up.
fn client(stream: &TcpStream, room: &broadcast::Sender<Line>) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    writeln!(&*stream, "your name?")?;
    let Some(name) = lines.next().transpose()? else { return Ok(()) };
    let said = room.subscribe();
    let say = |text: &str| room.send((name.clone(), text.to_owned()));
    let _ = say("has come");
    let ended = scope(|s| {
        let writer = s.spawn(|| write(stream, said, &name));
        let ended = lines.try_for_each(|line| line.map(|line| drop(say(&line))));
        writer.cancel();
        ended
    });
    let _ = say("has gone");
    ended
}

/// Writes what others say.
fn write(mut stream: &TcpStream, mut said: broadcast::Receiver<Line>, name: &str) -> io::Result<()> {
    loop {
        match said.recv() {
            Ok((who, _)) if who == name => {}
            Ok((who, text)) => writeln!(stream, "{who}: {text}")?,
            Err(RecvError::Lagged(missed)) => writeln!(stream, "({missed} lines missed)")?,
            Err(RecvError::Disconnected) => return Ok(()),
        }
    }
}

/// Three clients that greet each other; each leaves when it has heard both others.
fn demonstrate(address: std::net::SocketAddr) -> io::Result<()> {
    let stream = ["Ann", "Bob", "Cleo"].map(|name| (name, TcpStream::connect(address)));
    let (mut talks, (here, done)) = (Vec::new(), lamprey::bounded(3));
    for (name, stream) in stream {
        let here = here.clone();
        let mut stream = BufReader::new(stream?);
        writeln!(stream.get_ref(), "{name}")?;
        talks.push(spawn(move || -> io::Result<()> {
            let mut heard = std::collections::BTreeSet::new();
            let mut line = String::new();
            while heard.len() < 2 && stream.read_line(&mut line)? > 0 {
                if line.ends_with(": has come\n") || line.starts_with("your name?") {
                    writeln!(stream.get_ref(), "hello from {name}")?; // who came later has not heard it
                }
                heard.extend(line.split_once(": hello").map(|(who, _)| who.to_owned()));
                line.clear();
            }
            println!("{name} has heard {}", Vec::from_iter(heard).join(" and "));
            here.send(stream).unwrap(); // hangs up when all have heard
            Ok(())
        }));
    }
    drop(here);
    drop(done.iter().collect::<Vec<_>>()); // all streams
    talks.into_iter().try_for_each(|talk| talk.join().unwrap())
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    lamprey::run(|| {
        let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0"))?;
        let (here, stop) = (listener.local_addr()?, CancelToken::new());
        println!("listening on {here}");
        let ends = stop.clone();
        let signals = signal::ctrl_c()?;
        spawn(move || signals.recv().map(|_| ends.cancel()));
        let ends = stop.clone();
        let shows = address.is_none().then(|| {
            spawn(move || {
                let shown = demonstrate(here);
                ends.cancel();
                shown
            })
        });
        serve(&listener, &stop)?;
        println!("the room is closed");
        shows.map_or(Ok(()), |shows| shows.join().unwrap())
    })
}
