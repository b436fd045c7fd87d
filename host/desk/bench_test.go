package desk_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/store/memstore"
)

// BenchmarkRead reads 500 open chats. A desk does so each second while a page is open, and after changes.
func BenchmarkRead(b *testing.B) {
	database := memstore.New()
	d, err := desk.New(desk.Config{Store: database})
	require.NoError(b, err)
	var requests, members []document.Object
	for i := range desk.MaxListed {
		id := strconv.Itoa(1000 + i)
		requests = append(requests, document.O(
			"_id", id, "app", "shop", "slot", id, "member", id, "inlet", "web", "sentAt", 1, "assignedAt", 2, "assignee", "grace", "outlet", "desk",
			"groupInfo", document.O("externalId", "chat-"+id), "createdAt", 1,
			"tickets", document.A(document.O("id", "1", "channel", "desk", "type", "desk", "group", document.O("id", "support"), "sentAt", 1)),
		))
		members = append(members, document.O("_id", id, "app", "shop", "channel", "web", "externalId", id, "firstName", "Ada"))
	}
	require.NoError(b, database.Collection("assignments").Insert(b.Context(), requests...))
	require.NoError(b, database.Collection("members").Insert(b.Context(), members...))
	d.Listening("shop")
	for b.Loop() {
		require.NoError(b, d.Read(b.Context()))
	}
}
