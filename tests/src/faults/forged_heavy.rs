//! Files that take little to make and could take much to read: deeply nested, with many parts, or packed.

/// The size that such a file has, if it is not packed.
const BYTES: usize = 1 << 20;

/// How much a packed file unpacks to.
const UNPACKED_BYTES: usize = 64 << 20;

/// Such files, made of a true one or of nothing, each with what it is.
pub fn heavy_files(file: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let repeated = |piece: &[u8]| piece.repeat(BYTES / piece.len().max(1));
    let digits = [b"{\"v\":", &repeated(b"9")[..], b"}"].concat();
    let zeros = [b"{\"v\":[0", &repeated(b",0")[..], b"]}"].concat();
    let fields = (0..BYTES / 12).map(|number| format!("\"{number:x}\":0")).collect::<Vec<_>>();
    let signatures = "\u{2014} a AAAAAAAA\n";
    let mut skippable = file.to_vec();
    skippable.extend(skippable_frame(4 * BYTES));
    vec![
        (repeated(b"["), "nothing but opened lists"),
        (repeated(b"{\"a\":"), "nothing but opened objects"),
        ([&repeated(b"[")[..], &repeated(b"]")].concat(), "a list in a list, a million deep"),
        (digits, "a number of a million digits"),
        (zeros, "a list of half a million numbers"),
        (format!("{{{}}}", fields.join(",")).into_bytes(), "an object of many fields"),
        ([file, &repeated(b" ")].concat(), "a megabyte of spaces at the end"),
        ([file, &repeated(b"\n")].concat(), "a million lines at the end"),
        ([file, &repeated(signatures.as_bytes())].concat(), "many signatures"),
        (file.repeat((BYTES / file.len().max(1)).max(2)), "the file again and again"),
        (skippable, "a frame that decompressors skip"),
        (packed(file), "zeros that are packed"),
    ]
}

/// A frame of Zstandard that decompressors skip.
pub fn skippable_frame(bytes: usize) -> Vec<u8> {
    let length = u32::try_from(bytes).unwrap_or_default().to_le_bytes();
    [&[0x50, 0x2a, 0x4d, 0x18][..], &length, &vec![b'x'; bytes]].concat()
}

/// The unpacked file, if it is one, followed by zeros.
fn packed(file: &[u8]) -> Vec<u8> {
    let start = zstd::decode_all(file).unwrap_or_default();
    let zeros = vec![0; UNPACKED_BYTES];
    zstd::encode_all(&[start, zeros].concat()[..], 3).unwrap_or_default()
}
