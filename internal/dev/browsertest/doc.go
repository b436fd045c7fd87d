// Package browsertest drives the pages of simulator and admin in a headless Chromium, if one is installed.
package browsertest
