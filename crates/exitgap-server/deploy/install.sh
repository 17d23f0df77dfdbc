#!/bin/sh
# Installs the programs of an exitgap release, after checking its signature.
#
#   sh install.sh --from 'https://<your mirror>/exitgap/0.2.0' --key 'example.org/releases+…'
#   sh install.sh --from ./release --key 'example.org/releases+…' --to /usr/local/bin
#
# Get the key from another place than the release. A release is a folder with SHA256SUMS, SHA256SUMS.note (the same text as a signed
# note of C2SP, https://c2sp.org/signed-note) and an archive for each platform.
set -eu
LC_ALL=C
export LC_ALL

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    if [ -n "${2-}" ]; then printf '  -> %s\n' "$2" >&2; fi
    exit 1
}

usage() {
    printf 'usage: sh install.sh --from URL_OR_FOLDER --key KEY [--to FOLDER]\n' >&2
    exit 2
}

from='' key="${EXITGAP_RELEASE_KEY-}" to="${HOME:-}/.local/bin"
while [ $# -gt 0 ]; do
    case $1 in
        --from | --key | --to)
            [ $# -ge 2 ] || usage
            case $1 in
                --from) from=$2 ;;
                --key) key=$2 ;;
                --to) to=$2 ;;
            esac
            shift 2
            ;;
        *) usage ;;
    esac
done
[ -n "$from" ] || usage
[ -n "${HOME:-}" ] || [ "$to" != /.local/bin ] || fail 'no folder is given to install into' 'give --to, because HOME is not set'
[ -n "$key" ] || fail 'no release key is given' 'give --key, or set EXITGAP_RELEASE_KEY; get the key from another place than the release'

for program in cmp openssl tar gzip od tr sed grep; do
    command -v "$program" >/dev/null 2>&1 || fail "$program is not installed" "install your system's package for $program"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Copies a file of the release into the working folder.
fetch() {
    case $from in
        https://*)
            if command -v curl >/dev/null 2>&1; then
                curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' \
                    --output "$work/$1" "$from/$1"
            elif command -v wget >/dev/null 2>&1; then
                wget --quiet --https-only --output-document="$work/$1" "$from/$1"
            else
                fail 'neither curl nor wget is installed' 'install one of them, or download the release and give its folder'
            fi || fail "$1 could not be downloaded from $from" 'check the address and the network'
            ;;
        *://*) fail "$from is not an https address" 'give an https address or a folder' ;;
        *)
            [ -f "$from/$1" ] || fail "the release has no file $1" "look for it in $from"
            cp "$from/$1" "$work/$1"
            ;;
    esac
}

# The first bytes of what is read, in hexadecimal.
hex() { head -c "$1" | od -An -v -tx1 | tr -d ' \n'; }
bytes_of() { printf '%s' "$1" | openssl base64 -d -A 2>/dev/null; }
sha256_of() { openssl dgst -sha256 -r "$1" | sed 's/ .*//'; }

# The key: <name>+<id>+<base64 of 0x01 and 32 bytes>.
bad_key() { fail 'the release key is not valid' 'a key has the form <name>+<8 hexadecimal digits>+<base64>'; }
name=${key%%+*}
rest=${key#*+}
id=${rest%%+*}
body=${rest#*+}
case $key in *+*+*) ;; *) bad_key ;; esac
bytes_of "$body" >"$work/public"
if [ "$(wc -c <"$work/public")" -ne 33 ] || [ "$(hex 1 <"$work/public")" != 01 ]; then bad_key; fi
{ printf '%s\n' "$name"; cat "$work/public"; } >"$work/named"
[ "$(sha256_of "$work/named" | cut -c 1-8)" = "$id" ] || bad_key

fetch SHA256SUMS
fetch SHA256SUMS.note

# The note: the text, an empty line, and lines of signatures.
sed '/^$/,$d' "$work/SHA256SUMS.note" >"$work/text"
cmp -s "$work/text" "$work/SHA256SUMS" || fail 'SHA256SUMS is not the text that was signed' 'do not install this release'
signature=$(sed '1,/^$/d' "$work/SHA256SUMS.note" | grep -F -- "— $name " | sed 's/.* //' | while read -r one; do
    if [ "$(bytes_of "$one" | wc -c)" -eq 68 ] && [ "$(bytes_of "$one" | hex 4)" = "$id" ]; then
        printf '%s' "$one"
        break
    fi
done)
[ -n "$signature" ] || fail "no signature by the key $name+$id is in SHA256SUMS.note" 'another key signed this release, or it is not signed'
bytes_of "$signature" | tail -c 64 >"$work/signature"
# The public key as openssl reads it: the fixed first bytes of Ed25519 keys, and the 32 bytes.
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$work/public"; } >"$work/key.der"
openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/text" -sigfile "$work/signature" \
    >/dev/null 2>"$work/openssl" || {
    if grep -q -i 'rawin\|unknown option\|unsupported' "$work/openssl"; then
        fail 'this openssl cannot check Ed25519 signatures' 'install openssl 3 or later'
    fi
    fail "the signature by $name+$id does not fit SHA256SUMS" 'do not install this release'
}

case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) platform=x86_64-linux ;;
    Linux-aarch64 | Linux-arm64) platform=aarch64-linux ;;
    *) fail "there is no archive for $(uname -s) on $(uname -m)" 'build from source: cargo install --path crates/exitgap-cli' ;;
esac
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(exitgap-[0-9A-Za-z.-]*-$platform\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
case $archive in
    '') fail "the release has no archive for $platform" ;;
    *'
'*) fail "the release has several archives for $platform" ;;
esac
fetch "$archive"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")
[ "$(sha256_of "$work/$archive")" = "$expected" ] || fail "$archive is not the file that was signed" 'do not install this release; download it again'

folder=${archive%.tar.gz}
mkdir -p "$work/unpacked" "$to"
tar -xzf "$work/$archive" -C "$work/unpacked" "$folder/exitgap" "$folder/exitgap-server" ||
    fail "$archive does not contain both programs"
for program in exitgap exitgap-server; do
    if [ ! -f "$work/unpacked/$folder/$program" ] || [ -L "$work/unpacked/$folder/$program" ]; then
        fail "$program in $archive is not a file"
    fi
    [ ! -d "$to/$program" ] || fail "$to/$program is a folder" 'give another folder with --to'
done
for program in exitgap exitgap-server; do
    # A running program cannot be overwritten, but its name can be given to another file.
    new=$(mktemp "$to/.exitgap.XXXXXX")
    cp "$work/unpacked/$folder/$program" "$new"
    chmod 755 "$new"
    mv -f "$new" "$to/$program"
done
printf 'signed by %s+%s: installed exitgap and exitgap-server of %s in %s\n' "$name" "$id" "$folder" "$to"
printf 'next: %s/exitgap try\n' "$to"
