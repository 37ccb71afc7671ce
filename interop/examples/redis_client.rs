//! A server of Redis, used from hosts: commands in pipelines over one connection for all, and messages by publish and subscribe.
//!
//! `cargo run --example redis_client -- redis://HOST:PORT [HOSTS]`

use futures::StreamExt;
use lamprey_compat::tokio as on_tokio;
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisResult};
use std::process::ExitCode;

const ROUNDS: i64 = 10;

/// One host: counts in pipelines, and tells the others when it is done.
fn count(mut connection: MultiplexedConnection, name: i64) -> RedisResult<i64> {
    let mut last = 0;
    for _ in 0..ROUNDS {
        let mut pipeline = redis::pipe();
        pipeline.cmd("HINCRBY").arg("lamprey:counts").arg(name).arg(1).ignore();
        pipeline.cmd("INCR").arg("lamprey:total");
        (last,) = on_tokio(pipeline.query_async::<(i64,)>(&mut connection)).wait()?;
    }
    let mut publish = redis::cmd("PUBLISH");
    publish.arg("lamprey:done").arg(name);
    on_tokio(publish.query_async::<i64>(&mut connection)).wait()?;
    Ok(last)
}

/// Receives the names of `hosts` that are done; their sum.
async fn hear(mut messages: redis::aio::PubSub, hosts: i64) -> RedisResult<i64> {
    let mut stream = messages.on_message();
    let mut sum = 0;
    for _ in 0..hosts {
        let message =
            stream.next().await.ok_or(std::io::Error::other("the server has ended the subscription"))?;
        sum += message.get_payload::<i64>()?;
    }
    Ok(sum)
}

fn run(url: &str, hosts: i64) -> RedisResult<()> {
    let client = Client::open(url)?;
    let opened = on_tokio(async {
        let mut connection = client.get_multiplexed_async_connection().await?;
        let keys = ["lamprey:counts", "lamprey:total"];
        redis::cmd("DEL").arg(&keys).query_async::<()>(&mut connection).await?;
        let mut messages = client.get_async_pubsub().await?;
        messages.subscribe("lamprey:done").await?;
        Ok::<_, redis::RedisError>((connection, messages))
    });
    let (mut connection, messages) = opened.wait()?;
    let hearing = lamprey::parasite(on_tokio(hear(messages, hosts)));
    let counters = (1..=hosts).map(|name| {
        let connection = connection.clone();
        move || count(connection, name)
    });
    let highest = lamprey::scope::join_all(counters).into_iter().collect::<RedisResult<Vec<_>>>()?;
    let heard = hearing.join().expect("it does not panic")?;
    let mut get = redis::cmd("GET");
    let total = on_tokio(get.arg("lamprey:total").query_async::<i64>(&mut connection)).wait()?;
    assert_eq!(highest.into_iter().max(), Some(total), "somebody got the last number");
    println!("{total} counted by {hosts} hosts; heard of {heard}");
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Ok(hosts @ 1..)) =
        (arguments.next(), arguments.next().as_deref().unwrap_or("50").parse())
    else {
        eprintln!("usage: redis_client redis://HOST:PORT [HOSTS]");
        return ExitCode::from(2);
    };
    match lamprey::run(|| run(&url, hosts)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{url}: {error}");
            ExitCode::FAILURE
        }
    }
}
