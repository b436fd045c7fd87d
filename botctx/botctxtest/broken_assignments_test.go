package botctxtest_test

import (
	"github.com/botctx/go-sdk/livechat"
)

// brokenAssignments are the defects of operations on assignments.
var brokenAssignments = map[string]breakage{
	"createAssignment leaves the member where it was": {
		breaking: gives(func(_ livechat.CreateAssignmentParams, r *livechat.CreateAssignmentResult) {
			r.Member.BotMeta.Set("liveChat", false)
		}),
		breaks: []string{"CreateAssignmentPutsTheMemberInLiveChat"},
	},
}
