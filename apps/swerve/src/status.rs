//! The statuses of this server's responses, and the short pages for those without a file.

/// The status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Status {
    /// 200 OK.
    Ok = 200,
    /// 301 Moved Permanently.
    MovedPermanently = 301,
    /// 304 Not Modified.
    NotModified = 304,
    /// 400 Bad Request.
    BadRequest = 400,
    /// 403 Forbidden.
    Forbidden = 403,
    /// 404 Not Found.
    NotFound = 404,
    /// 405 Method Not Allowed.
    MethodNotAllowed = 405,
    /// 408 Request Timeout.
    RequestTimeout = 408,
    /// 412 Precondition Failed.
    PreconditionFailed = 412,
    /// 414 URI Too Long.
    UriTooLong = 414,
    /// 417 Expectation Failed.
    ExpectationFailed = 417,
    /// 431 Request Header Fields Too Large.
    HeadersTooLarge = 431,
    /// 500 Internal Server Error.
    Internal = 500,
    /// 501 Not Implemented.
    NotImplemented = 501,
    /// 503 Service Unavailable.
    Unavailable = 503,
    /// 505 HTTP Version Not Supported.
    VersionNotSupported = 505,
}

impl Status {
    /// The number.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// The number and its phrase, as in the status line.
    pub fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::MovedPermanently => "301 Moved Permanently",
            Status::NotModified => "304 Not Modified",
            Status::BadRequest => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::MethodNotAllowed => "405 Method Not Allowed",
            Status::RequestTimeout => "408 Request Timeout",
            Status::PreconditionFailed => "412 Precondition Failed",
            Status::UriTooLong => "414 URI Too Long",
            Status::ExpectationFailed => "417 Expectation Failed",
            Status::HeadersTooLarge => "431 Request Header Fields Too Large",
            Status::Internal => "500 Internal Server Error",
            Status::NotImplemented => "501 Not Implemented",
            Status::Unavailable => "503 Service Unavailable",
            Status::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }

    /// One sentence for the reader of the page.
    fn explanation(self) -> &'static str {
        match self {
            Status::Ok => "Here it is.",
            Status::MovedPermanently => "This is a folder: its address ends with a slash.",
            Status::NotModified => "You have it already.",
            Status::BadRequest => "The request cannot be understood.",
            Status::Forbidden => "This may not be read.",
            Status::NotFound => "There is no such file here.",
            Status::MethodNotAllowed => "Files can only be read: use GET or HEAD.",
            Status::RequestTimeout => "The request did not arrive in time.",
            Status::PreconditionFailed => "The file is not the version that the request asks for.",
            Status::UriTooLong => "The address is too long.",
            Status::ExpectationFailed => "Only 100-continue can be expected.",
            Status::HeadersTooLarge => "The header is too long.",
            Status::Internal => "The file cannot be read just now.",
            Status::NotImplemented => "This method or transfer coding is not known here.",
            Status::Unavailable => "Too much is open just now: try again.",
            Status::VersionNotSupported => "Use HTTP/1.1 or HTTP/1.0.",
        }
    }

    /// The page for this status.
    pub fn page(self) -> String {
        let (line, explanation) = (self.line(), self.explanation());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{line}</title>\n\
             <h1>{line}</h1>\n<p>{explanation}</p>\n</html>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn line_starts_with_the_code() {
        for status in
            [Status::Ok, Status::HeadersTooLarge, Status::VersionNotSupported, Status::ExpectationFailed]
        {
            assert!(status.line().starts_with(&format!("{} ", status.code())), "{status:?}");
            assert!(status.page().contains(status.line()));
        }
    }
}
