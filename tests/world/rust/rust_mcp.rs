// A server of rust-mcp-sdk 1.x: see ../README.

mod common;

use async_trait::async_trait;
use common::{URI, args, count, gate, has, listed, made, text};
use rust_mcp_axum::{AxumServerOptions, create_axum_server};
use rust_mcp_sdk::{
	McpServer,
	error::SdkResult,
	mcp_server::{ServerHandler, ToMcpServerHandler},
	schema::{self, schema_utils::CallToolError, *},
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

// There is an event store; but while a session listens, and for seconds after
// it, each GET that resumes a stream is refused (409), and later ones bring
// nothing.
const MODES: &str = ",json";
const TOOLS: &[&str] = &[
	"safe",
	"unsafe",
	"slow",
	"slow_safe",
	"big",
	"boom",
	"expired",
	"log",
	"touch",
	"sample",
	"form",
	"url",
	"roots",
];

type Runtime = Arc<dyn McpServer>;

#[derive(Default)]
struct World {
	subscribers: Mutex<Vec<Runtime>>,
}

// Not where answers are JSON: what a call tells first is its whole answer there.
async fn tell_progress(runtime: &Runtime, token: &Value, done: u32) {
	if !token.is_null() && !has("json") {
		let _ = runtime
			.notify_progress(made(json!({
				"progressToken": token,
				"progress": done,
			})))
			.await;
	}
}

async fn tell_all(subscribers: Vec<Runtime>) {
	for runtime in subscribers {
		let uri = json!({"uri": URI});
		// it may have gone
		let _ = runtime.notify_resource_updated(made(uri)).await;
		let _ = runtime.notify_tool_list_changed(None).await;
	}
}

async fn ask(name: &str, runtime: &Runtime) -> SdkResult<()> {
	match name {
		"sample" => {
			runtime
				.request_message_creation(made(json!({
					"messages": [{
						"role": "user",
						"content": {"type": "text", "text": "hi"},
					}],
					"maxTokens": 10,
				})))
				.await?;
		}
		"form" => {
			runtime
				.request_elicitation(made(json!({
					"mode": "form",
					"message": "sure?",
					"requestedSchema": {
						"type": "object",
						"properties": {"sure": {"type": "boolean"}},
					},
				})))
				.await?;
		}
		"url" => {
			runtime
				.request_elicitation(made(json!({
					"mode": "url",
					"message": "go there",
					"url": "https://pay.example/1",
					"elicitationId": "e1",
				})))
				.await?;
		}
		"roots" => {
			runtime.request_root_list(None).await?;
		}
		_ => {}
	}
	Ok(())
}

#[async_trait]
impl ServerHandler for World {
	async fn handle_list_tools_request(
		&self,
		_: Option<PaginatedRequestParams>,
		_: Runtime,
	) -> std::result::Result<ListToolsResult, RpcError> {
		Ok(made(listed(TOOLS)))
	}

	async fn handle_call_tool_request(
		&self,
		call: CallToolRequestParams,
		runtime: Runtime,
	) -> std::result::Result<CallToolResult, CallToolError> {
		let name = call.name.as_str();
		let call = serde_json::to_value(&call).unwrap();
		let key = call["arguments"]["key"].as_str().unwrap_or("");
		let token = &call["_meta"]["progressToken"];
		if !TOOLS.contains(&name) {
			return Err(CallToolError::unknown_tool(name));
		}
		count(name, key);
		match name {
			"slow" | "slow_safe" => {
				tell_progress(&runtime, token, 1).await;
				gate(key).await;
				tell_progress(&runtime, token, 2).await;
			}
			"big" => return Ok(made(text("x".repeat(1000000)))),
			"boom" => panic!("boom"),
			"expired" => {
				return Err(CallToolError::from_message(
					"Session not found: it has expired",
				));
			}
			"log" => {
				let _ = runtime
					.notify_log_message(made(json!({
						"level": "warning",
						"data": format!("log {key}"),
					})))
					.await;
			}
			"touch" => {
				let all = self.subscribers.lock().unwrap().clone();
				// within the call all of it would go into the call's answer
				let _ = tokio::spawn(tell_all(all)).await;
			}
			_ => ask(name, &runtime).await.map_err(CallToolError::new)?,
		}
		Ok(made(text(format!("{name} {key}"))))
	}

	async fn handle_set_level_request(
		&self,
		_: SetLevelRequestParams,
		_: Runtime,
	) -> std::result::Result<schema::Result, RpcError> {
		Ok(Default::default())
	}

	async fn handle_subscribe_request(
		&self,
		_: SubscribeRequestParams,
		runtime: Runtime,
	) -> std::result::Result<schema::Result, RpcError> {
		self.subscribers.lock().unwrap().push(runtime);
		Ok(Default::default())
	}

	async fn handle_list_resources_request(
		&self,
		_: Option<PaginatedRequestParams>,
		_: Runtime,
	) -> std::result::Result<ListResourcesResult, RpcError> {
		Ok(made(json!({"resources": [{"uri": URI, "name": "text"}]})))
	}

	async fn handle_read_resource_request(
		&self,
		_: ReadResourceRequestParams,
		_: Runtime,
	) -> std::result::Result<ReadResourceResult, RpcError> {
		Ok(made(json!({"contents": [{"uri": URI, "text": "text"}]})))
	}

	async fn handle_list_prompts_request(
		&self,
		_: Option<PaginatedRequestParams>,
		_: Runtime,
	) -> std::result::Result<ListPromptsResult, RpcError> {
		Ok(made(json!({"prompts": [{
			"name": "hello",
			"arguments": [{"name": "name"}],
		}]})))
	}

	async fn handle_get_prompt_request(
		&self,
		wanted: GetPromptRequestParams,
		_: Runtime,
	) -> std::result::Result<GetPromptResult, RpcError> {
		let wanted = serde_json::to_value(&wanted).unwrap();
		let name = wanted["arguments"]["name"].as_str().unwrap_or("");
		Ok(made(json!({"messages": [{
			"role": "user",
			"content": {"type": "text", "text": format!("hello {name}")},
		}]})))
	}
}

#[tokio::main]
async fn main() -> SdkResult<()> {
	if args()[0] == "modes" {
		println!("{MODES}");
		return Ok(());
	}
	let info = made(json!({
		"protocolVersion": "2025-11-25",
		"capabilities": {
			"tools": {"listChanged": true},
			"resources": {"subscribe": true},
			"prompts": {},
			"logging": {},
		},
		"serverInfo": {"name": "world", "version": "1"},
	}));
	let mut options = AxumServerOptions {
		host: "127.0.0.1".into(),
		port: args()[0].parse().unwrap(),
		enable_json_response: Some(has("json")),
		..Default::default()
	};
	// both ports: its own, and that at which it is reached
	let names = args()[..2].iter().map(|p| format!("127.0.0.1:{p}"));
	options.dns_rebinding.allowed_hosts = Some(names.collect());
	create_axum_server(info, World::default().to_mcp_server_handler(), options)
		.start()
		.await?;
	Ok(())
}
