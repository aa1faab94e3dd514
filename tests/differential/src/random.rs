//! A small generator of pseudo-random numbers (xorshift64*), so that a seed names a run.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// Up to `longest` pieces in a row.
    pub fn text(&mut self, pieces: &[&str], longest: usize) -> String {
        (0..self.below(longest + 1)).map(|_| self.pick(pieces)).collect()
    }
}

/// Takes characters out of `text` for as long as `fails` stays true.
pub fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut text = text.to_string();
    loop {
        let smaller = text.char_indices().map(|(at, character)| {
            let mut smaller = text.clone();
            smaller.replace_range(at..at + character.len_utf8(), "");
            smaller
        });
        match smaller.into_iter().find(|smaller| fails(smaller)) {
            Some(smaller) => text = smaller,
            None => return text,
        }
    }
}
