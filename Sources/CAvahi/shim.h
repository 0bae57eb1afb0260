#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
/* What the thread that talks to Avahi also waits for, and which the Swift overlay of the C library leaves out. */
#include <linux/rtnetlink.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
