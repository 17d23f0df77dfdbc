//! The list of documents for agents, as a service serves it.

use std::path::Path;

use crate::scenes::service::{Service, recorded};

#[tokio::test(flavor = "multi_thread")]
async fn every_link_of_the_list_for_agents_leads_to_a_document_of_the_service() {
    let recorded = recorded(14).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let answer = service.get("/llms.txt");
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/plain; charset=utf-8"))
    );
    let text = String::from_utf8(answer.body).unwrap();
    let here = format!("http://{}", service.address);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut documents = 0;
    for target in targets {
        let path = target.strip_prefix(&here).unwrap_or_else(|| panic!("{target} is elsewhere"));
        let (path, anchor) = path.split_once('#').unwrap_or((path, ""));
        if !anchor.is_empty() {
            assert_eq!(path, "/docs", "{target}");
            continue;
        }
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{target}");
        if Path::new(path).extension().is_some_and(|extension| extension == "md") {
            documents += 1;
            assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
            assert!(answer.body.starts_with(b"# "), "{target}");
        }
    }
    assert!(documents >= 13, "{text}");
    for missing in ["/docs/operators.md", "/docs/agents", "/docs/none.md"] {
        assert_eq!(service.get(missing).status, 404, "{missing}");
    }
    assert_eq!(service.end(), Some(0));
}
