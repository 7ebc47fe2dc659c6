/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "target/counters.h"
#include "target/target.h"

static char directory[64];

static const char *make_file(const char *name, size_t bytes)
{
	static char path[128];
	int fd;

	snprintf(directory, sizeof(directory), "/tmp/tare-target-XXXXXX");
	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK_EQ(ftruncate(fd, (off_t)bytes), 0);
	CHECK_EQ(pwrite(fd, "mine", bytes < 4 ? bytes : 4, 0), bytes < 4 ? bytes : 4);
	close(fd);
	return path;
}

static void remove_file(const char *path)
{
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(directory), 0);	/* nothing else was left there */
}

static int open_it(const struct target_request *request, struct target **ret, struct err *err)
{
	*err = (struct err){ 0 };
	*ret = NULL;
	return target_open(ret, request, err);
}

static void check_refusal(const struct target_request *request, int code, const char *text)
{
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(request, &target, &err), code);
	CHECK_STR(err.text, text);
	target_close(target);
}

static void null_has_the_size_it_is_given(void)
{
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(&(struct target_request){ .spec = "null:size=1g", .writes = true },
			 &target, &err),
		 0);
	CHECK_EQ(target->info.size_bytes, GIB);
	CHECK_EQ(target->info.kind, TARGET_NULL);
	CHECK_STR(target_kind_name(target->info.kind), "null");
	CHECK(target->queue != NULL);
	target_close(target);
	check_refusal(&(struct target_request){ .spec = "null:size=0" }, -EINVAL,
		      "null: size is less than one block of 4096 bytes");
	check_refusal(&(struct target_request){ .spec = "null:1g" }, -EINVAL,
		      "null: '1g' lacks its value; write key=value");
	check_refusal(&(struct target_request){ .spec = "null:", .need_bytes = 2 * TIB }, -EFBIG,
		      "null: has 1099511627776 bytes, and 2199023255552 are needed; tare does not "
		      "extend it");
}

static void null_completes_everything_in_order_and_at_once(void)
{
	struct clock clock;
	const struct queue_options options = { .depth_count = 3, .clock = &clock };
	struct io ios[3] = {
		{ .tag = 2, .kind = IO_READ, .length_bytes = 4096 },
		{ .tag = 0, .kind = IO_WRITE, .length_bytes = 512 },
		{ .tag = 1, .kind = IO_FSYNC },
	};
	struct io_done reaped[3];
	struct target *target;
	struct queue *queue;
	struct err err;

	clock_init_real(&clock);
	CHECK_EQ(open_it(&(struct target_request){ .spec = "null:" }, &target, &err), 0);
	CHECK_EQ(target->queue->open(&queue, target, &options, &err), 0);
	for (int round = 0; round < 5; round++) {	/* the ring wraps */
		queue->ops->push(queue, ios, 3);
		CHECK_EQ(queue->ops->reap(queue, reaped, 1, 2, NEVER_NS), 2);
		CHECK_EQ(reaped[0].tag, 2);
		CHECK_EQ(reaped[0].result, 4096);
		CHECK_EQ(reaped[1].tag, 0);
		CHECK_EQ(reaped[1].result, 512);
		CHECK_EQ(queue->ops->reap(queue, reaped, 1, 3, NEVER_NS), 1);
		CHECK_EQ(reaped[0].tag, 1);
		CHECK_EQ(reaped[0].result, 0);
		CHECK_EQ(queue->ops->reap(queue, reaped, 1, 3, NEVER_NS), 0);
	}
	queue->ops->close(queue);
	target_close(target);
}

static void what_makes_no_sense_is_one_sentence(void)
{
	check_refusal(&(struct target_request){ .spec = "" }, -EINVAL,
		      "the target is empty; name a directory, a file or a device");
	check_refusal(&(struct target_request){ .spec = "nul:size=1g" }, -EINVAL,
		      "nul:size=1g: no such file, and no kind of target is called 'nul'");
	check_refusal(&(struct target_request){ .spec = "PHYSICALDRIVE:3", .writes = true },
		      -EINVAL,
		      "PHYSICALDRIVE:3: no such file, and no kind of target is called "
		      "'PHYSICALDRIVE'");
	check_refusal(&(struct target_request){ .spec = "/dev/ nvme7n1p1", .writes = true },
		      -ENOENT,
		      "/dev/ nvme7n1p1: no such file or directory; tare does not create it");
	check_refusal(&(struct target_request){ .spec = "/dev/nvme9n9", .writes = true,
						.size_bytes = GIB },
		      -ENOENT, "/dev/nvme9n9: no such file or directory; tare does not create it");
	check_refusal(&(struct target_request){ .spec = "/dev/", .writes = true }, -EPERM,
		      "/dev is where device nodes live; no file is made or written there");
	check_refusal(&(struct target_request){ .spec = "/dev/tty", .writes = true }, -EINVAL,
		      "/dev/tty is a character device; of those only /dev/null and /dev/zero are "
		      "targets");
	CHECK(access("/dev/nvme9n9", F_OK) < 0);
}

static void reading_a_file_leaves_it_alone(void)
{
	const char *path = make_file("f", MIB);
	struct target *target;
	struct stat before, after;
	char want[256];
	struct err err;

	CHECK_EQ(stat(path, &before), 0);
	CHECK_EQ(open_it(&(struct target_request){ .spec = path }, &target, &err), 0);
	CHECK_EQ(target->info.kind, TARGET_FILE);
	CHECK_EQ(target->info.size_bytes, MIB);
	CHECK(!target->info.ours);
	CHECK_EQ(fcntl(target->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	target_close(target);
	snprintf(want, sizeof(want),
		 "%s has 1048576 bytes, and 1048577 are needed; tare does not extend it", path);
	check_refusal(&(struct target_request){ .spec = path, .need_bytes = MIB + 1 }, -EFBIG,
		      want);
	CHECK_EQ(stat(path, &after), 0);
	CHECK_EQ(after.st_size, before.st_size);
	CHECK_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
	CHECK_EQ(after.st_atim.tv_nsec, before.st_atim.tv_nsec);
	remove_file(path);
}

static void an_empty_file_is_refused(void)
{
	const char *path = make_file("empty", 0);
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(&(struct target_request){ .spec = path }, &target, &err), -EFBIG);
	CHECK_EQ(open_it(&(struct target_request){ .spec = path, .writes = true,
						   .expendable_path = path },
			 &target, &err),
		 -EFBIG);
	remove_file(path);
}

static void writing_a_file_needs_the_very_file_named(void)
{
	const char *path = make_file("f", MIB);
	struct target_request request = { .spec = path, .writes = true };
	char link[256], beside[256];
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(&request, &target, &err), -EPERM);
	request.expendable_path = "/etc/passwd";
	CHECK_EQ(open_it(&request, &target, &err), -EPERM);
	snprintf(beside, sizeof(beside), "%s.not", path);
	request.expendable_path = beside;
	CHECK_EQ(open_it(&request, &target, &err), -ENOENT);
	/* The same file by another name is the same file. */
	snprintf(link, sizeof(link), "%s.link", path);
	CHECK_EQ(symlink(path, link), 0);
	request.expendable_path = link;
	CHECK_EQ(open_it(&request, &target, &err), 0);
	CHECK_EQ(fcntl(target->fd, F_GETFL) & O_ACCMODE, O_RDWR);
	CHECK_EQ(target->info.size_bytes, MIB);
	target_close(target);
	CHECK_EQ(unlink(link), 0);
	remove_file(path);
}

static void a_file_that_a_program_has_locked_is_in_use(void)
{
	const char *path = make_file("image", MIB);
	const struct target_request request = { .spec = path,
						.writes = true,
						.expendable_path = path };
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1 };
	const int other = open(path, O_RDWR | O_CLOEXEC);
	struct target *target;
	struct err err;

	CHECK_EQ(fcntl(other, F_OFD_SETLK, &lock), 0);	/* as QEMU does with its images */
	CHECK_EQ(open_it(&request, &target, &err), -EBUSY);
	CHECK(strstr(err.text, "another program has it locked") != NULL);
	close(other);
	CHECK_EQ(open_it(&request, &target, &err), 0);
	target_close(target);
	remove_file(path);
}

static void a_directory_gets_a_file_that_vanishes(void)
{
	const char *path = make_file("f", 1);
	const struct target_request request = { .spec = directory, .size_bytes = 16 * MIB };
	struct target *target;
	struct stat st;
	struct err err;

	CHECK_EQ(open_it(&request, &target, &err), 0);
	CHECK_EQ(target->info.kind, TARGET_DIRECTORY);
	CHECK_EQ(target->info.size_bytes, 16 * MIB);
	CHECK(target->info.ours);
	CHECK(target->info.filesystem[0] != '\0');
	CHECK(target->info.mount_point[0] == '/');
	CHECK(target->info.free_bytes > 0);
	CHECK_EQ(fstat(target->fd, &st), 0);
	CHECK_EQ(st.st_size, 16 * MIB);
	CHECK_EQ(st.st_nlink, 0);
	target_close(target);
	remove_file(path);	/* the directory holds nothing else */
}

static void zero_reads_and_null_writes(void)
{
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(&(struct target_request){ .spec = "/dev/null", .writes = true }, &target,
			 &err),
		 0);
	CHECK_EQ(target->info.kind, TARGET_CHAR);
	CHECK_EQ(pwrite(target->fd, "x", 1, 4096), 1);
	target_close(target);
	CHECK_EQ(open_it(&(struct target_request){ .spec = "/dev/zero" }, &target, &err), 0);
	target_close(target);
	check_refusal(&(struct target_request){ .spec = "/dev/null" }, -EFBIG,
		      "/dev/null has nothing to read; read /dev/zero");
}

static void the_kernels_line_of_counters_is_read(void)
{
	/* Columns as in Documentation/block/stat.rst. */
	struct device_counters c;

	CHECK_EQ(counters_parse("   184062    41005 14204612    52011   901022   120331 40110276   "
				"810022        3   402110   902110    90112        7 80110220     "
				"4022    52001    36055\n",
				&c),
		 0);
	CHECK_EQ(c.read_count, 184062);
	CHECK_EQ(c.read_bytes, 14204612ull * 512);
	CHECK_EQ(c.write_count, 901022);
	CHECK_EQ(c.write_bytes, 40110276ull * 512);
	CHECK_EQ(c.in_flight_count, 3);
	CHECK_EQ(c.discard_count, 90112);
	CHECK_EQ(c.discard_bytes, 80110220ull * 512);
	CHECK_EQ(c.flush_count, 52001);
	CHECK_EQ(c.read_merge_count, 41005);
	CHECK_EQ(c.read_ms, 52011);
	CHECK_EQ(c.write_merge_count, 120331);
	CHECK_EQ(c.write_ms, 810022);
	CHECK_EQ(c.busy_ms, 402110);
	CHECK_EQ(c.queue_ms, 902110);
	/* Linux before 4.18: eleven columns. */
	CHECK_EQ(counters_parse("1 2 3 4 5 6 7 8 9 10 11", &c), 0);
	CHECK_EQ(c.write_count, 5);
	CHECK_EQ(c.discard_count, 0);
	CHECK_EQ(c.flush_count, 0);
	CHECK_EQ(counters_parse("1 2 3 4 5 6 7 8 9 10", &c), -EINVAL);
	CHECK_EQ(counters_parse("", &c), -EINVAL);
	CHECK_EQ(counters_parse("1 2 3 x 5 6 7 8 9 10 11", &c), -EINVAL);
	CHECK_EQ(counters_parse("1 2 3 -4 5 6 7 8 9 10 11", &c), -EINVAL);
}

static void null_has_no_counters(void)
{
	struct device_counters counters;
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(&(struct target_request){ .spec = "null:" }, &target, &err), 0);
	CHECK_EQ(target_counters(target, &counters, &err), -ENODEV);
	target_close(target);
}

TESTS(TEST(null_has_the_size_it_is_given), TEST(null_completes_everything_in_order_and_at_once),
      TEST(what_makes_no_sense_is_one_sentence), TEST(reading_a_file_leaves_it_alone),
      TEST(an_empty_file_is_refused), TEST(writing_a_file_needs_the_very_file_named),
      TEST(a_file_that_a_program_has_locked_is_in_use),
      TEST(a_directory_gets_a_file_that_vanishes), TEST(zero_reads_and_null_writes),
      TEST(the_kernels_line_of_counters_is_read), TEST(null_has_no_counters))
