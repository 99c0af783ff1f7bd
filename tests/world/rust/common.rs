// What the programs of both Rust SDKs share: see ../README.

use serde_json::{Value, json};
use std::{
	fs::OpenOptions, io::Write, path::Path, sync::OnceLock, time::Duration,
};

pub const URI: &str = "world://text";
const GATE: Duration = Duration::from_millis(20);

static ARGS: OnceLock<Vec<String>> = OnceLock::new();

// PORT PUBLIC FOLDER MODE
pub fn args() -> &'static [String] {
	ARGS.get_or_init(|| std::env::args().skip(1).collect())
}

// Is this a part of the mode?
pub fn has(part: &str) -> bool {
	args()[3].split(',').any(|p| p == part)
}

// Notes a run.
pub fn count(tool: &str, key: &str) {
	OpenOptions::new()
		.append(true)
		.create(true)
		.open(Path::new(&args()[2]).join("runs"))
		.and_then(|mut f| f.write_all(format!("{tool} {key}\n").as_bytes()))
		.unwrap();
}

// Until the test opens it.
pub async fn gate(key: &str) {
	let path = Path::new(&args()[2]).join(format!("go-{key}"));
	while !path.exists() {
		tokio::time::sleep(GATE).await;
	}
}

// A value of one of the SDK's types, whose names and constructors change from
// release to release.
pub fn made<T: serde::de::DeserializeOwned>(value: Value) -> T {
	serde_json::from_value(value).unwrap()
}

// The list of tools.
pub fn listed(names: &[&str]) -> Value {
	let tools: Vec<Value> = names
		.iter()
		.map(|name| {
			let safe = ["safe", "slow_safe"].contains(name);
			json!({
				"name": name,
				"inputSchema": {
					"type": "object",
					"properties": {"key": {"type": "string"}},
					"required": ["key"],
				},
				"annotations": {"readOnlyHint": safe},
			})
		})
		.collect();
	json!({"tools": tools})
}

pub fn text(text: String) -> Value {
	json!({"content": [{"type": "text", "text": text}], "isError": false})
}
