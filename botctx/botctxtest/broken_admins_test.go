package botctxtest_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
)

// Short for the table below.
type (
	getAdmin        = livechat.GetAdminParams
	adminByExternal = livechat.GetAdminByExternalIDParams
	adminRecord     = livechat.Admin
)

// brokenAdmins are the defects of operations that find agents.
var brokenAdmins = map[string]breakage{
	"getAdmin makes one up": {
		breaking: answers(func(call *botctx.Call, p getAdmin) *adminRecord {
			return &adminRecord{AppID: call.Context.Scope().App, AdminID: p.AdminID, ExternalID: "agent"}
		}),
		breaks: []string{"GetAdminReadsTheAgent", "GetAdminFindsNoOthers", "GetAdminRefusesBadInput"},
	},
	"getAdmin takes either id": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p getAdmin, next botctx.Next) (any, error) {
			found, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				if other, otherErr := bot.GetAdminByExternalID(ctx, adminByExternal{ExternalID: p.AdminID}); otherErr == nil {
					return other, nil
				}
			}
			return found, err
		}),
		breaks: []string{"GetAdminFindsNoOthers"},
	},
	"getAdmin shares the record": {breaking: kept[getAdmin, *adminRecord], breaks: []string{"GetAdminReadsTheAgent"}},
	"getAdminByExternalId makes one up": {
		breaking: answers(func(call *botctx.Call, p adminByExternal) *adminRecord {
			return &adminRecord{AppID: call.Context.Scope().App, AdminID: "admin", ExternalID: p.ExternalID}
		}),
		breaks: []string{
			"GetAdminByExternalIdReadsTheAgent", "GetAdminByExternalIdFindsNoOthers", "GetAdminByExternalIdRefusesBadInput",
		},
	},
	"getAdminByExternalId takes either id": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p adminByExternal, next botctx.Next) (any, error) {
			found, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				if other, otherErr := bot.GetAdmin(ctx, getAdmin{AdminID: p.ExternalID}); otherErr == nil {
					return other, nil
				}
			}
			return found, err
		}),
		breaks: []string{"GetAdminByExternalIdFindsNoOthers"},
	},
	"getAdminByExternalId shares the record": {
		breaking: kept[adminByExternal, *adminRecord], breaks: []string{"GetAdminByExternalIdReadsTheAgent"},
	},
}
