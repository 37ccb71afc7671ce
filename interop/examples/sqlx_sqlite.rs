//! A bank in a file of SQLite, by sqlx: many hosts move money in transactions, and no coin is lost.
//!
//! `cargo run --example sqlx_sqlite -- FILE [HOSTS]`

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Row, SqlitePool};
use std::process::ExitCode;
use std::time::Duration;

const ACCOUNTS: i64 = 10;
const COINS: i64 = 100;
const TRANSFERS: i64 = 5;

async fn open(file: &str) -> sqlx::Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .busy_timeout(Duration::from_secs(60));
    let pool = SqlitePoolOptions::new().max_connections(4).acquire_timeout(Duration::from_secs(60));
    let pool = pool.connect_with(options).await?;
    sqlx::query("DROP TABLE IF EXISTS accounts").execute(&pool).await?;
    sqlx::query("CREATE TABLE accounts (id INTEGER PRIMARY KEY, coins INTEGER NOT NULL CHECK (coins >= 0))")
        .execute(&pool)
        .await?;
    for id in 0..ACCOUNTS {
        sqlx::query("INSERT INTO accounts VALUES (?, ?)").bind(id).bind(COINS).execute(&pool).await?;
    }
    Ok(pool)
}

/// Moves one coin, if there is one; both accounts change, or none.
async fn transfer(pool: &SqlitePool, from: i64, to: i64) -> sqlx::Result<bool> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let row = sqlx::query("SELECT coins FROM accounts WHERE id = ?").bind(from);
    if row.fetch_one(&mut *transaction).await?.get::<i64, _>(0) == 0 {
        return Ok(false); // its destructor rolls the transaction back
    }
    for (id, change) in [(from, -1), (to, 1)] {
        let update = sqlx::query("UPDATE accounts SET coins = coins + ? WHERE id = ?").bind(change).bind(id);
        update.execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(true)
}

fn run(file: &str, hosts: i64) -> sqlx::Result<()> {
    let pool = lamprey_compat::tokio(open(file)).wait()?;
    let movers = (0..hosts).map(|host| {
        let pool = &pool;
        // Blocking code, on a host of its own.
        move || {
            (0..TRANSFERS).try_fold(0, |moved, n| {
                let (from, to) = ((host + n) % ACCOUNTS, (host * 3 + n + 1) % ACCOUNTS);
                let done = lamprey_compat::tokio(transfer(pool, from, to)).wait()?;
                Ok(moved + i64::from(done))
            })
        }
    });
    let moved = lamprey::scope::join_all(movers).into_iter().sum::<sqlx::Result<i64>>()?;
    let total =
        lamprey_compat::tokio(sqlx::query("SELECT sum(coins) FROM accounts").fetch_one(&pool)).wait()?;
    println!("{moved} coins moved by {hosts} hosts; {} in all accounts", total.get::<i64, _>(0));
    lamprey_compat::tokio(pool.close()).wait();
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Ok(hosts)) = (arguments.next(), arguments.next().as_deref().unwrap_or("50").parse())
    else {
        eprintln!("usage: sqlx_sqlite FILE [HOSTS]");
        return ExitCode::from(2);
    };
    match lamprey::run(|| run(&file, hosts)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}
