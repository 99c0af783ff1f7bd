// What the clients of Java share: what ../client.py says.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class Host {
	// A client of an SDK whose server runs.
	interface Talk {
		String revision();
		String list() throws Exception;
		String call(String tool, String key) throws Exception;
		void end() throws Exception;
	}

	static synchronized void say(String members) {
		System.out.println("{" + members + "}");
		System.out.flush();
	}

	static void note(String method) {
		say("\"note\":" + quoted(method));
	}

	// A string of JSON.
	static String quoted(String text) {
		StringBuilder out = new StringBuilder("\"");
		for (char c : String.valueOf(text).toCharArray())
			if (c == '"' || c == '\\' || c < ' ')
				out.append(String.format("\\u%04x", (int)c));
			else
				out.append(c);
		return out.append('"').toString();
	}

	// A member of an order, which has no more than numbers and plain strings.
	static String member(String order, String name) {
		Matcher m = Pattern.compile("\"" + name + "\": *\"?([^\",}]*)")
		    .matcher(order);
		return m.find() ? m.group(1) : null;
	}

	static void follow(Talk talk, String order) {
		String id = "\"id\":" + member(order, "id");
		String tool = member(order, "tool");
		try {
			say(id + ",\"text\":" + quoted(tool == null ? talk.list()
			    : talk.call(tool, member(order, "key"))));
		} catch (Exception e) {
			say(id + ",\"error\":" + quoted(e.getMessage()));
		}
	}

	static void run(Talk talk, String... more) throws Exception {
		say("\"hello\":" + quoted(talk.revision())
		    + String.join("", more));
		BufferedReader in = new BufferedReader(
		    new InputStreamReader(System.in));
		List<Thread> running = new ArrayList<>();
		for (String line; (line = in.readLine()) != null;) {
			String order = line;
			Thread thread = new Thread(() -> follow(talk, order));
			thread.start();
			running.add(thread);
		}
		for (Thread thread : running)
			thread.join();
		talk.end();
		System.exit(0);                 // its threads may live on
	}
}
