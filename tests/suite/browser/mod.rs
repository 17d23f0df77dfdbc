//! Everything that runs in a browser or in Node: the pages and the npm package.

mod charts;
mod figures;
mod firefox;
mod kinds;
mod npm;
mod npm_alerts;
mod npm_hosts;
mod npm_program;
mod npm_verified;
mod stream;
mod thousand;
mod web;
