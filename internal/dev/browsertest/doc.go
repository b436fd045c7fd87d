// Package browsertest drives the pages of simulator and admin in a headless Chromium, where one is installed.
package browsertest
