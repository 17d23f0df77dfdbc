//! Tables. On a narrow screen each row becomes a card with the columns' names next to the values, so that no horizontal
//! scrolling is needed.

use std::rc::Rc;

use leptos::prelude::*;

/// A column: its name and alignment.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    class: &'static str,
}

/// A column of text.
pub fn words(name: &str) -> Column {
    Column { name: name.to_owned(), class: "" }
}

/// A column of numbers.
pub fn number(name: &str) -> Column {
    Column { name: name.to_owned(), class: "number" }
}

/// A row: its heading, and a value for each column; the last value spans the remaining columns.
pub type Row = (AnyView, Vec<AnyView>);

/// A table whose rows have headings.
///
/// The roles repeat those of the elements, because some browsers drop them when the elements are laid out as a card.
#[component]
pub fn Table(
    /// Its class in the style sheet.
    #[prop(optional)]
    class: &'static str,
    /// Its caption.
    #[prop(optional, into)]
    caption: String,
    /// The name of the column with the headings.
    #[prop(into)]
    first: String,
    /// The other columns.
    columns: Vec<Column>,
    /// The rows.
    rows: Vec<Row>,
) -> impl IntoView {
    let columns: Rc<[Column]> = columns.into();
    let heads = columns.iter().map(|column| {
        view! { <th scope="col" role="columnheader" class=column.class>{column.name.clone()}</th> }
    });
    let heads = heads.collect_view();
    let count = columns.len();
    let body = rows.into_iter().map(|(heading, cells)| {
        let last = cells.len().saturating_sub(1);
        let cells = cells.into_iter().enumerate().zip(columns.iter()).map(|((place, cell), column)| {
            let left = (place == last && last + 1 < count).then(|| (count - last).to_string());
            let label = left.is_none().then(|| column.name.clone());
            view! { <td role="cell" class=column.class colspan=left data-label=label><div>{cell}</div></td> }
        });
        let cells = cells.collect_view();
        view! { <tr role="row"><th scope="row" role="rowheader">{heading}</th>{cells}</tr> }
    });
    let body = body.collect_view();
    let caption = (!caption.is_empty()).then(|| view! { <caption>{caption}</caption> });
    view! {
        <table role="table" class=class>
            {caption}
            <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">{first}</th>{heads}</tr></thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
    }
    .into_any()
}
