//! RLP, as far as headers, accounts and nodes need it. Only the canonical encoding of an item is accepted.

/// An encoded item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// Whether it is a list; otherwise it is a byte string.
    pub is_list: bool,
    /// Its content.
    pub payload: &'a [u8],
    /// The whole encoding.
    pub whole: &'a [u8],
}

/// The maximum number of bytes of a payload's length.
const LENGTH_BYTES: usize = 3;

/// Splits off the first item.
pub(super) fn split(bytes: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let first = *bytes.first()?;
    let is_list = first >= 0xc0;
    let (head, length) = match first {
        0..=0x7f => (0, 1),
        0x80..=0xb7 | 0xc0..=0xf7 => (1, usize::from(first & 0x3f)),
        _ => {
            let count = usize::from(first & 0x3f) - 55;
            let digits = bytes.get(1..=count).filter(|_| count <= LENGTH_BYTES)?;
            let length = digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit));
            // A shorter header would be sufficient, so this one is not canonical.
            if digits[0] == 0 || length < 56 {
                return None;
            }
            (1 + count, length)
        }
    };
    let (whole, rest) = bytes.split_at_checked(head + length)?;
    let payload = &whole[head..];
    if first == 0x81 && payload[0] < 0x80 {
        return None;
    }
    Some((Item { is_list, payload, whole }, rest))
}

/// The items of a list that is the whole input; `None` if there are more than `N`.
pub(super) fn list<const N: usize>(bytes: &[u8]) -> Option<([&[u8]; N], usize)> {
    let (Item { is_list: true, payload: mut left, .. }, []) = split(bytes)? else { return None };
    let (mut items, mut count) = ([&[][..]; N], 0);
    while !left.is_empty() {
        let (item, rest) = split(left)?;
        *items.get_mut(count)? = item.whole;
        (left, count) = (rest, count + 1);
    }
    Some((items, count))
}

/// The byte string that is the whole input.
pub(super) fn text(bytes: &[u8]) -> Option<&[u8]> {
    match split(bytes)? {
        (Item { is_list: false, payload, .. }, []) => Some(payload),
        _ => None,
    }
}

/// The same, if it has 32 bytes.
pub(super) fn hash(bytes: &[u8]) -> Option<[u8; 32]> {
    text(bytes)?.try_into().ok()
}

/// A number of at most `N` bytes, without leading zeros.
pub(super) fn number<const N: usize>(payload: &[u8]) -> Option<[u8; N]> {
    let mut number = [0; N];
    if payload.first() == Some(&0) {
        return None;
    }
    number.get_mut(N.checked_sub(payload.len())?..)?.copy_from_slice(payload);
    Some(number)
}
