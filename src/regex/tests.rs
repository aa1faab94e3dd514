//! Tests of the regular expressions.
