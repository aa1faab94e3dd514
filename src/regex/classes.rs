//! Sets of characters: ranges, named sets, and what can be made of them.
//!
//! The names in `\p{…}`, in any case and with `_`, `-` and blanks left out: `L` `Lu` `Ll` `M` `N`
//! `Nd` `P` `Pc` `S` `Z` `Zs` `Zl` `Zp` `Cc` and their long forms (`Letter`, `Uppercase_Letter` …),
//! `Alphabetic`, `Uppercase`, `Lowercase`, `White_Space`, `Any`, `ASCII`, and the scripts `Latin`,
//! `Greek`, `Cyrillic` and `Han`. Where the standard library knows a property, it decides; the rest
//! stands in `tables`, of Unicode 16.

use super::tables;

/// How case is disregarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    /// Not at all.
    Off,
    /// Between the ASCII letters only.
    Ascii,
    /// By Unicode's simple case folding.
    Unicode,
}

/// A set given by ranges or by a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Set {
    Range(char, char),
    Named(fn(char) -> bool),
}

/// A class, or a part of one.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Set { set: Set, negated: bool, folding: Folding },
    Class(Class),
}

/// How a term joins what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Union,
    Intersection,
    Difference,
    SymmetricDifference,
}

/// A class: terms joined from left to right, each being the union of its items.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) terms: Vec<(Operation, Vec<Item>)>,
}

impl Class {
    fn contains(&self, character: char) -> bool {
        let mut inside = false;
        for (operation, items) in &self.terms {
            let term = items.iter().any(|item| item.contains(character));
            inside = match operation {
                Operation::Union => inside || term,
                Operation::Intersection => inside && term,
                Operation::Difference => inside && !term,
                Operation::SymmetricDifference => inside != term,
            };
        }
        inside != self.negated
    }
}

impl Item {
    /// Whether `character` belongs to it.
    pub(super) fn contains(&self, character: char) -> bool {
        match self {
            Item::Class(class) => class.contains(character),
            Item::Set { set, negated, folding } => set.contains(character, *folding) != *negated,
        }
    }
}

impl Set {
    fn contains(self, character: char, folding: Folding) -> bool {
        let exactly = |c| match self {
            Set::Range(low, high) => (low..=high).contains(&c),
            Set::Named(predicate) => predicate(c),
        };
        match folding {
            Folding::Off => exactly(character),
            Folding::Ascii => {
                exactly(character.to_ascii_lowercase()) || exactly(character.to_ascii_uppercase())
            }
            Folding::Unicode => {
                exactly(character)
                    || exactly(lower(character))
                    || exactly(upper(character))
                    || more_cases(character).is_some_and(|cases| cases.chars().any(exactly))
            }
        }
    }
}

/// Whether `character` has other cases.
pub(super) fn has_cases(character: char) -> bool {
    lower(character) != character
        || upper(character) != character
        || more_cases(character).is_some()
}

fn lower(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut lower = character.to_lowercase();
    if lower.len() == 1 { lower.next().unwrap_or(character) } else { character }
}

fn upper(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    let mut upper = character.to_uppercase();
    // The dotless i is the upper case of nothing in simple case folding.
    if upper.len() == 1 && character != 'ı' {
        upper.next().unwrap_or(character)
    } else {
        character
    }
}

/// All cases of a character that has others than one lower and one upper.
fn more_cases(character: char) -> Option<&'static str> {
    if character.is_ascii() && !matches!(character, 'k' | 'K' | 's' | 'S') {
        return None;
    }
    tables::MORE_CASES.iter().copied().find(|cases| cases.contains(character))
}

/// Whether an inversion list holds the character: it names by turns where the set begins and ends.
fn listed(borders: &[u32], character: char) -> bool {
    borders.partition_point(|&border| border <= u32::from(character)) % 2 == 1
}

/// `\d`
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && c.is_numeric() && listed(tables::DECIMAL_NUMBER, c)
}

/// `\w`, by Unicode Technical Standard 18, Annex C.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphabetic()
        || is_digit(c)
        || is_mark(c)
        || is_connector(c)
        || matches!(c, '\u{200C}' | '\u{200D}')
}

fn is_mark(c: char) -> bool {
    listed(tables::MARK, c)
}

fn is_connector(c: char) -> bool {
    matches!(
        c,
        '_' | '\u{203F}' | '\u{2040}' | '\u{2054}' | '\u{FE33}' | '\u{FE34}' | '\u{FE4D}'
            ..='\u{FE4F}' | '\u{FF3F}'
    )
}

fn is_letter(c: char) -> bool {
    // Letters in circles and squares are symbols that count as alphabetic.
    let enclosed = matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F189}');
    c.is_alphabetic() && !c.is_numeric() && !is_mark(c) && !enclosed
}

/// The set that `\p{name}` stands for.
pub(super) fn property(name: &str) -> Option<fn(char) -> bool> {
    let name: String = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).collect();
    let name = name.to_ascii_lowercase();
    let value = ["generalcategory=", "gc=", "script=", "sc="];
    let name = value.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(&name);
    Some(match name {
        "l" | "letter" => is_letter,
        "lu" | "uppercaseletter" => |c| c.is_uppercase() && is_letter(c),
        "ll" | "lowercaseletter" => {
            |c| c.is_lowercase() && is_letter(c) && !listed(tables::LOWERCASE_NOT_LL, c)
        }
        "m" | "mark" => is_mark,
        "n" | "number" => char::is_numeric,
        "nd" | "decimalnumber" | "digit" => is_digit,
        "p" | "punctuation" | "punct" => |c| listed(tables::PUNCTUATION, c),
        "pc" | "connectorpunctuation" => is_connector,
        "s" | "symbol" => |c| listed(tables::SYMBOL, c),
        "z" | "separator" => |c| c.is_whitespace() && !c.is_control(),
        "zs" | "spaceseparator" => {
            |c| c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')
        }
        "zl" | "lineseparator" => |c| c == '\u{2028}',
        "zp" | "paragraphseparator" => |c| c == '\u{2029}',
        "cc" | "control" | "cntrl" => char::is_control,
        "alphabetic" | "alpha" => char::is_alphabetic,
        "uppercase" | "upper" => char::is_uppercase,
        "lowercase" | "lower" => char::is_lowercase,
        "whitespace" | "space" => char::is_whitespace,
        "any" => |_| true,
        "ascii" => |c| c.is_ascii(),
        "latin" | "latn" => |c| listed(tables::LATIN, c),
        "greek" | "grek" => |c| listed(tables::GREEK, c),
        "cyrillic" | "cyrl" => |c| listed(tables::CYRILLIC, c),
        "han" | "hani" => |c| listed(tables::HAN, c),
        _ => return None,
    })
}

/// The set that `[:name:]` stands for.
pub(super) fn posix_class(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "alnum" => |c| c.is_ascii_alphanumeric(),
        "alpha" => |c| c.is_ascii_alphabetic(),
        "ascii" => |c| c.is_ascii(),
        "blank" => |c| matches!(c, ' ' | '\t'),
        "cntrl" => |c| c.is_ascii_control(),
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| c.is_ascii_graphic(),
        "lower" => |c| c.is_ascii_lowercase(),
        "print" => |c| matches!(c, ' '..='~'),
        "punct" => |c| c.is_ascii_punctuation(),
        "space" => is_ascii_space,
        "upper" => |c| c.is_ascii_uppercase(),
        "word" => |c| c.is_ascii_alphanumeric() || c == '_',
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}

/// `\s` without Unicode: unlike the standard library's notion, with the vertical tab.
pub(super) fn is_ascii_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}
