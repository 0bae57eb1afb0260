#include "CPages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// As resources that the package manager embeds, these files take three quarters of a minute to compile: it writes each as a
// literal array of Swift. `#embed` takes none.
#define PAGE(name) const struct lanyard_page lanyard_##name = {name, sizeof name};

static const uint8_t index_html[] = {
#embed "../ControlServer/Dashboard/Page/index.html"
};
PAGE(index_html)

static const uint8_t signed_out_html[] = {
#embed "../ControlServer/Dashboard/Page/signed-out.html"
};
PAGE(signed_out_html)

static const uint8_t dashboard_css[] = {
#embed "../ControlServer/Dashboard/Page/dashboard.css"
};
PAGE(dashboard_css)

static const uint8_t program_js[] = {
#embed "../ControlServer/Dashboard/Page/program.js"
};
PAGE(program_js)

static const uint8_t agent_js[] = {
#embed "../ControlServer/Dashboard/Page/agent.js"
};
PAGE(agent_js)

static const uint8_t words_js[] = {
#embed "../ControlServer/Dashboard/Page/words.js"
};
PAGE(words_js)

static const uint8_t elements_js[] = {
#embed "../ControlServer/Dashboard/Page/elements.js"
};
PAGE(elements_js)

static const uint8_t home_js[] = {
#embed "../ControlServer/Dashboard/Page/home.js"
};
PAGE(home_js)

static const uint8_t mesh_js[] = {
#embed "../ControlServer/Dashboard/Page/mesh.js"
};
PAGE(mesh_js)

static const uint8_t feed_js[] = {
#embed "../ControlServer/Dashboard/Page/feed.js"
};
PAGE(feed_js)

static const uint8_t transfers_js[] = {
#embed "../ControlServer/Dashboard/Page/transfers.js"
};
PAGE(transfers_js)

static const uint8_t decisions_js[] = {
#embed "../ControlServer/Dashboard/Page/decisions.js"
};
PAGE(decisions_js)

static const uint8_t contents_js[] = {
#embed "../ControlServer/Dashboard/Page/contents.js"
};
PAGE(contents_js)

static const uint8_t object_js[] = {
#embed "../ControlServer/Dashboard/Page/object.js"
};
PAGE(object_js)

static const uint8_t values_js[] = {
#embed "../ControlServer/Dashboard/Page/values.js"
};
PAGE(values_js)

static const uint8_t scroll_js[] = {
#embed "../ControlServer/Dashboard/Page/scroll.js"
};
PAGE(scroll_js)

static const uint8_t devices_js[] = {
#embed "../ControlServer/Dashboard/Page/devices.js"
};
PAGE(devices_js)

static const uint8_t pairing_js[] = {
#embed "../ControlServer/Dashboard/Page/pairing.js"
};
PAGE(pairing_js)

static const uint8_t health_js[] = {
#embed "../ControlServer/Dashboard/Page/health.js"
};
PAGE(health_js)

static const uint8_t openapi_json[] = {
#embed "../ControlServer/OpenAPI/openapi.json"
};
PAGE(openapi_json)
