package send

import "github.com/botctx/go-sdk/boterr"

// PanicError is a panic, such as one of a connector while one of several messages was sent.
// It stands behind an Internal error.
type PanicError = boterr.PanicError
