//! The tools for agents: the same answers as at the addresses, over both transports.

mod answers;
mod clients;
mod documented;
mod evidence;
mod guards;
mod hostile;
mod transport;
