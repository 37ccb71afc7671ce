//! Handlers of axum that are plain blocking code: each call runs on a host of its own, and waits on channels and locks of Lamprey.
//!
//! ```text
//! cargo run --example axum_blocking_handler -- 127.0.0.1:3000
//! curl http://127.0.0.1:3000/tables/1/wait &      # waits until somebody serves table 1
//! curl --data tea http://127.0.0.1:3000/tables/1  # a kitchen of two cooks, who are hosts as well
//! ```
//! SIGTERM ends it.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use lamprey::net::TcpListener;
use lamprey::signal::{self, Signal};
use lamprey::sync::{Condvar, Mutex};
use lamprey::{bounded, oneshot};
use lamprey_compat::axum::{blocking, serve};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// A dish to be cooked, and where it is to go.
type Order = (String, oneshot::Sender<String>);

/// What the handlers share.
#[derive(Clone)]
struct House {
    kitchen: bounded::Sender<Order>,
    tables: Arc<Tables>,
}

#[derive(Default)]
struct Tables {
    served: Mutex<HashMap<u32, String>>,
    changed: Condvar,
}

#[lamprey::main]
fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener =
        TcpListener::bind(&*address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);

    let (kitchen, orders) = lamprey::bounded::<Order>(4);
    for _cook in 0..2 {
        let orders = orders.clone();
        lamprey::spawn(move || {
            for (dish, ready) in orders {
                lamprey::sleep(Duration::from_millis(20));
                // The guest may have left.
                let _ = ready.send(format!("hot {dish}"));
            }
        });
    }
    let signals = signal::listen(&[Signal::TERM])?;
    let app = Router::new()
        .route("/tables/{table}", post(blocking(order)))
        .route("/tables/{table}/wait", get(blocking(wait_for_table)))
        .route("/async", get(|| async { "beside them, handlers as ever\n" }))
        .with_state(House { kitchen, tables: Arc::default() });
    let told = async move {
        let _ = signals.recv_async().await;
    };
    // Whoever waits at a table without end is sent away after a second.
    serve(listener, app).with_graceful_shutdown(told).finish_within(Duration::from_secs(1)).run()?;
    println!("the house is closed");
    Ok(())
}

/// Takes an order to the kitchen, waits for the dish, and serves it.
fn order(
    State(house): State<House>,
    Path(table): Path<u32>,
    dish: String,
) -> Result<String, (StatusCode, String)> {
    if dish.is_empty() {
        return Err((StatusCode::BAD_REQUEST, "an order names a dish, and this one is empty\n".to_owned()));
    }
    let closed = || (StatusCode::SERVICE_UNAVAILABLE, "the kitchen is closed\n".to_owned());
    let (ready, dish_is_ready) = oneshot();
    // Waits while four orders are before it.
    house.kitchen.send((dish, ready)).map_err(|_| closed())?;
    let dish = dish_is_ready.recv().map_err(|_| closed())?;
    house.tables.served.lock().expect("nobody panics with it").insert(table, dish.clone());
    house.tables.changed.notify_all();
    Ok(format!("{dish} for table {table}\n"))
}

/// Waits, for as long as the client does, until something is on the table. If the client goes away, the host unwinds from `wait_while`.
fn wait_for_table(State(house): State<House>, Path(table): Path<u32>) -> String {
    println!("a guest waits at table {table}");
    let _left = Left(table);
    let served = house.tables.served.lock().expect("nobody panics with it");
    let served = house.tables.changed.wait_while(served, |served| !served.contains_key(&table));
    format!("{}\n", served.expect("nobody panics with it")[&table])
}

/// Says that a guest has gone, one way or another.
struct Left(u32);

impl Drop for Left {
    fn drop(&mut self) {
        println!("a guest has left table {}", self.0);
    }
}
