package botctxtest_test

import (
	"strconv"

	"github.com/botctx/go-sdk/botctx/botctxtest"
)

// brokenIDs are the defects of what a run that is tried again sends.
var brokenIDs = map[string]breakage{
	"what a run sends has no id":              {altering: idsOf(func(int, botctxtest.Sent) string { return "" }), breaks: againRule},
	"what a run sends has a new id each time": {altering: idsOf(func(i int, _ botctxtest.Sent) string { return strconv.Itoa(i) }), breaks: againRule},
	"all that a run sends has one id":         {altering: idsOf(func(int, botctxtest.Sent) string { return "run" }), breaks: againRule},
	"equal texts of a run have one id": {
		altering: idsOf(func(_ int, s botctxtest.Sent) string { return s.Response.Text() }), breaks: againRule,
	},
	"an id tells what is said": {
		altering: idsOf(func(i int, s botctxtest.Sent) string { return s.Response.Text() + strconv.FormatBool(i%3 == 2) }), breaks: againRule,
	},
}

// againRule is the rule about the ids of a run that is tried again.
var againRule = []string{"ARunThatIsTriedAgainSendsUnderTheSameIDs"}

// idsOf gives what has arrived other ids.
func idsOf(id func(i int, s botctxtest.Sent) string) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		arrived := h.Sent
		h.Sent = func() []botctxtest.Sent {
			all := arrived()
			for i := range all {
				all[i].ID = id(i, all[i])
			}
			return all
		}
	}
}
