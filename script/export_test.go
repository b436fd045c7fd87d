package script

import "github.com/botctx/go-sdk/internal/scripttest"

// ByStep returns options with which the limits on computing time, and the limits for reading sources, count the
// steps of scripts.
func ByStep(options Options) Options {
	options.clock = scripttest.Steps
	return options
}
