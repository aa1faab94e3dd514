//! Byte offsets to lines and columns.

/// How many bytes of a line may pass before another mark is set.
const STRIDE: usize = 256;

/// Turns byte offsets of one text into lines and columns, each in the time of a binary search.
#[derive(Clone, Debug)]
pub struct Places<'t> {
    bytes: &'t [u8],
    /// Offsets with their line and column, ascending: every line's start, and within long lines
    /// one per stride, so that many look-ups in one endless line stay cheap.
    marks: Vec<(usize, usize, usize)>,
}

impl<'t> Places<'t> {
    /// Marks the lines of `bytes`. A byte order mark before the text has no column of its own.
    #[must_use]
    pub fn new(bytes: &'t [u8]) -> Self {
        let start = if bytes.starts_with("\u{feff}".as_bytes()) {
            3
        } else {
            0
        };
        let mut marks = vec![(start, 1, 1)];
        let (mut line, mut column, mut last) = (1, 1, start);
        for (offset, &byte) in bytes.iter().enumerate().skip(start) {
            if byte == b'\n' {
                (line, column) = (line + 1, 1);
            } else {
                column += usize::from(begins_character(byte));
                if offset - last < STRIDE {
                    continue;
                }
            }
            last = offset + 1;
            marks.push((last, line, column));
        }
        Places { bytes, marks }
    }

    /// Line and column of `offset`, both from 1, the column in characters.
    #[must_use]
    pub fn at(&self, offset: usize) -> (usize, usize) {
        let following = self.marks.partition_point(|mark| mark.0 <= offset);
        let (start, line, column) = self
            .marks
            .get(following.saturating_sub(1))
            .copied()
            .unwrap_or((0, 1, 1));
        let between = self
            .bytes
            .get(start..offset.min(self.bytes.len()))
            .unwrap_or_default();
        (
            line,
            column
                + between
                    .iter()
                    .filter(|byte| begins_character(**byte))
                    .count(),
        )
    }
}

/// False for the second and later bytes of a character in UTF-8.
fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn columns_count_characters() {
        let text = "\u{feff}aé\n\nüx";
        let places = Places::new(text.as_bytes());
        let found: Vec<_> = text
            .char_indices()
            .map(|(offset, _)| places.at(offset))
            .collect();
        assert_eq!(
            found,
            [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2)]
        );
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
