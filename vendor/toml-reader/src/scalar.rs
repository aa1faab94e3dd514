//! Values without brackets or quotes: booleans, numbers, dates and times.

use crate::{Datetime, DatetimeForm, Kind};

/// The value that `token` spells.
///
/// # Errors
/// What is wrong with the token.
pub(crate) fn scalar(token: &str) -> Result<Kind<'static>, String> {
    let unsigned = token.trim_start_matches(['+', '-']);
    match token {
        "true" => return Ok(Kind::Boolean(true)),
        "false" => return Ok(Kind::Boolean(false)),
        _ if token.starts_with(|c: char| c.is_ascii_digit())
            && token.get(1..).is_some_and(is_dated) =>
        {
            let datetime = datetime(token).map(Kind::Datetime);
            return datetime
                .ok_or_else(|| format!("found `{token}`, which is no date or time of RFC 3339"));
        }
        _ if unsigned.starts_with(|c: char| c.is_ascii_digit())
            || matches!(unsigned, "inf" | "nan") => {}
        _ => {
            return Err(format!("found `{token}`, expected a value (text needs quotes)"));
        }
    }
    number(token).unwrap_or_else(|| Err(format!("found `{token}`, which is no number of TOML")))
}

/// Whether what follows the first digit makes the token a date or time: `-` or `:` behind digits.
fn is_dated(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['-', ':'])
}

/// Integers and floats. `None`: not of their form; an error inside: too large.
fn number(token: &str) -> Option<Result<Kind<'static>, String>> {
    let integer = |digits: &str, radix| {
        let number = i64::from_str_radix(&digits.replace('_', ""), radix);
        Some(
            number
                .map(Kind::Integer)
                .map_err(|_too_large| format!("integer `{token}` does not fit in 64 bits")),
        )
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = token.strip_prefix(prefix) {
            return is_grouped(digits, radix).then(|| integer(digits, radix))?;
        }
    }
    let magnitude = token.strip_prefix(['+', '-']).unwrap_or(token);
    let float = || Some(Ok(Kind::Float(token.replace('_', "").parse().ok()?)));
    if matches!(magnitude, "inf" | "nan") {
        return float();
    }
    let (mantissa, exponent) = split(magnitude, &['e', 'E']);
    let (whole, fraction) = split(mantissa, &['.']);
    let exponent = exponent.map(|digits| digits.strip_prefix(['+', '-']).unwrap_or(digits));
    let well_formed = is_grouped(whole, 10)
        && (whole == "0" || !whole.starts_with('0'))
        && [fraction, exponent].iter().flatten().all(|digits| is_grouped(digits, 10));
    match (well_formed, fraction.or(exponent)) {
        (false, _) => None,
        (true, None) => integer(token, 10),
        (true, Some(_)) => float(),
    }
}

/// Digits, perhaps with single underscores between them.
fn is_grouped(digits: &str, radix: u32) -> bool {
    digits.split('_').all(|group| !group.is_empty() && group.chars().all(|c| c.is_digit(radix)))
}

fn split<'t>(text: &'t str, at: &[char]) -> (&'t str, Option<&'t str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Dates and times of RFC 3339 5.6, whose `T` may be a blank and whose offset may be missing.
fn datetime(token: &str) -> Option<Datetime> {
    let token = token.to_ascii_uppercase().replace(' ', "T");
    let (date, time) = match token.split_once('T') {
        Some((date, time)) => (Some(date), Some(time)),
        None if token.contains(':') => (None, Some(&*token)),
        None => (Some(&*token), None),
    };
    let (time, offset) = match time.and_then(|time| Some((time, time.find(['Z', '+', '-'])?))) {
        Some((time, sign)) => {
            time.split_at_checked(sign).map(|(time, offset)| (Some(time), Some(offset)))?
        }
        None => (time, None),
    };
    let form = match (date, time, offset) {
        (Some(_), Some(_), Some(_)) => DatetimeForm::Offset,
        (Some(_), Some(_), None) => DatetimeForm::Local,
        (Some(_), None, None) => DatetimeForm::LocalDate,
        (None, Some(_), None) => DatetimeForm::LocalTime,
        _ => return None,
    };
    let valid =
        date.is_none_or(is_date) && time.is_none_or(is_time) && offset.is_none_or(is_offset);
    valid.then_some(Datetime { form, text: token })
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = fields(text, '-', [4, 2, 2]) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = split(text, &['.']);
    // A minute may have a leap second (RFC 3339 5.7).
    fields(clock, ':', [2, 2, 2])
        .is_some_and(|[hour, minute, second]| hour < 24 && minute < 60 && second <= 60)
        && fraction.is_none_or(|digits| !digits.contains('_') && is_grouped(digits, 10))
}

fn is_offset(text: &str) -> bool {
    let within_a_day = |[hour, minute]: [u32; 2]| hour < 24 && minute < 60;
    text == "Z"
        || text
            .strip_prefix(['+', '-'])
            .and_then(|text| fields(text, ':', [2, 2]))
            .is_some_and(within_a_day)
}

/// The numbers between separators, if each has exactly its width in digits.
fn fields<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let digits = parts
            .next()
            .filter(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_digit()))?;
        *number = digits.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}
