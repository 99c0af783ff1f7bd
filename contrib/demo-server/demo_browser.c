/*
 * A browser without a window, for contrib/demo: gets the page at a URL and
 * follows its redirects. It prints that it was opened, and what went wrong.
 */
#include "config.h"

#include <stdio.h>

#include <curl/curl.h>

#define SECONDS 30L

/* Nobody reads the page. */
static size_t
on_data(char *p, size_t size, size_t n, void *arg)
{
	(void)p;
	(void)arg;
	return size * n;
}

int
main(int argc, char **argv)
{
	CURLcode e;
	CURL *c;

	if (argc != 2) {
		fputs("usage: demo_browser URL\n", stderr);
		return 2;
	}
	puts("browser: opened");
	fflush(stdout);
	c = curl_easy_init();
	if (c == NULL)
		return 1;
	curl_easy_setopt(c, CURLOPT_URL, argv[1]);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, SECONDS);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
	e = curl_easy_perform(c);
	if (e != CURLE_OK)
		printf("browser: %s\n", curl_easy_strerror(e));
	curl_easy_cleanup(c);
	return e != CURLE_OK;
}
