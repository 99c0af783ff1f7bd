// A server and a client of rmcp, 0.8 and 3.x: see ../README. There is no tool
// "boom": a call that panics is never answered, and stays open.

#![allow(deprecated)]

mod client;
mod common;
mod release;

use common::{URI, args, count, gate, has, listed, made, text};
use release::*;
use rmcp::{
	ErrorData, Peer, RoleServer, ServerHandler,
	model::*,
	service::RequestContext,
	transport::streamable_http_server::{
		StreamableHttpServerConfig, StreamableHttpService,
		session::local::{LocalSessionManager, SessionConfig},
	},
};
use serde_json::{Value, json};
use std::{
	sync::{Arc, Mutex},
	time::Duration,
};

type Context = RequestContext<RoleServer>;

#[derive(Clone, Default)]
struct World {
	subscribers: Arc<Mutex<Vec<Peer<RoleServer>>>>,
}

fn failed(error: impl ToString) -> ErrorData {
	ErrorData::internal_error(error.to_string(), None)
}

async fn tell_progress(context: &Context, done: u32) {
	if let Some(token) = context.meta.get_progress_token() {
		let _ = context
			.peer
			.notify_progress(made(json!({
				"progressToken": token,
				"progress": done,
			})))
			.await;
	}
}

async fn slow(context: &Context, key: &str) -> Result<(), ErrorData> {
	tell_progress(context, 1).await;
	tokio::select! {
		_ = context.ct.cancelled() => return Err(failed("cancelled")),
		_ = gate(key) => {}
	}
	tell_progress(context, 2).await;
	Ok(())
}

async fn ask(context: &Context, question: Value) -> Result<(), ErrorData> {
	context
		.peer
		.create_elicitation(made(question))
		.await
		.map_err(failed)?;
	Ok(())
}

impl World {
	async fn run(
		&self,
		name: &str,
		key: &str,
		context: &Context,
	) -> Result<String, ErrorData> {
		let peer = &context.peer;
		match name {
			"slow" | "slow_safe" => slow(context, key).await?,
			"big" => return Ok("x".repeat(1000000)),
			"expired" => {
				return Err(failed("Session not found: it has expired"));
			}
			"log" => peer
				.notify_logging_message(made(json!({
					"level": "warning",
					"data": format!("log {key}"),
				})))
				.await
				.map_err(failed)?,
			"touch" => {
				let all = self.subscribers.lock().unwrap().clone();
				for peer in all {
					let uri = json!({"uri": URI});
					// it may have gone
					let _ = peer.notify_resource_updated(made(uri)).await;
					let _ = peer.notify_tool_list_changed().await;
				}
			}
			"sample" => {
				peer.create_message(made(json!({
					"messages": [{
						"role": "user",
						"content": {"type": "text", "text": "hi"},
					}],
					"maxTokens": 10,
				})))
				.await
				.map_err(failed)?;
			}
			"form" => {
				ask(
					context,
					json!({
						"message": "sure?",
						"requestedSchema": {
							"type": "object",
							"properties": {"sure": {"type": "boolean"}},
						},
					}),
				)
				.await?
			}
			"url" => {
				ask(
					context,
					json!({
						"mode": "url",
						"message": "go there",
						"url": "https://pay.example/1",
						"elicitationId": "e1",
					}),
				)
				.await?
			}
			"roots" => {
				peer.list_roots().await.map_err(failed)?;
			}
			_ => {}
		}
		Ok(format!("{name} {key}"))
	}
}

impl ServerHandler for World {
	fn get_info(&self) -> Info {
		made(json!({
			"protocolVersion": "2025-11-25",
			"capabilities": {
				"tools": {"listChanged": true},
				"resources": {"subscribe": true},
				"prompts": {},
				"logging": {},
			},
			"serverInfo": {"name": "world", "version": "1"},
		}))
	}

	async fn set_level(
		&self,
		_: SetLevel,
		_: Context,
	) -> Result<(), ErrorData> {
		Ok(())
	}

	async fn subscribe(
		&self,
		_: Subscribe,
		context: Context,
	) -> Result<(), ErrorData> {
		self.subscribers.lock().unwrap().push(context.peer);
		Ok(())
	}

	async fn list_tools(
		&self,
		_: Option<Page>,
		_: Context,
	) -> Result<ListToolsResult, ErrorData> {
		Ok(made(listed(TOOLS)))
	}

	async fn call_tool(
		&self,
		call: Call,
		context: Context,
	) -> Result<CallReply, ErrorData> {
		let name: &str = &call.name;
		if !TOOLS.contains(&name) {
			return Err(ErrorData::invalid_params("no such tool", None));
		}
		let key = call
			.arguments
			.as_ref()
			.and_then(|a| a.get("key"))
			.and_then(Value::as_str)
			.unwrap_or("");
		count(name, key);
		let said = self.run(name, key, &context).await?;
		let result: CallToolResult = made(text(said));
		Ok(result.into())
	}

	async fn list_resources(
		&self,
		_: Option<Page>,
		_: Context,
	) -> Result<ListResourcesResult, ErrorData> {
		Ok(made(json!({"resources": [{"uri": URI, "name": "text"}]})))
	}

	async fn read_resource(
		&self,
		_: Read,
		_: Context,
	) -> Result<ReadReply, ErrorData> {
		let result: ReadResourceResult =
			made(json!({"contents": [{"uri": URI, "text": "text"}]}));
		Ok(result.into())
	}

	async fn list_prompts(
		&self,
		_: Option<Page>,
		_: Context,
	) -> Result<ListPromptsResult, ErrorData> {
		Ok(made(json!({"prompts": [{
			"name": "hello",
			"arguments": [{"name": "name"}],
		}]})))
	}

	async fn get_prompt(
		&self,
		wanted: Wanted,
		_: Context,
	) -> Result<PromptReply, ErrorData> {
		let name = wanted.arguments.unwrap_or_default();
		let name = name.get("name").and_then(Value::as_str).unwrap_or("");
		let result: GetPromptResult = made(json!({"messages": [{
			"role": "user",
			"content": {"type": "text", "text": format!("hello {name}")},
		}]}));
		Ok(result.into())
	}
}

async fn serve() {
	let mut session = SessionConfig::default();
	if has("expiry") {
		session.keep_alive = Some(Duration::from_secs(1));
	}
	let mut sessions = LocalSessionManager::default();
	sessions.session_config = session;
	let mut config = StreamableHttpServerConfig::default();
	configure(&mut config);
	let world = World::default();
	let service = StreamableHttpService::new(
		move || Ok(world.clone()),
		Arc::new(sessions),
		config,
	);
	let app = axum::Router::new().nest_service("/mcp", service);
	let place = format!("127.0.0.1:{}", args()[0]);
	let listener = tokio::net::TcpListener::bind(place).await.unwrap();
	axum::serve(listener, app).await.unwrap();
}

#[tokio::main]
async fn main() {
	match args()[0].as_str() {
		"modes" => println!("{MODES}"),
		"client" => client::run(&args()[1..]).await,
		_ => serve().await,
	}
}
