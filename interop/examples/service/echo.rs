//! The service of `tonic_echo`: its messages, and the code that build.rs writes for its methods.

/// Both the question and the answer of each method.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// What is said.
    #[prost(string, tag = "1")]
    pub text: String,
}

impl Message {
    /// A message with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

tonic::include_proto!("lamprey.echo.Echo");
