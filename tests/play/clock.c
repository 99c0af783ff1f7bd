/* Time passes; see play.h. */
#include "config.h"

#include "play/play.h"

enum { NEVER_ENDS = 100000, AT_ONCE = 8 };

static void
tick(struct play *p)
{
	struct event in = { .kind = INPUT_TICK };

	play_step(p, &in);
}

void
play_wait(struct play *p, int64_t ms)
{
	int64_t until = p->now + ms, at;
	unsigned n = 0, idle = 0;
	size_t before;

	while ((at = p->reducer->deadline(p)) <= until && p->status < 0) {
		before = p->out.n;
		idle = at > p->now ? 0 : idle + 1;
		if (at > p->now)
			p->now = at;
		tick(p);
		if (p->out.n > before)
			idle = 0;
		p->spins = idle == AT_ONCE || ++n == NEVER_ENDS;
		if (p->spins) {
			buf_adds(&p->out, "the timer never rests\n");
			break;
		}
	}
	p->now = until;
}
