// A server of the Kotlin SDK on Ktor's CIO: see ../README.

import io.ktor.server.cio.*
import io.ktor.server.engine.*
import io.modelcontextprotocol.kotlin.sdk.server.*
import io.modelcontextprotocol.kotlin.sdk.types.*
import java.io.File
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.delay
import kotlinx.serialization.json.*

const val URI = "world://text"
const val MODES = ",stateless,keepalive"

lateinit var folder: File
lateinit var mode: Set<String>
val servers = CopyOnWriteArrayList<Server>()

@Synchronized
fun count(tool: String, key: String) =
    File(folder, "runs").appendText("$tool $key\n")

inline fun <reified T> made(json: String) = McpJson.decodeFromString<T>(json)

fun text(said: String) = CallToolResult(content = listOf(TextContent(said)))

suspend fun tell(client: ClientConnection, token: JsonElement?, done: Int) {
    if (token != null)
        client.notification(
            made<ProgressNotification>(
                """{"method":"notifications/progress","params":
                {"progressToken":$token,"progress":$done}}"""
            ),
            null,
        )
}

suspend fun slow(client: ClientConnection, request: CallToolRequest, key: String) {
    val token = request.params.meta?.json?.get("progressToken")
    tell(client, token, 1)
    while (!File(folder, "go-$key").exists())
        delay(20)
    tell(client, token, 2)
}

suspend fun tellAll() {
    for (server in servers)
        for (session in server.sessions.values)
            try {
                session.sendResourceUpdated(
                    made(
                        """{"method":"notifications/resources/updated",
                        "params":{"uri":"$URI"}}"""
                    )
                )
                session.sendToolListChanged()
            } catch (e: Exception) {
                // it has gone
            }
}

typealias Run = suspend (ClientConnection, CallToolRequest, String) -> Unit

fun tools(): Map<String, Run> = mapOf(
    "safe" to { _, _, _ -> },
    "unsafe" to { _, _, _ -> },
    "slow" to ::slow,
    "slow_safe" to ::slow,
    "big" to { _, _, _ -> },
    "boom" to { _, _, _ -> throw IllegalStateException("kaboom") },
    "expired" to { _, _, _ ->
        throw IllegalStateException("Session not found: it has expired")
    },
    "log" to { client, _, key ->
        client.sendLoggingMessage(
            made(
                """{"method":"notifications/message","params":
                {"level":"warning","data":"log $key"}}"""
            )
        )
    },
    "touch" to { _, _, _ -> tellAll() },
    "sample" to { client, _, _ ->
        client.createMessage(
            made(
                """{"method":"sampling/createMessage","params":
                {"messages":[{"role":"user","content":
                {"type":"text","text":"hi"}}],"maxTokens":10}}"""
            )
        )
    },
    "form" to { client, _, _ ->
        client.createElicitation(
            "sure?",
            made(
                """{"type":"object","properties":
                {"sure":{"type":"boolean"}}}"""
            ),
        )
    },
    "roots" to { client, _, _ -> client.listRoots() },
)

fun newServer(): Server {
    val able = ServerCapabilities(
        tools = ServerCapabilities.Tools(true),
        resources = ServerCapabilities.Resources(subscribe = true),
        prompts = ServerCapabilities.Prompts(true),
        logging = ServerCapabilities.Logging,
    )
    val server = Server(Implementation("world", "1"), ServerOptions(able))
    val schema = made<ToolSchema>(
        """{"type":"object","properties":{"key":{"type":"string"}},
        "required":["key"]}"""
    )
    for ((name, run) in tools()) {
        val hint = ToolAnnotations(
            readOnlyHint = name == "safe" || name == "slow_safe"
        )
        server.addTool(
            Tool(name = name, inputSchema = schema, annotations = hint)
        ) { request ->
            val key = request.params.arguments!!["key"]!!.jsonPrimitive.content
            count(name, key)
            run(this, request, key)
            text(if (name == "big") "x".repeat(1000000) else "$name $key")
        }
    }
    server.addResource(URI, "text", "", "text/plain") { _ ->
        ReadResourceResult(
            listOf(TextResourceContents("text", URI, "text/plain"))
        )
    }
    val name = PromptArgument("name", null, false)
    server.addPrompt("hello", "", listOf(name)) { request ->
        val said = "hello " + request.params.arguments?.get("name")
        GetPromptResult(
            messages = listOf(PromptMessage(Role.User, TextContent(said)))
        )
    }
    servers.add(server)
    return server
}

fun main(args: Array<String>) {
    if (args[0] == "modes") {
        println(MODES)
        return
    }
    folder = File(args[2])
    mode = args[3].split(",").toSet()
    embeddedServer(CIO, configure = {
        connector {
            host = "127.0.0.1"
            port = args[0].toInt()
        }
        if ("keepalive" in mode)
            connectionIdleTimeoutSeconds = 1
    }) {
        if ("stateless" in mode)
            mcpStatelessStreamableHttp { newServer() }
        else
            mcpStreamableHttp { newServer() }
    }.start(wait = true)
}
