// The server at the far end of the long line: Streamable HTTP over TLS by
// Node, which closes idle connections as servers in the world do.
//
//   node far.mjs [--http2] [--idle SECONDS] ADDRESS CERTIFICATE KEY
//
// A connection may be idle for 10 minutes, or so many seconds (Node's own
// default is 5). With --http2 the client chooses between h2 and http/1.1. It
// has a listen stream and sessions; the tool "forget" makes it forget the
// session that called. Its stderr tells each connection and request: ms,
// client port, what.
import {randomUUID} from "node:crypto";
import {readFileSync} from "node:fs";
import {createSecureServer} from "node:http2";
import {createServer} from "node:https";
import {parseArgs} from "node:util";

const {values, positionals} = parseArgs({
	allowPositionals: true,
	options: {
		http2: {type: "boolean"},
		idle: {type: "string", default: "600"},
	},
});
const [address, cert, key] = positionals;
const idle = Number(values.idle) * 1000;
const sessions = new Map(); // by id; the listen stream or null
const began = performance.now();

function log(socket, what) {
	const ms = Math.round(performance.now() - began);
	process.stderr.write(`${ms} ${socket.remotePort} ${what}\n`);
}

function empty(res, status) {
	res.writeHead(status, {"content-length": 0});
	res.end();
}

function json(res, status, message, headers = {}) {
	const body = JSON.stringify({jsonrpc: "2.0", ...message});

	res.writeHead(status, {
		"content-type": "application/json",
		"content-length": Buffer.byteLength(body), ...headers});
	res.end(body);
}

const tools = {tools: [{name: "echo", inputSchema: {type: "object"}}]};
const said = {content: [{type: "text", text: "the quick brown fox"}]};
const unknown = {code: -32001, message: "Session not found"};

function initialize(res, message) {
	const id = randomUUID();

	sessions.set(id, null);
	json(res, 200, {id: message.id, result: {
		protocolVersion: "2025-11-25",
		capabilities: {tools: {}},
		serverInfo: {name: "bench", version: "1"},
	}}, {"mcp-session-id": id});
}

function post(req, res, text) {
	const message = JSON.parse(text);
	const session = req.headers["mcp-session-id"];

	log(req.socket, message.method);
	if (message.method === "initialize")
		return initialize(res, message);
	if (session === undefined)
		return empty(res, 400);
	if (!sessions.has(session))
		return json(res, 404, {id: null, error: unknown});
	if (message.id === undefined)
		return empty(res, 202);
	if (message.method === "tools/list")
		return json(res, 200, {id: message.id, result: tools});
	if (message.params?.name === "forget")
		sessions.delete(session);
	json(res, 200, {id: message.id, result: said});
}

function listen(res, session) {
	if (!sessions.has(session))
		return empty(res, 404);
	sessions.set(session, res);
	res.writeHead(200, {"content-type": "text/event-stream"});
	res.flushHeaders?.();
}

function on_request(req, res) {
	const session = req.headers["mcp-session-id"];
	let text = "";

	if (req.method === "POST" && req.url === "/mcp") {
		req.on("data", piece => text += piece);
		req.on("end", () => post(req, res, text));
		return;
	}
	log(req.socket, `${req.method} ${req.url}`);
	if (req.url !== "/mcp")
		return empty(res, 404);
	if (req.method === "GET")
		return listen(res, session);
	sessions.get(session)?.end();
	empty(res, sessions.delete(session) ? 200 : 404);
}

const pems = {cert: readFileSync(cert), key: readFileSync(key)};
const server = values.http2 ?
	createSecureServer({allowHTTP1: true, ...pems}, on_request) :
	createServer(pems, on_request);

server.keepAliveTimeout = idle;
server.on("connection", socket => log(socket, "TCP"));
server.on("secureConnection", socket =>
	log(socket, `TLS ${socket.getProtocol()} ${socket.alpnProtocol}`));
server.on("session", session =>
	session.setTimeout(idle, () => session.close()));
server.listen(0, address, () => {
	const at = server.address();

	console.log(`https://${at.address}:${at.port}/mcp`);
});
