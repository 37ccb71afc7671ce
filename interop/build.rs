//! Writes the code of the gRPC service of `examples/tonic_echo.rs`, which is described here: no `protoc` is needed.

use std::path::PathBuf;
use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let method = |name: &str, route: &str| {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type("crate::echo::Message")
            .output_type("crate::echo::Message")
            .codec_path("tonic_prost::ProstCodec")
    };
    let service = Service::builder()
        .name("Echo")
        .package("lamprey.echo")
        .method(method("say", "Say").build())
        .method(method("join", "Join").client_streaming().build())
        .method(method("split", "Split").server_streaming().build())
        .method(method("talk", "Talk").client_streaming().server_streaming().build())
        .build();
    let folder: PathBuf = std::env::var_os("OUT_DIR").expect("cargo sets it").into();
    Builder::new().out_dir(&folder).compile(&[service]);
    println!("cargo::rerun-if-changed=build.rs");
}
