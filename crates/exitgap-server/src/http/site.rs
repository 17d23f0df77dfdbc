//! The pages: built by `cargo xtask web`, embedded in a release (a debug build reads the plain ones at startup), each
//! with its own title and a content security policy that blocks other origins.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use axum::extract::State;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderName, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64ct::{Base64, Encoding};
use exitgap_api::operations::Keep;
use exitgap_api::{Problem, ProblemCode, parse_pool};
use sha2::{Digest, Sha256};

use super::address::Address;
use super::reply::{HttpRefusal, Reply};
use super::words::Words;
use super::{App, SharedApp};

/// The built site: embedded in a release, or read from a folder instead.
#[derive(Debug)]
pub struct Site {
    /// Its files by name.
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

#[cfg(not(debug_assertions))]
#[derive(rust_embed::RustEmbed)]
#[folder = "../../web/dist"]
struct Dist;

#[cfg(not(debug_assertions))]
impl Default for Site {
    fn default() -> Self {
        let file = |name: Cow<'static, str>| Some((name.to_string(), Dist::get(&name)?.data));
        Self { files: Dist::iter().filter_map(file).collect() }
    }
}

/// A debug build reads the plain pages at startup; `cargo xtask web --plain` builds them.
#[cfg(debug_assertions)]
impl Default for Site {
    fn default() -> Self {
        let plain = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/pages");
        Self::from_folder(Path::new(plain)).unwrap_or(Self { files: BTreeMap::new() })
    }
}

impl Site {
    /// Uses the files of a folder in place of the embedded ones. They are read once, so what is served does not change.
    pub fn from_folder(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            if let Some(name) = name.filter(|_| path.is_file()) {
                files.insert(name, Cow::Owned(fs::read(&path)?));
            }
        }
        if !files.contains_key(INDEX) {
            let reason = format!("no {INDEX} is in it; `cargo xtask web` builds the pages");
            return Err(io::Error::new(io::ErrorKind::NotFound, reason));
        }
        Ok(Self { files })
    }

    /// Whether there are pages.
    pub fn is_built(&self) -> bool {
        self.file(INDEX).is_some()
    }

    /// The parts of the built page that the page at an address needs if it has no program.
    pub fn frame(&self, address: &str) -> Option<Frame> {
        let index = self.file(INDEX)?;
        let index = String::from_utf8_lossy(index);
        let within = |from: &str, to: &str| {
            let begin = index.find(from)?;
            let end = begin + index[begin..].find(to)? + to.len();
            Some(index[begin..end].to_owned())
        };
        let links =
            ["<link rel=\"icon\"", "<link rel=\"stylesheet\""].map(|link| within(link, ">"));
        let here = format!("href=\"{address}\"");
        let header = within("<header>", "</header>")?;
        Some(Frame {
            links: links.into_iter().flatten().collect(),
            header: header.replace(&here, &format!("{here} aria-current=\"page\"")),
        })
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }
}

/// The parts around every page.
#[derive(Debug, Default)]
pub struct Frame {
    /// The icon and style sheet.
    pub links: String,
    /// The navigation.
    pub header: String,
}

/// The only page that is built: in the browser its program renders every page of the site.
const INDEX: &str = "index.html";

/// The licences of the packages in the pages.
const THIRD_PARTY: &str = include_str!("../../../../web/THIRD-PARTY.txt");

const HTML: &str = "text/html; charset=utf-8";

/// Texts of the built page that are replaced with those of the requested page.
const TITLE: &str = "<title>exitgap</title>";
const OG_TITLE: &str = "property=\"og:title\" content=\"exitgap\"";
const HEAD_END: &str = "</head>";
const HEADING: &str = "<h1>exitgap</h1>";
const LEAD: &str =
    "<p class=\"lead\">At this size, how far below the oracle price will I really fill?</p>";
/// The site's description.
pub const DESCRIPTION: &str = "At this size, how far below the oracle price will I really fill?";

/// Whether the client prefers a page to a document: its `Accept` names `text/html`, and no document type with a higher
/// weight.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wish = |media: &str| {
        let of_media = accepted.split(',').filter_map(media_range);
        of_media.filter(|(named, _)| named.eq_ignore_ascii_case(media)).map(|(_, wish)| wish).max()
    };
    // The most specific range that matches a document gives its weight.
    let document =
        ["application/json", "application/*", "*/*"].iter().find_map(|range| wish(range));
    wish("text/html").is_some_and(|page| page > 0 && page >= document.unwrap_or(0))
}

/// A media range of `Accept` with its weight, in thousandths. A range that cannot be parsed is ignored.
fn media_range(part: &str) -> Option<(&str, u16)> {
    let mut parts = part.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let thousandths = quality.map_or(Some(1_000), |quality| {
        let (whole, part) = quality.split_once('.').unwrap_or((quality, ""));
        let digits = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        let part: u16 = format!("{part:0<3}").parse().ok().filter(|_| digits)?;
        match whole {
            "0" => Some(part),
            "1" if part == 0 => Some(1_000),
            _ => None,
        }
    });
    Some((range, thousandths.unwrap_or(0)))
}

/// `GET /`.
pub async fn board(State(app): State<SharedApp>) -> Result<Response, HttpRefusal> {
    page(&app, &Words::of_board(), StatusCode::OK)
}

/// `GET /pools/{pool}`.
pub async fn pool(State(app): State<SharedApp>, address: Address) -> Result<Response, HttpRefusal> {
    let id = address.path_or_empty();
    let Some(pair) = pair(&app, id) else { return not_found_page(&app) };
    page(&app, &Words::of_pool(&pair), StatusCode::OK)
}

/// The evidence of a result, as a page.
pub fn evidence(app: &App, id: &str, claim: Option<String>) -> Result<Response, HttpRefusal> {
    let Some(pair) = pair(app, id) else { return not_found_page(app) };
    let mut response = page(app, &Words::of_evidence(&pair, claim), StatusCode::OK)?;
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    Ok(response)
}

/// The pages with fixed texts.
pub async fn fixed_page(State(app): State<SharedApp>, uri: Uri) -> Result<Response, HttpRefusal> {
    page(&app, &Words::of_path(uri.path()), StatusCode::OK)
}

/// Requests without a route: a file of the site, or not found.
pub async fn file_or_nothing(
    State(app): State<SharedApp>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    let path = uri.path().trim_start_matches('/');
    if path == "third-party.txt" && app.site.is_built() {
        let text = "text/plain; charset=utf-8";
        return Ok(Reply::new(THIRD_PARTY, text, Keep::Seconds(3_600)).into_response());
    }
    if path != INDEX
        && !path.is_empty()
        && let Some(file) = file(&app.site, path, &headers)
    {
        return Ok(file);
    }
    // A missing script must not be answered with a page.
    if wants_page(&headers) && !path.contains('.') && app.site.is_built() {
        return not_found_page(&app);
    }
    Err(Problem::new(ProblemCode::NotFound, "nothing is at this address")
        .hint("GET /docs lists every address")
        .into())
}

/// The not-found page.
fn not_found_page(app: &App) -> Result<Response, HttpRefusal> {
    page(app, &Words::of_nothing(), StatusCode::NOT_FOUND)
}

/// A file of the site. Its name contains the hash of its content's sources.
fn file(site: &Site, path: &str, headers: &HeaderMap) -> Option<Response> {
    let media_type = match path.rsplit('.').next()? {
        "js" => "text/javascript",
        "wasm" => "application/wasm",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let brotli = accepted.is_some_and(|names| names.split(',').any(|name| name.trim() == "br"));
    let packed = brotli.then(|| site.file(&format!("{path}.br"))).flatten();
    let is_packed = packed.is_some();
    let found = packed.or_else(|| site.file(path))?;
    let mut response = Reply::new(found.to_vec(), media_type, Keep::Forever).into_response();
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    Some(response)
}

fn page(app: &App, words: &Words, status: StatusCode) -> Result<Response, HttpRefusal> {
    let index = app.site.file(INDEX).ok_or_else(|| {
        Problem::new(ProblemCode::NotFound, "this service has no site")
            .hint("GET /docs lists every address of the API; `cargo xtask web` builds the site")
    })?;
    let index = String::from_utf8_lossy(index);
    let urls = app.service.urls();
    let api = (urls.base != urls.web).then_some(urls.base.as_str());
    let policy = policy(&index, api);
    let (title, description) = (escape(&words.title), escape(&words.description));
    let lead = format!("<p class=\"lead\">{}</p>", escape(&words.lead));
    let html = index
        .replace(TITLE, &format!("<title>{title}</title>"))
        .replace(HEADING, &format!("<h1>{}</h1>", title.trim_end_matches(" | exitgap")))
        .replace(OG_TITLE, &format!("property=\"og:title\" content=\"{title}\""))
        .replace(LEAD, &lead)
        .replace(DESCRIPTION, &description);
    let html = match api {
        None => html,
        // A page knows only its own host. If the API has another, this tag contains it.
        Some(api) => html.replacen(HEAD_END, &api_tag(api), 1),
    };
    let reply = Reply::new(html, HTML, Keep::Seconds(0));
    let headers = [
        (CONTENT_SECURITY_POLICY, HeaderValue::try_from(policy).map_err(|_| broken())?),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
        (
            HeaderName::from_static("permissions-policy"),
            HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=()"),
        ),
        (HeaderName::from_static("x-frame-options"), HeaderValue::from_static("DENY")),
    ];
    Ok((status, headers, reply).into_response())
}

fn broken() -> Problem {
    Problem::new(
        ProblemCode::InternalError,
        "the site's page is not as `cargo xtask web` builds it",
    )
}

/// A tag with the API's base URL for a page.
fn api_tag(api: &str) -> String {
    format!("<meta name=\"exitgap-api\" content=\"{}\">{HEAD_END}", escape(api))
}

/// The scheme, host and port of a URL: the parts that a policy contains.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |path| &url[..host + path])
}

/// The policy: scripts of this origin, WASM, and the page's own inline scripts by their hashes; no inline styles, and
/// no other origins except the API's, if it has its own host.
fn policy(index: &str, api: Option<&str>) -> String {
    let api = api.map_or_else(String::new, |api| format!(" {}", origin(api)));
    let hash = |script| format!(" 'sha256-{}'", Base64::encode_string(&Sha256::digest(script)));
    let hashes = inline_scripts(index).map(hash).collect::<Vec<_>>().concat();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; style-src 'self'; img-src 'self'; \
         connect-src 'self'{api}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// The contents of the page's inline scripts.
fn inline_scripts(index: &str) -> impl Iterator<Item = &str> {
    index.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (script, _) = rest.split_once("</script>")?;
        (!attributes.contains("src=")).then_some(script)
    })
}

/// The name of a monitored pool: its tokens (whose symbols are untrusted text), its venue and fee; or its id while it
/// has no snapshot.
fn pair(app: &App, id: &str) -> Option<String> {
    let id = parse_pool(id).ok()?;
    let current = app.service.current();
    let now = current.pools.get(&id)?;
    Some(match &now.labels {
        None => id.to_string(),
        Some(labels) => {
            let [token0, token1] = &labels.tokens;
            format!("{} / {}, {}", token0.symbol, token1.symbol, now.name)
        }
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_pages_own_scripts_and_no_other() {
        let page = "<script type=\"module\">one()</script><script src=\"/x.js\"></script><script>two()</script>";
        let found: Vec<_> = inline_scripts(page).collect();
        assert_eq!(found, ["one()", "two()"]);
        let closed = policy(page, None);
        assert_eq!(closed.matches("'sha256-").count(), 2);
        assert!(!closed.contains("unsafe-inline") && !closed.contains("unsafe-eval' 'un"));
        assert!(closed.contains("connect-src 'self';"), "{closed}");
        let open = policy(page, Some("https://api.example:8443/exits"));
        assert!(open.contains("connect-src 'self' https://api.example:8443;"), "{open}");
        assert_eq!(
            api_tag("https://a/\""),
            "<meta name=\"exitgap-api\" content=\"https://a/&quot;\"></head>"
        );
    }

    #[test]
    fn a_folder_of_pages_stands_in_for_the_embedded_ones_or_is_refused() {
        let folder = std::env::temp_dir().join(format!("exitgap-site-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("x.js"), "one()").unwrap();
        let error = Site::from_folder(&folder).unwrap_err().to_string();
        assert!(error.contains("index.html") && error.contains("cargo xtask web"), "{error}");
        fs::write(folder.join(INDEX), "<html>").unwrap();
        let site = Site::from_folder(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(site.is_built());
        assert_eq!(site.file("x.js").unwrap(), "one()".as_bytes());
        assert_eq!(site.file("../x.js"), None);
        assert!(Site::from_folder(&folder).is_err());
    }

    #[test]
    fn pages_are_for_those_who_ask_for_pages() {
        for (accept, page) in [
            ("text/html,application/xhtml+xml;q=0.9", true),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true),
            ("text/html, */*", true),
            ("TEXT/HTML", true),
            ("text/html;level=1;q=0.5", true),
            ("text/html;q=0", false),
            ("text/html;q=0.000, */*", false),
            ("text/html; q=0.001", true),
            ("text/html;q=1.000", true),
            ("text/html;q=1.001", false),
            ("text/html;q=2", false),
            ("text/html;q=0.0001", false),
            ("text/html;q=-1", false),
            ("text/html;q=", false),
            ("application/json, text/html;q=0.5", false),
            ("application/json;q=0.4, text/html;q=0.5, */*", true),
            ("application/*;q=0.9, text/html;q=0.8", false),
            ("application/json", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(wants_page(&headers), page, "{accept}");
        }
    }
}
