//! A minimal TOML 1.0 reader that keeps the place of every key and value.
