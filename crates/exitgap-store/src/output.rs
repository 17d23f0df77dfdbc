//! Writes output files of commands. The previous file stays until the new one is complete, so a full disk or a process
//! that ends never leaves a partial file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::unfinished::{Unfinished, sync_folder};

/// Writes a file of these bytes at `path`: as a temporary file next to it, synced and then renamed. The new file keeps
/// the permissions of the one it replaces. If `path` is a symbolic link, its target is replaced. If it is not a regular
/// file, such as a pipe, the bytes are written to it.
pub fn write_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_output_with(path, |file| file.write_all(bytes))
}

fn write_output_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let before = match fs::metadata(path) {
        Ok(before) if before.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(before) if !before.is_file() => {
            return write(&mut File::options().write(true).open(path)?);
        }
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let path = if before.is_some() { path.canonicalize()? } else { path.to_owned() };
    let mut unfinished = Unfinished::begin(&path)?;
    write(unfinished.file())?;
    if let Some(before) = before {
        unfinished.file().set_permissions(before.permissions())?;
    }
    unfinished.end()?;
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_kept_where_the_disk_is_full_before_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure.json");
        write_output(&path, b"what was there").unwrap();
        let full = write_output_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"what was there");
        // Control: with enough space the file is replaced.
        write_output(&path, b"what is new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"what is new");
        assert_eq!(names(folder.path()), ["figure.json"]);
    }

    #[test]
    fn nothing_is_there_where_a_new_file_could_not_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure.json");
        let full = write_output_with(&path, |_| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let absent = folder.path().join("absent/figure.json");
        assert_eq!(write_output(&absent, b"x").unwrap_err().kind(), io::ErrorKind::NotFound);
        let is_a_folder = write_output(folder.path(), b"x").unwrap_err();
        assert_eq!(is_a_folder.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn links_and_permissions_stay_and_what_is_no_file_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, b"before").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("target", &link).unwrap();
        write_output(&link, b"after").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"after");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        write_output(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write_output(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }
}
