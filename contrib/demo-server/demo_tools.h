/* The demo server's tools and answers. */
#ifndef MCPSPLICE_DEMO_TOOLS_H
#define MCPSPLICE_DEMO_TOOLS_H

#include <stdbool.h>

#include <json-c/json.h>

/* A response for id (kept by a reference of its own; NULL is null). */
struct json_object *demo_result(struct json_object *id,
    struct json_object *result); /* takes result */
struct json_object *demo_error(struct json_object *id, int code,
    const char *text);

/* Does the server speak this revision? NULL is none. */
bool demo_version_known(const char *version);
/* The result of initialize. */
struct json_object *demo_initialize(struct json_object *params);
/* The response to any other request. *delay_ms is set when it is not for
 * now. */
struct json_object *demo_serve(const char *method, struct json_object *id,
    struct json_object *params, long *delay_ms);

#endif
