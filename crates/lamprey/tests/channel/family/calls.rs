//! Remote calls (`rpc`).

use super::*;
use lamprey::rpc::{CallError, CallTimeoutError};

#[test]
fn a_reply_that_is_dropped_is_an_error() {
    run(1, || {
        let (client, server) = rpc::<u8, u8>();
        let other = client.clone();
        let caller = blocked(move || other.call(1));
        let (request, reply) = server.try_recv().unwrap();
        assert_eq!(request, 1);
        drop(reply);
        assert_eq!(caller.join().unwrap(), Err(CallError::NoReply));
        drop(server);
        assert_eq!(client.call(2), Err(CallError::Disconnected(2)));
        assert_eq!(client.call_timeout(3, LATE), Err(CallTimeoutError::Disconnected(3)));
        assert_eq!(wait(client.call_async(4)), Err(CallError::Disconnected(4)));
    });
}

#[test]
fn the_server_sees_that_the_client_has_given_up() {
    run(1, || {
        let (client, server) = rpc::<u8, u8>();
        assert_eq!(client.call_timeout(1, SOON), Err(CallTimeoutError::NotTaken(1)));
        assert_eq!(server.try_recv().map(drop), Err(TryRecvError::Empty));
        let worker = spawn(move || {
            let (request, mut reply) = server.recv().unwrap();
            assert!(!reply.is_abandoned());
            wait(reply.abandoned_async());
            assert!(reply.is_abandoned());
            reply.send(request).map_err(|error| error.0)
        });
        assert_eq!(client.call_timeout(2, SOON), Err(CallTimeoutError::Timeout));
        assert_eq!(worker.join().unwrap(), Err(2));
    });
}

#[test]
fn several_servers_answer_many_clients() {
    run(2, || {
        let (client, server) = rpc();
        for _ in 0..3 {
            let server = server.clone();
            drop(spawn(move || {
                server.iter().for_each(|(n, reply): (u64, _)| reply.send(n * 2).unwrap());
            }));
        }
        let hosts: Vec<_> = (0..20_u64)
            .map(|n| {
                let client = client.clone();
                spawn(move || match n % 2 {
                    0 => client.call(n),
                    _ => lamprey::parasite(async move { client.call_async(n).await }).join().unwrap(),
                })
            })
            .collect();
        let sum: u64 = hosts.into_iter().map(|host| host.join().unwrap().unwrap()).sum();
        assert_eq!(sum, 380);
    });
}
