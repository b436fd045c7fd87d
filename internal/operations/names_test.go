package operations_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

func TestGoName(t *testing.T) {
	t.Parallel()
	for jsonName, want := range map[string]string{
		"dataSourceId":                 "DataSourceID",
		"memberId":                     "MemberID",
		"fbId":                         "FbID",
		"collectionName":               "CollectionName",
		"url":                          "URL",
		"imageUrl":                     "ImageURL",
		"isRenewGroupInviteLink":       "IsRenewGroupInviteLink",
		"CcAddresses":                  "CcAddresses",
		"STATUS":                       "STATUS",
		"JSAPITicket":                  "JSAPITicket",
		"_id":                          "ID",
		"_docsIds":                     "DocsIDs",
		"attachment_id":                "AttachmentID",
		"messageTs":                    "MessageTS",
		"getAssignmentByBravoGroupId":  "GetAssignmentByBravoGroupID",
		"sendAlphaResponseToMemberIds": "SendAlphaResponseToMemberIDs",
		"setBravoGroupIcon":            "SetBravoGroupIcon",
		"inletEndLiveChat":             "InletEndLiveChat",
		"EchoSaveMemberTag":            "EchoSaveMemberTag",
		"identity":                     "Identity",
	} {
		require.Equal(t, want, operations.GoName(jsonName), jsonName)
	}
}
