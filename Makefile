# The front door; Meson does the work.
#
#   make          build build/tare
#   make run      install what is missing, build, and measure the storage under this directory
#   make test     install what is missing, build, run every test
#   make deps     install what is missing (as root, or with sudo)
#   make bench    the benchmark of the benchmark: ratios against fio
#   make fuzz     every fuzzer for 60 s
#   make install  to $(DESTDIR)$(PREFIX)

PREFIX ?= /usr/local
BUILD := build

.PHONY: all run test deps deps-test bench fuzz install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) $(if $(VERBOSE),-v) --quiet

$(BUILD)/build.ninja:
	@tools/deps check build
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

deps:
	@tools/deps install build

deps-test:
	@tools/deps install test

run: deps
	@$(MAKE) --no-print-directory all
	$(BUILD)/tare check .

test: deps-test
	@tools/test

bench: deps-test
	@$(MAKE) --no-print-directory all
	bench/vs-fio

fuzz: deps-test
	@tools/fuzz 60

install: all
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(DESTDIR))

clean:
	rm -rf build build-*
