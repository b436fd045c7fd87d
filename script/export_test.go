package script

import "github.com/botctx/go-sdk/internal/scripttest"

// ByStep returns options that count steps of scripts in place of time, for the limits on computing and compiling.
func ByStep(options Options) Options {
	options.clock = scripttest.Steps
	return options
}
