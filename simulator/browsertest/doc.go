// Package browsertest drives the simulator's page in a headless Chromium, where one is installed.
package browsertest
