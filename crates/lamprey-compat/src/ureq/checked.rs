//! What ureq's connector for rustls would panic at is an error here: a server can lead to it, by a redirect to `https`.

use rustls::crypto::CryptoProvider;
use ureq::Error;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::transport::{ConnectionDetails, Connector, Transport};

/// Goes before the connection is made.
#[derive(Debug)]
pub(super) struct Checked;

impl<In: Transport> Connector<In> for Checked {
    type Out = In;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, Error> {
        if details.needs_tls() {
            check(details.config.tls_config())?;
        }
        Ok(chained)
    }
}

fn check(tls: &TlsConfig) -> Result<(), Error> {
    if tls.provider() != TlsProvider::Rustls {
        return Ok(()); // an error at the end of the chain
    }
    if tls.unversioned_rustls_crypto_provider().is_none() && CryptoProvider::get_default().is_none() {
        return Err(Error::Tls(
            "https needs a provider of cryptography: name one by TlsConfig's unversioned_rustls_crypto_provider, install one by \
             rustls's CryptoProvider::install_default, or make the agent by lamprey_compat::ureq::agent_with_tls",
        ));
    }
    // Needs a feature of ureq, of which nobody can ask whether it is there.
    if matches!(tls.root_certs(), RootCerts::PlatformVerifier) && !tls.disable_verification() {
        return Err(Error::Tls(
            "RootCerts::PlatformVerifier: make the agent by lamprey_compat::ureq::agent_with_tls, with a configuration of \
             rustls-platform-verifier",
        ));
    }
    Ok(())
}
