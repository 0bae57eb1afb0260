#ifndef LANYARD_CPAGES_H
#define LANYARD_CPAGES_H

#include <stddef.h>
#include <stdint.h>

/// A file of `Sources/ControlServer` that is part of the program. A new one has a line below, and four in `CPages.c`.
struct __attribute__((swift_attr("@Sendable"))) lanyard_page {
    const uint8_t *bytes;
    size_t count;
};

extern const struct lanyard_page lanyard_index_html;
extern const struct lanyard_page lanyard_signed_out_html;
extern const struct lanyard_page lanyard_dashboard_css;
extern const struct lanyard_page lanyard_program_js;
extern const struct lanyard_page lanyard_agent_js;
extern const struct lanyard_page lanyard_words_js;
extern const struct lanyard_page lanyard_elements_js;
extern const struct lanyard_page lanyard_home_js;
extern const struct lanyard_page lanyard_mesh_js;
extern const struct lanyard_page lanyard_feed_js;
extern const struct lanyard_page lanyard_transfers_js;
extern const struct lanyard_page lanyard_decisions_js;
extern const struct lanyard_page lanyard_contents_js;
extern const struct lanyard_page lanyard_object_js;
extern const struct lanyard_page lanyard_values_js;
extern const struct lanyard_page lanyard_scroll_js;
extern const struct lanyard_page lanyard_devices_js;
extern const struct lanyard_page lanyard_pairing_js;
extern const struct lanyard_page lanyard_health_js;
extern const struct lanyard_page lanyard_openapi_json;

#endif
