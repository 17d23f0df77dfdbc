//! The tools for agents return the same answers as the HTTP API, over both transports.

mod answers;
mod clients;
mod documented;
mod evidence;
mod guards;
mod hostile;
mod transport;
