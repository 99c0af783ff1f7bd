/*
 * What the tests of io/http play with. Each server is a thread that accepts
 * on loopback, with one thread per connection that runs a script; a client is
 * a loop with an http on it that counts what comes back.
 */
#ifndef MCPSPLICE_TESTS_UNIT_IO_HTTP_PLAY_H
#define MCPSPLICE_TESTS_UNIT_IO_HTTP_PLAY_H

#include <stdatomic.h>

#include <pthread.h>

#include "base/mem.h"
#include "io/http.h"
#include "unit/unit.h"

enum {
	GUARD_MS = 20000, /* a test that waits longer hangs */
	HEAD_MAX = 256 * 1024
};

struct server;

struct conn {
	struct server *s;
	int fd;
	int serial; /* from 1, in the order of accept */
	char *in;   /* what was read and not consumed */
	size_t n;
	char *head; /* of the request, ends with an empty line */
	char *body;
	size_t body_n;
	size_t reads; /* read calls that the last request took */
};

struct server {
	int fd;
	int port;
	pthread_t thread;
	void (*script)(struct conn *c);
	atomic_int accepted, requests, alive;
	atomic_long pushed; /* bytes of the large answer */
	int variant;
	char seen[HEAD_MAX]; /* head of the first request */
};

struct client {
	struct loop *l;
	struct http *h;
	struct loop_timer *guard, *nap;
	int waiting; /* calls without done */
};

struct call {
	struct client *c;
	struct transfer *x;
	int heads, dones;
	int status; /* as head said it */
	struct http_answer answer;
	char why[512];
	struct buf body;
	bool discard; /* count the body, do not keep it */
	size_t bytes;
	uint32_t sum;
	/* What a test wants to happen there. */
	void (*on_head)(struct call *);
	bool (*on_data)(struct call *);
	void (*on_done)(struct call *);
	struct call *other;
	int round;
};

extern const struct http_config defaults;

void pause_ms(int ms);
int64_t now_ms(void);
/* Returns false when the peer is gone. */
bool push(struct conn *c, const void *p, size_t n);
bool say(struct conn *c, const char *text);
bool say_ok(struct conn *c, const char *body);
/* One more read into c->in; false at the end. */
bool pull(struct conn *c);
size_t content_length(const char *head);
/* Reads the head of a request; false when there is no more. */
bool read_head(struct conn *c);
bool read_request(struct conn *c);
bool wants(const struct conn *c, const char *path);
struct server *server_on(int fd, void (*script)(struct conn *c));
int bound_socket(int *port);
struct server *server_new(void (*script)(struct conn *c));
/* The clients are gone by now, so each script comes to its end. */
void server_free(struct server *s);
struct client *client_with(const struct http_config *config);
struct client *client_new(void);
void client_free(struct client *c);
/* Runs until no call is open. */
void client_wait(struct client *c);
/* Runs for so long. */
void client_nap(struct client *c, int ms);
/* Runs until *flag is not 0. */
void client_until(struct client *c, const int *flag);
void call_request(struct call *k, struct client *c,
    const struct http_request *r);
/* A URL of the server; good until the fourth next call. */
const char *url_on(const struct server *s, const char *path);
void call_post(struct call *k, struct client *c, const char *url,
    const char *body);
void call_get(struct call *k, struct client *c, const char *url);
/* One request from start to end. */
void post(struct call *k, struct client *c, const char *url, const char *body);
void get(struct call *k, struct client *c, const char *url);
/* It is over, in this way, and the server may have seen it or not. */
void ended(const struct call *k, enum http_end end, bool sent);
/* It is over, with 200 and this body. */
void is_ok(struct call *k, const char *body);
/* Scripts. Each request is answered with its body; or the first one never;
 * or each after 30 ms; or with an event stream that stays open for "/stream"
 * and its body for another path. */
void script_echo(struct conn *c);
void script_silent(struct conn *c);
void script_slow_echo(struct conn *c);
void script_stream(struct conn *c);
/* An on_head: it came from loopback. */
void check_peer(struct call *k);

/* The main of a test program: each group becomes a test case. Returns the
 * exit status. */
struct play_group {
	const char *name;
	void (*add)(TCase *t);
};
int play_main(const char *suite, const struct play_group *groups, int n);

#endif
