//! Reads TOML on stdin and prints the tagged JSON of the toml-test suite; exit status 1 when the
//! input is not TOML.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use toml_reader::{DatetimeForm, Kind, Table, Value};

fn main() -> ExitCode {
    let mut input = Vec::new();
    let output = match io::stdin().read_to_end(&mut input) {
        Ok(_) => toml_reader::parse(&input).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let (written, status) = match output {
        Ok(table) => (writeln!(io::stdout().lock(), "{}", tagged(&table)), ExitCode::SUCCESS),
        Err(message) => (writeln!(io::stderr().lock(), "{message}"), ExitCode::FAILURE),
    };
    if written.is_ok() { status } else { ExitCode::FAILURE }
}

/// The document as JSON whose leaves carry type and value.
#[must_use]
pub fn tagged(table: &Table<'_>) -> String {
    let entries: Vec<String> =
        table.iter().map(|(key, value)| format!("{}:{}", quoted(&key.name), item(value))).collect();
    format!("{{{}}}", entries.join(","))
}

fn item(value: &Value<'_>) -> String {
    let (tag, text) = match &value.kind {
        Kind::Table(table) => return tagged(table),
        Kind::Array(values) => {
            return format!("[{}]", values.iter().map(item).collect::<Vec<_>>().join(","));
        }
        Kind::String(text) => ("string", text.to_string()),
        Kind::Integer(number) => ("integer", number.to_string()),
        Kind::Float(number) => ("float", number.to_string().to_ascii_lowercase()),
        Kind::Boolean(truth) => ("bool", truth.to_string()),
        Kind::Datetime(datetime) => {
            let tag = match datetime.form {
                DatetimeForm::Offset => "datetime",
                DatetimeForm::Local => "datetime-local",
                DatetimeForm::LocalDate => "date-local",
                DatetimeForm::LocalTime => "time-local",
            };
            (tag, datetime.text.clone())
        }
    };
    format!(r#"{{"type":"{tag}","value":{}}}"#, quoted(&text))
}

fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            _ if c.is_control() => _ = write!(json, "\\u{:04x}", u32::from(c)),
            _ => json.push(c),
        }
    }
    json + "\""
}
