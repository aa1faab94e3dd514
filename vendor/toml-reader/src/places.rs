//! Byte offsets to lines and columns.

/// How many bytes lie between two marks: a look-up reads fewer than these.
/// At most 255 words, so that a byte holds what is counted in one byte of each.
const STRIDE: usize = 256;

/// Turns byte offsets of one text into lines and columns, each in constant time, however long the
/// lines are.
#[derive(Clone, Debug)]
pub struct Places<'t> {
    bytes: &'t [u8],
    /// Line and column at every multiple of the stride.
    marks: Vec<(usize, usize)>,
}

impl<'t> Places<'t> {
    /// Marks `bytes`. A byte order mark before the text has no column of its own.
    #[must_use]
    pub fn new(bytes: &'t [u8]) -> Self {
        let start = usize::from(!bytes.starts_with("\u{feff}".as_bytes()));
        let mut marks = Vec::with_capacity(bytes.len() / STRIDE + 2);
        marks.push((1, start));
        for chunk in bytes.chunks(STRIDE) {
            marks.extend(marks.last().map(|mark| advanced(*mark, chunk)));
        }
        Places { bytes, marks }
    }

    /// Line and column of `offset`, both from 1, the column in characters.
    #[must_use]
    pub fn at(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes.len());
        let stride = offset / STRIDE;
        let between = self.bytes.get(stride * STRIDE..offset).unwrap_or_default();
        let (line, column) = advanced(self.marks.get(stride).copied().unwrap_or((1, 1)), between);
        (line, column.max(1))
    }
}

/// The place behind `bytes`, which are at most a stride.
fn advanced((line, column): (usize, usize), bytes: &[u8]) -> (usize, usize) {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        None => (line, column + characters(bytes)),
        Some(end) => {
            let last = bytes.get(end + 1..).unwrap_or_default();
            (line + count(bytes, line_ends), 1 + characters(last))
        }
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.len() - count(bytes, continuations)
}

/// A one in each byte of a word.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// How many of `bytes`, at most a stride, are marked: eight at a time, for every text comes by here.
fn count(bytes: &[u8], marks: fn(u64) -> u64) -> usize {
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let counts = words.iter().fold(marks(u64::from_ne_bytes(last)), |counts, word| {
        counts + marks(u64::from_ne_bytes(*word))
    });
    counts.to_ne_bytes().iter().map(|count| usize::from(*count)).sum()
}

/// A one for each byte that ends a line.
fn line_ends(word: u64) -> u64 {
    let low = ONES * 0x7f;
    let differing = word ^ (ONES * u64::from(b'\n'));
    // The addition carries into the high bit of each byte whose low bits are not all zero.
    !(((differing & low) + low) | differing) >> 7 & ONES
}

/// A one for each byte of the form `10xx_xxxx`: the second and later ones of a character in UTF-8.
fn continuations(word: u64) -> u64 {
    (word >> 7) & !(word >> 6) & ONES
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn columns_count_characters() {
        let text = "\u{feff}aé\n\nüx";
        let places = Places::new(text.as_bytes());
        let found: Vec<_> = text.char_indices().map(|(offset, _)| places.at(offset)).collect();
        assert_eq!(found, [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2)]);
        assert_eq!(places.at(text.len()), (3, 3));
        assert_eq!(places.at(usize::MAX), (3, 3));
        assert_eq!(Places::new(b"").at(0), (1, 1));
    }

    #[test]
    fn long_lines_agree_with_counting() {
        let text = "é…x\n".to_owned() + &"aé…𝄞".repeat(500);
        let places = Places::new(text.as_bytes());
        for (offset, _) in text.char_indices().skip(4) {
            let column = text.get(7..offset).unwrap_or_default().chars().count() + 1;
            assert_eq!(places.at(offset), (2, column));
        }
    }
}
