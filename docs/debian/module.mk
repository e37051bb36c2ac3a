# SPDX-License-Identifier: GPL-2.0-or-later
# make deb: a Debian package in $(O)/deb, built with Debian's flags in a tree of its own.  Equal sources give equal
# bytes: times are those of SOURCE_DATE_EPOCH or, without, of the last commit.
# make check-deb: installs it in a scratch root, runs it from there and removes it again.
DEB_O         = $(O)/deb/build
deb_arch      = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH)
deb_variables = O=$(DEB_O) SAN= MPI=no prefix=/usr libdir=lib/$(deb_arch) \
                CFLAGS='$(shell dpkg-buildflags --get CFLAGS) $(shell dpkg-buildflags --get CPPFLAGS)' \
                LDFLAGS='$(shell dpkg-buildflags --get LDFLAGS)'

deb:
	$(Q)command -v dpkg-deb >/dev/null || { echo 'make deb needs the tools of Debian or Ubuntu (package dpkg-dev)' >&2; exit 1; }
	$(Q)PACKAGES="dpkg-dev" tests/deps
	$(Q)$(MAKE) --no-print-directory $(deb_variables) deb-stage
	$(Q)VERSION=$(VERSION) docs/debian/build $(O)/deb
# With the variables of the package.
deb-stage: all
	$(Q)rm -rf $(O)/../stage
	$(Q)$(MAKE) --no-print-directory -s DESTDIR=$(abspath $(O)/../stage) install > /dev/null
.PHONY: deb deb-stage check-deb

# Where the packages for that cannot be had, it says so and counts one skip; without lintian alone, the test does.
check-deb:
	$(Q)if why=$$(PACKAGES="dpkg-dev" tests/deps 2>&1); then \
	    PACKAGES="lintian fakeroot" tests/deps || :; \
	    $(MAKE) --no-print-directory deb && O=$(O) V='$(V)' tests/run tests/deb/package.t; \
	else \
	    echo "SKIP: what makes packages cannot be had: $$(printf '%s\n' "$$why" | tail -n 1)"; \
	    [ -z "$$RESULTS" ] || echo 0 0 1 0 >> "$$RESULTS/counts"; \
	    echo "0 passed, 0 failed, 1 skipped"; \
	fi
