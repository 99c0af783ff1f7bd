// The client of rmcp as a host: what ../client.py says.

use crate::{common::made, release::*};
use rmcp::{
	ClientHandler, ErrorData, Peer, RoleClient, ServiceExt,
	model::*,
	service::{NotificationContext, RequestContext},
	transport::TokioChildProcess,
};
use serde_json::{Value, json};
use tokio::{
	io::{AsyncBufReadExt, BufReader},
	process::Command,
	task::JoinSet,
};

struct Host;

fn say(what: Value) {
	println!("{what}");
}

impl ClientHandler for Host {
	fn get_info(&self) -> HostInfo {
		made(json!({
			"protocolVersion": "2025-11-25",
			"capabilities": {
				"sampling": {},
				"elicitation": {"form": {}, "url": {}},
				"roots": {},
			},
			"clientInfo": {"name": "world", "version": "1"},
		}))
	}

	async fn create_message(
		&self,
		_: Sample,
		_: RequestContext<RoleClient>,
	) -> Result<CreateMessageResult, ErrorData> {
		Ok(made(json!({
			"role": "assistant",
			"model": "m",
			"content": {"type": "text", "text": "m"},
		})))
	}

	async fn create_elicitation(
		&self,
		_: Elicit,
		_: RequestContext<RoleClient>,
	) -> Result<Elicited, ErrorData> {
		Ok(made(json!({"action": "accept", "content": {"sure": true}})))
	}

	async fn list_roots(
		&self,
		_: RequestContext<RoleClient>,
	) -> Result<ListRootsResult, ErrorData> {
		Ok(made(json!({"roots": [{"uri": "file:///r", "name": "r"}]})))
	}

	async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
		say(json!({"note": "notifications/tools/list_changed"}));
	}

	async fn on_progress(
		&self,
		_: ProgressNotificationParam,
		_: NotificationContext<RoleClient>,
	) {
		say(json!({"note": "notifications/progress"}));
	}
}

async fn call(peer: &Peer<RoleClient>, order: &Value) -> Result<Value, String> {
	let result = peer
		.call_tool(made(json!({
			"name": order["tool"],
			"arguments": {"key": order["key"]},
		})))
		.await
		.map_err(|e| e.to_string())?;
	let result = serde_json::to_value(result).unwrap();
	let text = &result["content"][0]["text"];
	match result["isError"] {
		Value::Bool(true) => Err(text.to_string()),
		_ => Ok(text.clone()),
	}
}

async fn list(peer: &Peer<RoleClient>) -> Result<Value, String> {
	let found = peer.list_all_tools().await.map_err(|e| e.to_string())?;
	let names: Vec<&str> = found.iter().map(|t| &*t.name).collect();
	Ok(json!(names.join(" ")))
}

async fn follow(peer: Peer<RoleClient>, order: Value) {
	let done = match order["tool"] {
		Value::Null => list(&peer).await,
		_ => call(&peer, &order).await,
	};
	say(match done {
		Ok(text) => json!({"id": order["id"], "text": text}),
		Err(error) => json!({"id": order["id"], "error": error}),
	});
}

pub async fn run(words: &[String]) {
	let mut command = Command::new(&words[0]);
	command.args(&words[1..]);
	let child = TokioChildProcess::new(command).unwrap();
	let service = Host.serve(child).await.unwrap();
	let hello = service.peer_info().unwrap().protocol_version.to_string();
	say(json!({"hello": hello}));
	let mut lines = BufReader::new(tokio::io::stdin()).lines();
	let mut jobs = JoinSet::new();
	while let Ok(Some(line)) = lines.next_line().await {
		let order = serde_json::from_str(&line).unwrap();
		jobs.spawn(follow(service.peer().clone(), order));
	}
	while jobs.join_next().await.is_some() {}
	service.cancel().await.unwrap();
}
