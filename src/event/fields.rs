//! Reading typed fields out of a JSON object.
//!
//! Promises: an object with a duplicate key is refused, so that no reader can see another value than
//! we do; `null` counts as missing; each error names the field. Never: converts one type into another.

use super::paths;
use crate::json::Json;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// Why a payload or neutral event cannot be judged. The text names the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputError(String);

impl InputError {
    /// An error with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "invalid input: {}", self.0)
    }
}

/// A JSON object whose fields are read by type.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    object: &'a Json<'a>,
    /// What stands before a field's name in messages: empty, or ends in a dot.
    prefix: Cow<'static, str>,
}

impl<'a> Fields<'a> {
    /// The fields of the outermost value, which `name` names in messages.
    pub(crate) fn of(json: &'a Json<'a>, name: &str) -> Result<Self, InputError> {
        Self::checked(json, name, Cow::Borrowed(""))
    }

    fn checked(
        json: &'a Json<'a>,
        name: &str,
        prefix: Cow<'static, str>,
    ) -> Result<Self, InputError> {
        if json.as_object().is_none() {
            return Err(wrong_type(name, "an object", json));
        }
        match json.duplicate_key() {
            Some(key) => Err(InputError(format!("{prefix}{key} is given twice"))),
            None => Ok(Self { object: json, prefix }),
        }
    }

    /// All entries, known or not.
    pub(crate) fn entries(&self) -> &'a [(Cow<'a, str>, Json<'a>)] {
        self.object.as_object().unwrap_or_default()
    }

    /// The value of `key`; `null` is none.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Json<'a>> {
        self.object.get(key).filter(|value| **value != Json::Null)
    }

    /// The text of `key`, which must be there.
    pub(crate) fn text(&self, key: &str) -> Result<&'a str, InputError> {
        self.optional_text(key)?.ok_or_else(|| self.missing(key))
    }

    /// The text of `key`, if it is there.
    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<&'a str>, InputError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(wrong_type(&self.name(key), "a string", value)),
        }
    }

    /// An id: text that may be missing; an empty one says as much as none.
    pub(crate) fn id(&self, key: &str) -> Result<Option<Cow<'a, str>>, InputError> {
        let text = self.optional_text(key)?.filter(|text| !text.is_empty());
        Ok(text.map(Cow::Borrowed))
    }

    /// A name or path, which must be there: text that is neither empty nor holds a NUL.
    pub(crate) fn name_text(&self, key: &str) -> Result<&'a str, InputError> {
        usable(self.text(key)?, &self.name(key))
    }

    /// A directory, which must be there: an absolute path. What is returned is physical.
    pub(crate) fn directory(&self, key: &str) -> Result<PathBuf, InputError> {
        let text = self.name_text(key)?;
        if !text.starts_with('/') {
            let name = self.name(key);
            return Err(InputError(format!("{name} must be an absolute path")));
        }
        Ok(paths::physical(text.as_ref()))
    }

    /// The truth value of `key`, if it is there.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, InputError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.as_bool() {
            Some(truth) => Ok(Some(truth)),
            None => Err(wrong_type(&self.name(key), "a boolean", value)),
        }
    }

    /// The items of array `key`; none when it is missing.
    pub(crate) fn items(&self, key: &str) -> Result<&'a [Json<'a>], InputError> {
        let Some(value) = self.get(key) else {
            return Ok(&[]);
        };
        value.as_array().ok_or_else(|| wrong_type(&self.name(key), "an array", value))
    }

    /// The fields of object `key`, which must be there.
    pub(crate) fn object(&self, key: &str) -> Result<Self, InputError> {
        let value = self.get(key).ok_or_else(|| self.missing(key))?;
        let name = self.name(key);
        Self::checked(value, &name, Cow::Owned(format!("{name}.")))
    }

    /// The objects of array `key`, each with its fields.
    pub(crate) fn objects(&self, key: &str) -> Result<Vec<Self>, InputError> {
        let items = self.items(key)?.iter().enumerate();
        items
            .map(|(index, item)| {
                let name = format!("{}[{index}]", self.name(key));
                Self::checked(item, &name, Cow::Owned(format!("{name}.")))
            })
            .collect()
    }

    /// The object itself.
    pub(crate) fn json(&self) -> &'a Json<'a> {
        self.object
    }

    /// The full name of a field, for messages.
    pub(crate) fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// The error for a field that must be there.
    pub(crate) fn missing(&self, key: &str) -> InputError {
        InputError(format!("{} is missing", self.name(key)))
    }
}

/// `text`, unless it can name nothing: no name is empty, and the system ends names at a NUL.
pub(crate) fn usable<'t>(text: &'t str, name: &str) -> Result<&'t str, InputError> {
    if text.is_empty() {
        Err(InputError(format!("{name} must not be empty")))
    } else if text.contains('\0') {
        Err(InputError(format!("{name} must not contain a NUL")))
    } else {
        Ok(text)
    }
}

/// The error for a value of the wrong type.
pub(crate) fn wrong_type(name: &str, expected: &str, found: &Json<'_>) -> InputError {
    let found = found.kind_name();
    InputError(format!("{name} must be {expected}, found {found}"))
}
