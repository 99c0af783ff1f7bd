/* What came of a part of a login, or unasked. */
#ifndef MCPSPLICE_SIGNIN_OUTCOME_H
#define MCPSPLICE_SIGNIN_OUTCOME_H

/* What an action came to. */
enum login_outcome {
	CAME_DONE,    /* as it was to be */
	CAME_STOPPED, /* whatever is waited for: nobody wants it any more */
	CAME_TIME,    /* that of a wait, or of an action, is over */
	CAME_LOADED,  /* of the record */
	CAME_BROKEN,  /* it will not work here; why */
	CAME_LOCKED,  /* login_lock_* */
	CAME_BUSY,    /* somebody else has the lock, or the port; why */
	CAME_SAVED,   /* login_save */
	CAME_UNKEPT,  /* the store did not take it, for the reason why */
	CAME_FOUND,   /* login_discover */
	CAME_NOT_NOW, /* nothing was found, but later there may be; why */
	CAME_LOOKED,  /* login_watch: stamp, shown, tab_at */
	/* of a request */
	CAME_UNABLE,     /* it could not be made; why */
	CAME_IMPOSSIBLE, /* we refuse to send it, or it would be refused
			   * each time; why, again_ms */
	CAME_UNREADY,    /* no answer, or one of the moment; why, again_ms */
	CAME_UNREACHED,  /* login_refresh: it did not get to its server; why,
			   * again_ms */
	CAME_LOST,       /* login_refresh: the connection broke when the request
			   * had gone out; why, again_ms */
	CAME_TOKEN,      /* it is in the record, but not stored */
	CAME_DEAD_GRANT, /* invalid_grant; why */
	CAME_DEAD_CLIENT, /* invalid_client; why */
	CAME_PENDING,     /* the user has not entered the device code yet */
	CAME_SLOW_DOWN,
	CAME_TRANSIENT,    /* an error of the moment; why */
	CAME_REFUSED,      /* any other error; why */
	CAME_REGISTERED,   /* login_register */
	CAME_BAD_REDIRECT, /* a name of loopback may do where its address
			    * did not */
	CAME_NO_DOCUMENT,  /* what was answered, or refused, is no JSON; why */
	CAME_CODE_SHOWN,   /* login_device: life_s, interval_s */
	CAME_NO_IDENTITY,  /* login_grant: there is no ID token, or it is
			    * dead; why */
	/* These come unasked. */
	CAME_CODE,           /* the redirect brought a code */
	CAME_DENIED,         /* it brought an error; why */
	CAME_BAD_SCOPE,      /* it brought an error: the scopes that nobody
			      * named are refused, and forgotten now */
	CAME_FOREIGN,        /* it is of another issuer */
	CAME_TIMEOUT,        /* login_timeout is over */
	CAME_CANCELLED,      /* "mcpsplice logout" ended it */
	CAME_BROWSER_FAILED, /* it could not be started */
	CAME_OUTCOMES
};

#endif
