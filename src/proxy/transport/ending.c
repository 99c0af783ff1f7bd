#include "config.h"

#include "proxy/transport/ending.h"

enum ending
ending_of(enum http_end end)
{
	switch (end) {
	case HTTP_DONE:
		return ENDING_COMPLETE;
	case HTTP_CUT:
		return ENDING_CUT;
	case HTTP_IDLE:
		return ENDING_IDLE;
	case HTTP_ABORTED:
		return ENDING_ABORTED;
	case HTTP_RESOLVE:
		return ENDING_RESOLVE;
	case HTTP_CONNECT:
		return ENDING_CONNECT;
	case HTTP_TLS:
		return ENDING_TLS;
	case HTTP_PROXY:
		return ENDING_PROXY;
	case HTTP_CONFIG:
	case HTTP_REFUSED:
		break;
	}
	return ENDING_CONFIG;
}
