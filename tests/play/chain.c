/* Plays the chain: core/modern_client, session and core/server in a row. */
#include "config.h"

#include <stdlib.h>

#include "core/chain.h"
#include "play/server.h"
#include "play/session.h"

struct own {
	struct chain_config config;
	struct chain *chain;
};

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);

	session_defaults(&own->config.session);
	p->own = own;
}

static bool
option(struct play *p, const char *word)
{
	struct own *own = p->own;

	return session_option(p, &own->config.session, word) ||
	    server_option(&own->config.server, word);
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->chain = chain_new(&own->config);
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	chain_free(own->chain);
	free(own);
}

static bool
step(struct play *p, struct event *in)
{
	struct own *own = p->own;

	in->random = ++p->random;
	in->secret[0] = 1;
	in->secret[1] = p->random;
	chain_step(own->chain, in);
	return true;
}

PLAY_CALLS(chain)

const struct reducer play_chain = {
	.name = "chain",
	.tells = TELLS_WRITES | TELLS_VERSIONS | TELLS_MIRRORED |
	    TELLS_ENDPOINT,
	.aborts_anything = true,
	.begin = begin,
	.option = option,
	.start = start,
	.free = end,
	.step = step,
	.next = next,
	.deadline = deadline,
	.describe = describe,
};
