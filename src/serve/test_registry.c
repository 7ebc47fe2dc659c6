/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "serve/registry.h"
#include "serve/serve.h"

static char own[64];

static void use_own_registry(void)
{
	strcpy(own, "/tmp/tare-registry-XXXXXX");
	CHECK(mkdtemp(own));
	setenv("TARE_RUNTIME_DIR", own, 1);
}

struct seen {
	pid_t pid;
	int count;
	struct registry_entry entry;
};

static int look_for(void *ctx, const struct registry_entry *entry)
{
	struct seen *seen = ctx;

	if (entry->pid == seen->pid) {
		seen->entry = *entry;
		seen->count++;
	}
	return 0;
}

/* An entry of a process that has ended. */
static void make_dead_entry(struct registry_entry *entry, const char *directory)
{
	pid_t child;
	int status;

	usleep(30000);	/* start times count in hundredths: the child's shall differ from ours */
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	registry_entry_init(entry);
	entry->pid = child;		/* with our start time: nobody's that runs */
	snprintf(entry->directory, sizeof(entry->directory), "%s", directory);
	CHECK(!registry_is_running(entry));	/* the pid alone is no proof */
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

static void an_entry_comes_back_as_it_was(void)
{
	struct registry_entry entry;
	struct seen seen = { .pid = getpid() };

	use_own_registry();
	registry_entry_init(&entry);
	CHECK(registry_is_running(&entry));
	strcpy(entry.directory, "/tmp/with \"quotes\" and \\");
	entry.loop = 7;
	entry.made_directory = true;
	CHECK_EQ(registry_write(&entry, NULL), 0);
	entry.loop = 8;
	CHECK_EQ(registry_write(&entry, NULL), 0);	/* replaces */
	CHECK_EQ(registry_each(look_for, &seen, NULL), 0);
	CHECK_EQ(seen.count, 1);
	CHECK_STR(seen.entry.directory, entry.directory);
	CHECK_EQ(seen.entry.loop, 8);
	CHECK(seen.entry.made_directory);
	CHECK(seen.entry.start_ticks == entry.start_ticks);
	registry_remove(&entry);
	seen.count = 0;
	CHECK_EQ(registry_each(look_for, &seen, NULL), 0);
	CHECK_EQ(seen.count, 0);
	CHECK_EQ(rmdir(own), 0);
}

static void others_may_not_write_it(void)
{
	struct registry_entry entry;

	use_own_registry();
	CHECK_EQ(chmod(own, 0777), 0);
	registry_entry_init(&entry);
	CHECK_EQ(registry_write(&entry, NULL), -EPERM);
	rmdir(own);
}

static void cleaning_removes_what_the_dead_left_and_nothing_else(void)
{
	char made[] = "/tmp/tare-test-XXXXXX", kept[] = "/tmp/tare-test-XXXXXX";
	struct registry_entry dead, dead_kept, running;
	struct seen seen = { 0 };

	use_own_registry();
	CHECK(mkdtemp(made) && mkdtemp(kept));
	make_dead_entry(&dead, made);
	dead.made_directory = true;
	make_dead_entry(&dead_kept, kept);
	registry_entry_init(&running);
	strcpy(running.directory, kept);
	CHECK_EQ(registry_write(&dead, NULL), 0);
	CHECK_EQ(registry_write(&dead_kept, NULL), 0);
	CHECK_EQ(registry_write(&running, NULL), 0);
	CHECK_EQ(serve_clean(NULL, NULL, NULL), 2);
	CHECK(access(made, F_OK) != 0);
	CHECK(access(kept, F_OK) == 0);		/* it was not made by the server */
	seen.pid = dead.pid;
	registry_each(look_for, &seen, NULL);
	CHECK_EQ(seen.count, 0);
	seen.pid = running.pid;
	registry_each(look_for, &seen, NULL);
	CHECK_EQ(seen.count, 1);
	registry_remove(&running);
	rmdir(kept);
	CHECK_EQ(rmdir(own), 0);	/* nothing else is left in it */
}

TESTS(
	TEST(an_entry_comes_back_as_it_was),
	TEST(others_may_not_write_it),
	TEST(cleaning_removes_what_the_dead_left_and_nothing_else),
)
