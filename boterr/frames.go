package boterr

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// module is the path that the SDK's packages begin with.
const module = "github.com/botctx/go-sdk/"

// Frames returns the calls of the code that panicked, the innermost first, such as
// "coupon.Claim (claim.go:41)": what stands between the panic and the SDK that called it. It is
// empty for a panic in the SDK's own code, and for a PanicError that Recovered did not make.
func (p *PanicError) Frames() []string {
	var names []string
	if p == nil || len(p.calls) == 0 {
		return nil
	}
	frames, isBelowPanic := runtime.CallersFrames(p.calls), false
	for {
		frame, hasMore := frames.Next()
		switch {
		case !isBelowPanic: // These are the deferred functions that recover.
			isBelowPanic = frame.Function == "runtime.gopanic"
		case !isMachinery(frame.Function):
			names = append(names, nameOf(frame))
		case len(names) > 0:
			return names
		}
		if !hasMore {
			return names
		}
	}
}

// isMachinery reports whether a function is of the SDK or of Go's runtime, and not of who uses
// them. Tests and examples of the SDK are users.
func isMachinery(function string) bool {
	if strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/") {
		return true
	}
	inside, isOfSDK := strings.CutPrefix(function, module)
	folders, rest := path.Split(inside)
	pkg, _, _ := strings.Cut(rest, ".")
	return isOfSDK && !strings.HasSuffix(pkg, "_test") && !strings.HasPrefix(folders, "examples/")
}

// nameOf names a call without the path of its package and its file.
func nameOf(frame runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line)
}
