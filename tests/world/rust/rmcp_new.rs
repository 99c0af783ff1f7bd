// What has its name since rmcp 3.x.

use crate::common::has;
use rmcp::{
	model::*, transport::streamable_http_server::StreamableHttpServerConfig,
};

pub const MODES: &str = ",json,stateless,expiry";
pub const TOOLS: &[&str] = &[
	"safe", "unsafe", "slow", "slow_safe", "big", "expired", "log", "touch",
	"sample", "form", "url", "roots",
];

pub type Info = ServerConfig;
pub type Page = PaginatedRequestParams;
pub type SetLevel = SetLevelRequestParams;
pub type Subscribe = SubscribeRequestParams;
pub type Call = CallToolRequestParams;
pub type CallReply = CallToolResponse;
pub type Read = ReadResourceRequestParams;
pub type ReadReply = ReadResourceResponse;
pub type Wanted = GetPromptRequestParams;
pub type PromptReply = GetPromptResponse;
pub type Sample = CreateMessageRequestParams;
pub type Elicit = ElicitRequestParams;
pub type Elicited = ElicitResult;
pub type HostInfo = ClientConfig;

// Answers are JSON without sessions only.
pub fn configure(config: &mut StreamableHttpServerConfig) {
	config.legacy_session_mode = !has("stateless") && !has("json");
	config.json_response = has("json");
}
