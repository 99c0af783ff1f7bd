/* Messages in few words; see message.h. */
#include "config.h"

#include "play/message.h"

#include "play/words.h"

static void
add_error(struct buf *b, const char *text)
{
	struct buf code;

	buf_init(&code, 0);
	words_next(&text, &code);
	buf_addf(b, ",\"error\":{\"code\":%s,\"message\":\"%s\"}}", code.p,
	    text);
	buf_free(&code);
}

void
message_of_client(struct buf *b, const char *text)
{
	struct buf word;

	buf_init(&word, 0);
	words_next(&text, &word);
	buf_adds(b, "{\"jsonrpc\":\"2.0\"");
	if (strcmp(word.p, "answer") == 0) {
		words_next(&text, &word);
		buf_addf(b, ",\"id\":%s,\"result\":%s}", word.p,
		    *text == '\0' ? "{}" : text);
	} else if (strcmp(word.p, "refuse") == 0) {
		words_next(&text, &word);
		buf_addf(b, ",\"id\":%s", word.p);
		add_error(b, text);
	} else {
		buf_addf(b, ",\"method\":\"%s\"", word.p);
		if (*text != '{' && words_next(&text, &word))
			buf_addf(b, ",\"id\":%s", word.p);
		if (*text != '\0')
			buf_addf(b, ",\"params\":%s", text);
		buf_addc(b, '}');
	}
	buf_free(&word);
}

/* The id behind "ok=" or "err=", else this one. */
static void
add_id(struct buf *b, const char *word, struct span id)
{
	const char *own = strchr(word, '=');

	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (own != NULL)
		buf_adds(b, own + 1);
	else
		buf_addspan(b, id);
}

static void
add_question(struct buf *b, const char *text)
{
	struct buf id;

	buf_init(&id, 0);
	words_next(&text, &id);
	buf_addf(b,
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{}}",
	    id.p, text);
	buf_free(&id);
}

static bool
is_word(const char *word, const char *name)
{
	return strcmp(word, name) == 0 || words_value(word, name) != NULL;
}

bool
message_of_server(struct buf *b, struct span id, const char *text)
{
	struct buf word;
	bool known = true;

	if (id.n == 0)
		id = span_of("null");
	if (*text == '{') {
		for (; *text != '\0'; text++)
			if (*text == '$')
				buf_addspan(b, id);
			else
				buf_addc(b, *text);
		return true;
	}
	buf_init(&word, 0);
	words_next(&text, &word);
	if (is_word(word.p, "ok")) {
		add_id(b, word.p, id);
		buf_addf(b, ",\"result\":%s}", *text == '\0' ? "{}" : text);
	} else if (is_word(word.p, "err")) {
		add_id(b, word.p, id);
		add_error(b, text);
	} else if (strcmp(word.p, "ask") == 0) {
		add_question(b, text);
	} else if (strcmp(word.p, "note") == 0) {
		message_of_client(b, text);
	} else {
		known = false;
	}
	buf_free(&word);
	return known;
}
