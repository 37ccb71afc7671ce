//! The programs of the guide's chapters about other libraries, as doctests.
