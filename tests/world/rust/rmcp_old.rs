// What has other names in rmcp 0.8.

use crate::common::has;
use rmcp::{
	model::*, transport::streamable_http_server::StreamableHttpServerConfig,
};

pub const MODES: &str = ",stateless,expiry";
pub const TOOLS: &[&str] = &[
	"safe",
	"unsafe",
	"slow",
	"slow_safe",
	"big",
	"expired",
	"log",
	"touch",
	"sample",
	"form",
	"roots",
];

pub type Info = ServerInfo;
pub type Page = PaginatedRequestParam;
pub type SetLevel = SetLevelRequestParam;
pub type Subscribe = SubscribeRequestParam;
pub type Call = CallToolRequestParam;
pub type CallReply = CallToolResult;
pub type Read = ReadResourceRequestParam;
pub type ReadReply = ReadResourceResult;
pub type Wanted = GetPromptRequestParam;
pub type PromptReply = GetPromptResult;
pub type Sample = CreateMessageRequestParam;
pub type Elicit = CreateElicitationRequestParam;
pub type Elicited = CreateElicitationResult;
pub type HostInfo = ClientInfo;

pub fn configure(config: &mut StreamableHttpServerConfig) {
	config.stateful_mode = !has("stateless");
}
