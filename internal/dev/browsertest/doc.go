// Package browsertest drives the pages of simulator, admin and desk in a headless Chromium, and tries examples/host there, if one
// is installed.
package browsertest
