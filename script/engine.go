package script

import (
	"sync"

	"github.com/dlclark/regexp2/v2"
)

// Engine compiles scripts and runs them. It is safe for concurrent use.
//
// As many of its scripts compute at once as there are processors when it is made; the others wait for their
// turn, as they do for what they call. So one engine is for all scripts of a process.
type Engine struct {
	*compiler

	options Options
	modules *modules
	watch   *watch
	slots   *slots
	// ready has the *prepared of each set of helpers that scripts name.
	ready sync.Map
	// fetch compiles fetch.js, once.
	fetch func() (*code, error)
	// tooLong is the error of a script whose deadline has come.
	tooLong error
}

// New returns an engine. A limit that is none is InvalidArgument, with the field of Options.
//
// It bounds for the whole process how long a pattern of the package regexp2 is tried, unless somebody
// has set that already: scripts that have patterns with look-around or back-references run them by it.
func New(options Options) (*Engine, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	boundMatches()
	compiling := newCompiler()
	return &Engine{
		compiler: compiling,
		options:  options,
		modules:  newModules(options.Modules, compiling),
		watch:    newWatch(options),
		slots:    newSlots(),
		fetch:    sync.OnceValues(compiling.compileFetch),
		tooLong:  errTooLong(options.Deadline),
	}, nil
}

// boundMatches bounds how long a pattern is tried.
var boundMatches = sync.OnceFunc(func() {
	if regexp2.DefaultMatchTimeout > longestMatch {
		regexp2.DefaultMatchTimeout = longestMatch
	}
})
