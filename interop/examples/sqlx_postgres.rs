//! A queue of jobs in PostgreSQL, by sqlx: hosts put jobs into a table and notify, others take them in transactions, each once.
//!
//! `cargo run --example sqlx_postgres -- postgres://USER@HOST:PORT/DATABASE [JOBS]`

use lamprey_compat::tokio as on_tokio;
use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{Connection, PgPool, Row};
use std::process::ExitCode;
use std::time::Duration;

const TAKERS: usize = 20;

async fn open(url: &str) -> sqlx::Result<PgPool> {
    // A pool tries again for as long as it may take to get a connection; that nobody listens there is to be said at once.
    sqlx::PgConnection::connect(url).await?.close().await?;
    let pool =
        PgPoolOptions::new().max_connections(5).acquire_timeout(Duration::from_secs(60)).connect(url).await?;
    sqlx::query("DROP TABLE IF EXISTS jobs").execute(&pool).await?;
    sqlx::query("CREATE TABLE jobs (id BIGINT PRIMARY KEY, square BIGINT, taker BIGINT)")
        .execute(&pool)
        .await?;
    Ok(pool)
}

/// A job and its notice, in one transaction: whoever hears of it finds it.
async fn put(pool: &PgPool, id: i64) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    sqlx::query("INSERT INTO jobs (id) VALUES ($1)").bind(id).execute(&mut *transaction).await?;
    sqlx::query("SELECT pg_notify('jobs', $1)").bind(id.to_string()).execute(&mut *transaction).await?;
    transaction.commit().await
}

/// Takes a job that nobody else has, and does it. False if it sees none: each job that it sees may be taken by others while there is
/// one that was put after its statement began.
async fn take(pool: &PgPool, taker: i64) -> sqlx::Result<bool> {
    let mut transaction = pool.begin().await?;
    let free = "SELECT id FROM jobs WHERE square IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED";
    let Some(row) = sqlx::query(free).fetch_optional(&mut *transaction).await? else { return Ok(false) };
    let id: i64 = row.get(0);
    let done = sqlx::query("UPDATE jobs SET square = $1, taker = $2 WHERE id = $3");
    done.bind(id * id).bind(taker).bind(id).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Does one job. It has been put: there is one for each notice.
async fn do_one(pool: &PgPool, taker: i64) -> sqlx::Result<()> {
    while !take(pool, taker).await? {}
    Ok(())
}

fn run(url: &str, jobs: i64) -> sqlx::Result<()> {
    let pool = on_tokio(open(url)).wait()?;
    let (to_takers, notices) = lamprey::unbounded::<String>();
    let listener = on_tokio(async {
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen("jobs").await?;
        Ok::<_, sqlx::Error>(listener)
    });
    let mut listener = listener.wait()?;
    // A parasite hears the notices, and passes them on to hosts.
    let hearing = lamprey::parasite(on_tokio(async move {
        for _ in 0..jobs {
            let notice = listener.recv().await?;
            let _ = to_takers.send(notice.payload().to_owned());
        }
        Ok::<_, sqlx::Error>(())
    }));
    let done = lamprey::scope(|s| {
        let takers: Vec<_> = (0..TAKERS as i64)
            .map(|taker| {
                let (pool, notices) = (&pool, notices.clone());
                s.spawn(move || {
                    notices.iter().try_fold(0, |done, _| {
                        on_tokio(do_one(pool, taker)).wait()?;
                        Ok(done + 1)
                    })
                })
            })
            .collect();
        let put = (1..=jobs).try_for_each(|id| on_tokio(put(&pool, id)).wait());
        if put.is_err() {
            hearing.cancel(); // there will be fewer notices; so the takers end, too
        }
        put?;
        takers.into_iter().map(|taker| taker.join().expect("it does not panic")).sum::<sqlx::Result<i64>>()
    })?;
    hearing.join().expect("it does not panic")?;
    let sum = sqlx::query("SELECT sum(square)::BIGINT, count(square) FROM jobs");
    let row = on_tokio(sum.fetch_one(&pool)).wait()?;
    println!("{done} jobs done, {} in the table, sum {}", row.get::<i64, _>(1), row.get::<i64, _>(0));
    on_tokio(pool.close()).wait();
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Ok(jobs)) = (arguments.next(), arguments.next().as_deref().unwrap_or("100").parse())
    else {
        eprintln!("usage: sqlx_postgres postgres://USER@HOST:PORT/DATABASE [JOBS]");
        return ExitCode::from(2);
    };
    match lamprey::run(|| run(&url, jobs)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{url}: {error}");
            ExitCode::FAILURE
        }
    }
}
