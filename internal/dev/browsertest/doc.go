// Package browsertest tests the pages of simulator, admin, desk and examples/host in a headless Chromium, if one is
// installed.
package browsertest
