//! What runs in a browser or in Node: the pages and the npm package.

mod charts;
mod figures;
mod kinds;
mod npm;
mod npm_alerts;
mod stream;
mod web;
