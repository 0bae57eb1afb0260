// A poor cable between two TAP devices: delay, jitter, loss, duplication and a rate limit, in user space and seeded,
// because not every kernel has netem. Each direction draws from its own generator, so the fate of the n-th frame of a
// direction depends on the seed alone. Frames never overtake each other: jitter only delays.
//
//   linkem --node TAP --switch TAP --pid-file FILE [--delay MS] [--jitter MS] [--loss PERCENT] [--duplicate PERCENT]
//          [--rate MBIT] [--seed N]
//
// Goes into the background once both devices are open; what can fail has failed by then, on standard error.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_BYTES_MAX = 65536, FRAMES_PER_TURN = 64 };
// What a direction holds at most; a gigabit with 500 ms of delay fits.
static const size_t QUEUE_BYTES_MAX = 64u << 20;
// How long frames wait for a rate-limited cable before the newest is dropped, as in a router with that much buffer.
static const int64_t RATE_QUEUE_NANOSECONDS_MAX = 200000000;

typedef struct Frame {
    struct Frame *next;
    int64_t due_nanoseconds;
    size_t size;
    unsigned char bytes[];
} Frame;

typedef struct {
    int from, to;
    uint64_t chance;             // state of the generator
    int64_t free_nanoseconds;    // when the last bit of the newest frame has left a rate-limited cable
    int64_t newest_due_nanoseconds;
    size_t queued_bytes;
    Frame *first, **last;
} Direction;

typedef struct {
    const char *node, *hub, *pid_file;
    double delay_ms, jitter_ms, loss_percent, duplicate_percent, rate_mbit;
    uint64_t seed;
} Options;

static int64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// SplitMix64 (Steele, Lea, Flood 2014), as a fraction of one.
static double draw(Direction *direction) {
    uint64_t z = (direction->chance += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static int open_tap(const char *name) {
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0) {
        fprintf(stderr, "linkem: cannot open the TAP device %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return tap;
}

static void enqueue(Direction *direction, const unsigned char *bytes, size_t size, int64_t due) {
    if (direction->queued_bytes + size > QUEUE_BYTES_MAX) return;
    Frame *frame = malloc(sizeof *frame + size);
    if (!frame) return;
    *frame = (Frame){.due_nanoseconds = due, .size = size};
    memcpy(frame->bytes, bytes, size);
    *direction->last = frame;
    direction->last = &frame->next;
    direction->queued_bytes += size;
}

// Decides the fate of one frame. Always draws the same number of times, so that changing one option does not move the
// others' luck.
static void admit(Direction *direction, const Options *options, const unsigned char *bytes, size_t size) {
    bool lost = draw(direction) * 100 < options->loss_percent;
    bool twice = draw(direction) * 100 < options->duplicate_percent;
    double jitter_ms = draw(direction) * options->jitter_ms;
    if (lost) return;
    int64_t leaves = now_nanoseconds();
    if (options->rate_mbit > 0) {
        if (direction->free_nanoseconds - leaves > RATE_QUEUE_NANOSECONDS_MAX) return;
        if (direction->free_nanoseconds > leaves) leaves = direction->free_nanoseconds;
        leaves += (int64_t)((double)size * 8000 / options->rate_mbit);
        direction->free_nanoseconds = leaves;
    }
    int64_t due = leaves + (int64_t)((options->delay_ms + jitter_ms) * 1e6);
    if (due < direction->newest_due_nanoseconds) due = direction->newest_due_nanoseconds;
    direction->newest_due_nanoseconds = due;
    enqueue(direction, bytes, size, due);
    if (twice) enqueue(direction, bytes, size, due);
}

static void receive(Direction *direction, const Options *options) {
    static unsigned char bytes[FRAME_BYTES_MAX];
    for (int turn = 0; turn < FRAMES_PER_TURN; turn++) {
        ssize_t size = read(direction->from, bytes, sizeof bytes);
        if (size <= 0) return;
        admit(direction, options, bytes, (size_t)size);
    }
}

static void deliver(Direction *direction, int64_t now) {
    while (direction->first && direction->first->due_nanoseconds <= now) {
        Frame *frame = direction->first;
        // A device that does not take it drops it, as any cable would.
        if (write(direction->to, frame->bytes, frame->size) < 0 && errno == EINTR) continue;
        direction->first = frame->next;
        if (!direction->first) direction->last = &direction->first;
        direction->queued_bytes -= frame->size;
        free(frame);
    }
}

static void run(Direction directions[2], const Options *options) {
    for (;;) {
        int64_t now = now_nanoseconds(), due = INT64_MAX;
        for (int i = 0; i < 2; i++) {
            deliver(&directions[i], now);
            if (directions[i].first && directions[i].first->due_nanoseconds < due) due = directions[i].first->due_nanoseconds;
        }
        int64_t wait = due > now ? due - now : 0;
        struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
        struct pollfd polled[2] = {{.fd = directions[0].from, .events = POLLIN}, {.fd = directions[1].from, .events = POLLIN}};
        if (ppoll(polled, 2, due == INT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR) exit(1);
        for (int i = 0; i < 2; i++) {
            // The device is gone: so is the cable.
            if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) exit(0);
            if (polled[i].revents & POLLIN) receive(&directions[i], options);
        }
    }
}

static double number(const char *name, const char *text, double most) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0) || value > most) {
        fprintf(stderr, "linkem: --%s %s is not a number from 0 to %g\n", name, text, most);
        exit(2);
    }
    return value;
}

static Options parse(int count, char **arguments) {
    static const struct option known[] = {{"node", 1, 0, 'n'}, {"switch", 1, 0, 's'}, {"pid-file", 1, 0, 'f'}, {"delay", 1, 0, 'd'},
        {"jitter", 1, 0, 'j'}, {"loss", 1, 0, 'l'}, {"duplicate", 1, 0, 'u'}, {"rate", 1, 0, 'r'}, {"seed", 1, 0, 'e'}, {0}};
    Options options = {.seed = 1};
    for (int option; (option = getopt_long(count, arguments, "", known, NULL)) != -1;) switch (option) {
        case 'n': options.node = optarg; break;
        case 's': options.hub = optarg; break;
        case 'f': options.pid_file = optarg; break;
        case 'd': options.delay_ms = number("delay", optarg, 60000); break;
        case 'j': options.jitter_ms = number("jitter", optarg, 60000); break;
        case 'l': options.loss_percent = number("loss", optarg, 100); break;
        case 'u': options.duplicate_percent = number("duplicate", optarg, 100); break;
        case 'r': options.rate_mbit = number("rate", optarg, 100000); break;
        case 'e': options.seed = (uint64_t)number("seed", optarg, 9e15); break;
        default: exit(2);
    }
    if (!options.node || !options.hub || !options.pid_file) {
        fprintf(stderr, "linkem: --node, --switch and --pid-file are needed\n");
        exit(2);
    }
    return options;
}

// /proc belongs to the outermost process namespace, so `self` there is the number the caller knows us by.
static void write_pid(const char *path) {
    char pid[32];
    ssize_t size = readlink("/proc/self", pid, sizeof pid - 1);
    FILE *file = fopen(path, "w");
    if (size <= 0 || !file || fprintf(file, "%.*s\n", (int)size, pid) < 0 || fclose(file) != 0) exit(1);
}

int main(int count, char **arguments) {
    // It outlives its caller and must hold nothing of it, least of all a lock.
    close_range(3, ~0u, 0);
    Options options = parse(count, arguments);
    int node = open_tap(options.node), hub = open_tap(options.hub);
    Direction directions[2] = {{.from = node, .to = hub, .chance = options.seed * 2}, {.from = hub, .to = node, .chance = options.seed * 2 + 1}};
    for (int i = 0; i < 2; i++) directions[i].last = &directions[i].first;
    if (daemon(0, 0) != 0) return 1;
    write_pid(options.pid_file);
    run(directions, &options);
}
