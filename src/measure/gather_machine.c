/* SPDX-License-Identifier: MIT */
#include "measure/gather.h"

#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/sysfs.h"
#include "base/units.h"

/* The value of the first "name : value" line of a file; "" when there is none. */
static void read_value(const char *path, const char *name, char *ret, size_t ret_bytes)
{
	char line[4096];
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	const size_t length = strlen(name);

	ret[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = strchr(line, ':');

		if (strncmp(line, name, length) != 0 || !value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(ret, ret_bytes, "%.*s", (int)strcspn(value, "\n"), value);
		return;
	}
}

static void read_virtualisation(const char *root, char *ret, size_t ret_bytes)
{
	static const struct {
		const char *vendor, *name;
	} vendors[] = {
		{ "QEMU", "qemu" },	      { "KVM", "kvm" },
		{ "Amazon EC2", "amazon" },   { "Google", "google" },
		{ "VMware", "vmware" },	      { "innotek", "virtualbox" },
		{ "Xen", "xen" },	      { "Microsoft Corporation", "hyper-v" },
		{ "Parallels", "parallels" }, { "OpenStack", "openstack" },
	};
	char vendor[128], path[PATH_MAX], flags[4096];

	ret[0] = '\0';
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	read_value(path, "flags", flags, sizeof(flags));
	/* Only with the CPU's own word for it: some vendors make real machines too. */
	if (!strstr(flags, " hypervisor"))
		return;
	snprintf(ret, ret_bytes, "hypervisor");
	sysfs_read(vendor, sizeof(vendor), "%s/sys/class/dmi/id/sys_vendor", root);
	for (size_t i = 0; i < ARRAY_COUNT(vendors); i++)
		if (strncmp(vendor, vendors[i].vendor, strlen(vendors[i].vendor)) == 0)
			snprintf(ret, ret_bytes, "%s", vendors[i].name);
}

void gather_machine(const char *root, struct machine *ret)
{
	struct utsname uts;
	char path[PATH_MAX], line[128];
	unsigned long long kib = 0;

	*ret = (struct machine){ 0 };
	if (uname(&uts) == 0) {
		snprintf(ret->kernel, sizeof(ret->kernel), "%.95s", uts.release);
		snprintf(ret->hostname, sizeof(ret->hostname), "%.63s", uts.nodename);
	}
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	read_value(path, "model name", ret->cpu_model, sizeof(ret->cpu_model));
	sysfs_read(ret->governor, sizeof(ret->governor),
		   "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", root);
	read_virtualisation(root, ret->virtualisation, sizeof(ret->virtualisation));
	ret->cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (sysfs_read(line, sizeof(line), "%s/proc/meminfo", root) == 0)
		sscanf(line, "MemTotal: %llu kB", &kib);
	ret->memory_bytes = kib * KIB;
}

static bool read_own_io(const char *root, struct meters *ret)
{
	char path[PATH_MAX], read_text[32], write_text[32];

	snprintf(path, sizeof(path), "%s/proc/self/io", root);
	read_value(path, "read_bytes", read_text, sizeof(read_text));
	read_value(path, "write_bytes", write_text, sizeof(write_text));
	ret->own_read_bytes = strtoull(read_text, NULL, 10);
	ret->own_write_bytes = strtoull(write_text, NULL, 10);
	return read_text[0] && write_text[0];
}

static uint64_t read_steal_ns(const char *root)
{
	char line[256];
	unsigned long long steal = 0;

	/* user nice system idle iowait irq softirq steal */
	if (sysfs_read(line, sizeof(line), "%s/proc/stat", root) < 0 ||
	    sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		return 0;
	return steal * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t read_cpu_throttles(const char *root)
{
	const long cpu_count = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t sum = 0;

	for (long cpu = 0; cpu < cpu_count; cpu++)
		sum += sysfs_read_u64(
			0, "%s/sys/devices/system/cpu/cpu%ld/thermal_throttle/core_throttle_count",
			root, cpu);
	return sum;
}

void gather_meters(const char *root, const struct target *target, struct meters *ret)
{
	*ret = (struct meters){ 0 };
	ret->have_device = target_counters(target, &ret->device, NULL) == 0;
	ret->have_own = read_own_io(root, ret);
	ret->steal_ns = read_steal_ns(root);
	ret->cpu_throttle_count = read_cpu_throttles(root);
}

static double read_celsius(const char *dir, const char *file)
{
	char line[32];
	double milli;

	if (sysfs_read(line, sizeof(line), "%s/%s", dir, file) < 0 ||
	    sscanf(line, "%lf", &milli) != 1)
		return NAN;
	/* Drives that set no limit give nonsense such as 65261 °C. */
	return milli > -60e3 && milli < 150e3 ? milli / 1000 : NAN;
}

double gather_temperature_c(const char *root, const char *device, double *ret_limit_c)
{
	/* NVMe; drivetemp on SATA; NVMe with multipath, whose disk hangs below the subsystem. */
	static const char *const places[] = { "hwmon*", "hwmon/hwmon*", "nvme*/hwmon*" };
	double celsius = NAN;

	*ret_limit_c = NAN;
	for (size_t i = 0; i < ARRAY_COUNT(places) && device[0] && isnan(celsius); i++) {
		char pattern[PATH_MAX];
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s/sys/block/%s/device/%s", root, device,
			 places[i]);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc && isnan(celsius); k++) {
			celsius = read_celsius(found.gl_pathv[k], "temp1_input");
			*ret_limit_c = read_celsius(found.gl_pathv[k], "temp1_max");
		}
		globfree(&found);
	}
	return celsius;
}
