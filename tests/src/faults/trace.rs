//! The file operations of a traced process, parsed from the output of `strace`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Result;

/// An operation that a disk must keep or may lose, or a line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A file was opened with creation; with `empty`, it was truncated.
    Create { path: PathBuf, empty: bool },
    /// Bytes were written at an offset.
    Write { path: PathBuf, offset: u64, bytes: Vec<u8> },
    /// A file's length was changed.
    Truncate { path: PathBuf, length: u64 },
    /// A file's content, or a folder's names, were synced.
    Sync(PathBuf),
    /// A file was renamed.
    Rename { from: PathBuf, to: PathBuf },
    /// A name was removed.
    Remove(PathBuf),
    /// A folder was created.
    MakeFolder(PathBuf),
    /// Something was written to standard output.
    Said(String),
}

/// An open file: its path, and the position of the next `write`.
#[derive(Debug, Clone)]
struct OpenFile {
    path: PathBuf,
    position: u64,
}

/// Parses the operations on files in `home`.
struct Parser<'a> {
    home: &'a Path,
    open: HashMap<i64, OpenFile>,
    ops: Vec<Op>,
}

/// The operations on files in `home` from the trace in `file`, in order.
pub fn read(file: &Path, home: &Path) -> Result<Vec<Op>> {
    let text = fs::read_to_string(file)?;
    let mut parser = Parser { home, open: HashMap::new(), ops: Vec::new() };
    for line in text.lines() {
        parser.line(line).map_err(|error| {
            let start: String = line.chars().take(200).collect();
            format!("the trace has a line that is not understood ({error}): {start}")
        })?;
    }
    Ok(parser.ops)
}

impl Parser<'_> {
    fn line(&mut self, line: &str) -> Result<()> {
        let Some((name, rest)) = line.split_once('(') else { return Ok(()) };
        let Some((arguments, answer)) = rest.rsplit_once(" = ") else {
            return if line.starts_with("+++") { Ok(()) } else { Err("it does not end".into()) };
        };
        let answer: i64 = answer.split(' ').next().unwrap_or("").parse()?;
        if answer < 0 {
            return Ok(());
        }
        let arguments = arguments.trim_end();
        let arguments = arguments.strip_suffix(')').ok_or("no closing bracket")?;
        // Every byte of a text is in hexadecimal, so commas only separate arguments.
        let arguments: Vec<&str> = arguments.split(", ").collect();
        self.call(name, &arguments, answer)
    }

    fn call(&mut self, name: &str, arguments: &[&str], answer: i64) -> Result<()> {
        let argument = |index: usize| arguments.get(index).copied().ok_or("too few arguments");
        let number = |index: usize| -> Result<i64> { Ok(argument(index)?.parse()?) };
        match name {
            "openat" => {
                let path = self.path(argument(0)?, argument(1)?)?;
                self.opened(path, argument(2)?, answer);
            }
            "open" | "creat" => {
                let path = self.path("AT_FDCWD", argument(0)?)?;
                let flags = if name == "creat" { "O_CREAT|O_TRUNC" } else { argument(1)? };
                self.opened(path, flags, answer);
            }
            "close" => {
                self.open.remove(&number(0)?);
            }
            "write" if number(0)? == 1 => {
                let text = String::from_utf8(bytes(argument(1)?)?)?;
                self.ops.push(Op::Said(text.trim_end().to_owned()));
            }
            "write" => {
                if let Some(file) = self.open.get_mut(&number(0)?) {
                    let offset = file.position;
                    file.position += answer.unsigned_abs();
                    let path = file.path.clone();
                    self.wrote(path, offset, argument(1)?, answer)?;
                }
            }
            "pwrite64" => {
                if let Some(file) = self.open.get(&number(0)?) {
                    let (path, offset) = (file.path.clone(), number(3)?.unsigned_abs());
                    self.wrote(path, offset, argument(1)?, answer)?;
                }
            }
            "lseek" => {
                if let Some(file) = self.open.get_mut(&number(0)?) {
                    file.position = answer.unsigned_abs();
                }
            }
            "ftruncate" => {
                if let Some(file) = self.open.get(&number(0)?) {
                    let (path, length) = (file.path.clone(), number(1)?.unsigned_abs());
                    self.push(Op::Truncate { path, length });
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(file) = self.open.get(&number(0)?) {
                    self.ops.push(Op::Sync(file.path.clone()));
                }
            }
            _ => return self.name_call(name, arguments),
        }
        Ok(())
    }

    /// A call that changes names.
    fn name_call(&mut self, name: &str, arguments: &[&str]) -> Result<()> {
        let argument = |index: usize| arguments.get(index).copied().ok_or("too few arguments");
        match name {
            "rename" => {
                let from = self.path("AT_FDCWD", argument(0)?)?;
                let to = self.path("AT_FDCWD", argument(1)?)?;
                self.push(Op::Rename { from, to });
            }
            "renameat" | "renameat2" => {
                let from = self.path(argument(0)?, argument(1)?)?;
                let to = self.path(argument(2)?, argument(3)?)?;
                self.push(Op::Rename { from, to });
            }
            "unlink" | "rmdir" => {
                let path = self.path("AT_FDCWD", argument(0)?)?;
                self.push(Op::Remove(path));
            }
            "unlinkat" => {
                let path = self.path(argument(0)?, argument(1)?)?;
                self.push(Op::Remove(path));
            }
            "mkdir" | "mkdirat" => {
                let (folder, path) =
                    if name == "mkdir" { ("AT_FDCWD", 0) } else { (argument(0)?, 1) };
                let path = self.path(folder, argument(path)?)?;
                self.push(Op::MakeFolder(path));
            }
            _ => return self.foreign(arguments),
        }
        Ok(())
    }

    /// Requires that a call with unknown effect is not on our files.
    fn foreign(&self, arguments: &[&str]) -> Result<()> {
        let first = arguments.first().and_then(|first| first.parse().ok());
        let ours = first.and_then(|number: i64| self.open.get(&number));
        if ours.is_some() { Err("a call that is not replayed".into()) } else { Ok(()) }
    }

    fn opened(&mut self, path: PathBuf, flags: &str, descriptor: i64) {
        if !path.starts_with(self.home) {
            self.open.remove(&descriptor);
            return;
        }
        let empty = flags.contains("O_TRUNC");
        if empty || flags.contains("O_CREAT") {
            self.push(Op::Create { path: path.clone(), empty });
        }
        self.open.insert(descriptor, OpenFile { path, position: 0 });
    }

    fn wrote(&mut self, path: PathBuf, offset: u64, text: &str, answer: i64) -> Result<()> {
        let mut bytes = bytes(text)?;
        bytes.truncate(usize::try_from(answer)?);
        if bytes.len() as u64 != answer.unsigned_abs() {
            return Err("fewer bytes than were written".into());
        }
        self.push(Op::Write { path, offset, bytes });
        Ok(())
    }

    fn push(&mut self, op: Op) {
        let ours = match &op {
            Op::Create { path, .. }
            | Op::Write { path, .. }
            | Op::Truncate { path, .. }
            | Op::Sync(path)
            | Op::Rename { to: path, .. }
            | Op::Remove(path)
            | Op::MakeFolder(path) => path.starts_with(self.home),
            Op::Said(_) => true,
        };
        if ours {
            self.ops.push(op);
        }
    }

    /// A path argument, relative to its folder.
    fn path(&self, folder: &str, text: &str) -> Result<PathBuf> {
        let bytes = bytes(text)?;
        let path = Path::new(OsStr::from_bytes(&bytes));
        let folder = folder.parse().ok().and_then(|number: i64| self.open.get(&number));
        Ok(folder.map_or_else(|| path.to_owned(), |folder| folder.path.join(path)))
    }
}

/// The bytes of a text written by `strace -xx`.
fn bytes(text: &str) -> Result<Vec<u8>> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let inner = inner.ok_or("a text that is cut off")?;
    let digits = inner.split("\\x").skip(1).map(|pair| u8::from_str_radix(pair, 16));
    Ok(digits.collect::<std::result::Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_becomes_operations_on_the_folder_alone() {
        let hex = |text: &str| {
            let digits: Vec<String> = text.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
            format!("\"{}\"", digits.concat())
        };
        let lines = [
            format!("openat(AT_FDCWD, {}, O_RDONLY|O_CLOEXEC) = 3", hex("/etc/passwd")),
            format!("write(1, {}, 12) = 12", hex("published 1\n")),
            format!("openat(AT_FDCWD, {}, O_RDWR|O_CREAT, 0644) = 4", hex("/home/a")),
            format!("write(4, {}, 2) = 2", hex("ab")),
            "lseek(4, 9, SEEK_SET) = 9".to_owned(),
            format!("write(4, {}, 1) = 1", hex("c")),
            format!("pwrite64(4, {}, 1, 7) = 1", hex("d")),
            "fdatasync(4) = 0".to_owned(),
            format!("unlink({}) = -1 ENOENT (No such file or directory)", hex("/home/b")),
            format!("rename({}, {}) = 0", hex("/home/a"), hex("/home/b")),
            "close(4)                                = 0".to_owned(),
            "+++ exited with 0 +++".to_owned(),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), lines.join("\n")).unwrap();
        let [a, b] = ["/home/a", "/home/b"].map(PathBuf::from);
        let write =
            |offset, bytes: &[u8]| Op::Write { path: a.clone(), offset, bytes: bytes.into() };
        let expected = [
            Op::Said("published 1".to_owned()),
            Op::Create { path: a.clone(), empty: false },
            write(0, b"ab"),
            write(9, b"c"),
            write(7, b"d"),
            Op::Sync(a.clone()),
            Op::Rename { from: a, to: b },
        ];
        assert_eq!(read(file.path(), Path::new("/home")).unwrap(), expected);
        fs::write(file.path(), "write(4, \"\\x61\"..., 2) = 2").unwrap();
        assert!(read(file.path(), Path::new("/home")).is_ok(), "it is nobody's file");
    }
}
