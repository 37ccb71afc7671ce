//! The application of `axum`: one route, which takes a number from the path and answers with JSON.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use std::sync::Arc;

/// The path that is asked for.
pub const PATH: &str = "/users/7";
/// The answer.
pub const ANSWER: &str = r#"{"id":7,"name":"user 7","role":"reader"}"#;

#[derive(Serialize)]
struct User {
    id: u64,
    name: String,
    role: &'static str,
}

struct Roles {
    usual: &'static str,
}

/// The application.
pub fn app() -> Router {
    Router::new().route("/users/{id}", get(user)).with_state(Arc::new(Roles { usual: "reader" }))
}

async fn user(State(roles): State<Arc<Roles>>, Path(id): Path<u64>) -> Json<User> {
    Json(User { id, name: format!("user {id}"), role: roles.usual })
}
