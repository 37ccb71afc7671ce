//! `axum_blocking_handler` and its guests: reqwest on tokio.

use interop::peer::{self, LIMIT, Running};
use std::future::Future;

fn start() -> (Running, String) {
    let mut server = Running::start(peer::example("axum_blocking_handler").arg("127.0.0.1:0"));
    let line = server.line_with("listening on");
    let url = line.rsplit(' ').next().unwrap().to_owned();
    (server, url)
}

fn on_tokio<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.expect("it hangs") })
}

#[test]
fn guests_who_wait_and_guests_who_order() {
    let (_server, url) = start();
    on_tokio(async {
        let client = client();
        let waiting = (0..20).map(|table| client.get(format!("{url}/tables/{table}/wait")).send());
        let ordering =
            (0..20).rev().map(|table| client.post(format!("{url}/tables/{table}")).body("tea").send());
        let waiting = async { futures::future::join_all(waiting).await };
        let ordering = async { futures::future::join_all(ordering).await };
        let (waited, ordered) = futures::future::join(waiting, ordering).await;
        for answer in waited {
            assert_eq!(answer.unwrap().text().await.unwrap(), "hot tea\n");
        }
        for (answer, table) in ordered.into_iter().zip((0..20).rev()) {
            assert_eq!(answer.unwrap().text().await.unwrap(), format!("hot tea for table {table}\n"));
        }
        let empty = client.post(format!("{url}/tables/1")).send().await.unwrap();
        assert_eq!(empty.status(), 400);
        assert_eq!(client.post(format!("{url}/tables/x")).body("tea").send().await.unwrap().status(), 400);
        assert_eq!(client.get(format!("{url}/async")).send().await.unwrap().status(), 200);
    });
}

#[test]
fn a_guest_who_goes_away_is_not_waited_for_and_the_house_closes_over_the_others() {
    let (mut server, url) = start();
    let stays = on_tokio(async {
        let client = client();
        let goes = tokio::spawn(client.get(format!("{url}/tables/1/wait")).send());
        server.line_with("a guest waits at table 1");
        let stays = tokio::spawn(client.get(format!("{url}/tables/2/wait")).send());
        server.line_with("a guest waits at table 2");
        goes.abort();
        assert!(goes.await.unwrap_err().is_cancelled());
        server.line_with("a guest has left table 1");
        server.terminate();
        stays.await.unwrap()
    });
    assert!(stays.is_err(), "the connection was dropped without an answer");
    let (status, text) = server.end();
    assert!(status.success(), "{status}\n{text}");
    assert!(text.contains("a guest has left table 2") && text.contains("the house is closed"), "{text}");
}

fn client() -> reqwest::Client {
    // reqwest asks for it, although all of this is without TLS. An error: another test has done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
