package livechat

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/display"
)

// UnsentError is the error behind that of a request that did not reach all of its targets.
// errors.AsType finds it:
//
//	if unsent, ok := errors.AsType[*livechat.UnsentError](err); ok { ... }
type UnsentError struct {
	// AssignmentID is the id of the assignment that was sent in part. It is "" where nothing was
	// sent and no further call can change that: then there is no assignment.
	AssignmentID string
	// Failures are the targets that did not get it, in their order.
	Failures []Unsent
	// Of is how many targets there are.
	Of int
	// IsOpen is whether the request is open without the targets that did not get it: they
	// refused it so that another try would end alike, as a group that is not there does.
	IsOpen bool
}

// Unsent is one target that did not get a request, and why.
type Unsent struct {
	// Channel is the id of the outlet channel, Group the broadcast group in it: the zero
	// one where the channel has the request directly.
	Channel string
	Group   channel.BroadcastGroupMember
	Err     error
}

// Error names the targets, the first of many.
func (u *UnsentError) Error() string {
	if u == nil {
		return "internal: a nil *livechat.UnsentError was returned as an error: return nil itself"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d targets did not get the request: ", len(u.Failures), u.Of)
	text.WriteString(display.List(len(u.Failures), func(i int) string {
		failure := u.Failures[i]
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(failure.Channel+" "+failure.Group.ID), display.Text(failure.Err))
	}))
	switch {
	case u.AssignmentID == "":
		text.WriteString("; nothing was sent, and there is no request")
	case u.IsOpen:
		fmt.Fprintf(&text, "; the assignment %s is open without them: correct or remove them", u.AssignmentID)
	default:
		fmt.Fprintf(&text, "; the same call again sends what is missing of the assignment %s", u.AssignmentID)
	}
	return text.String()
}

// Unwrap returns the error of each target. The nil pointer has none.
func (u *UnsentError) Unwrap() []error {
	if u == nil {
		return nil
	}
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}
