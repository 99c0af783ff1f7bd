"""Chaos, end to end: the program, a client that asks, cancels and answers, and
a server that does everything wrong.  chaos.py has the client and the rules,
and says how a seed is played again; contrib/check gives it a minute.
"""

import chaos
import support
from chaosserver import Chaos

SIDE_BY_SIDE = 6


class Rounds(chaos.Rounds):
    def make(self, seed):
        return chaos.Round(self, seed, Chaos(seed))

    @support.alone
    def test_chaos(self):
        self.rounds(self.make, SIDE_BY_SIDE)


if __name__ == "__main__":
    chaos.main()
