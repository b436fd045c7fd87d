package member_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

func Example() {
	ctx := context.Background()
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	found, err := ada.Context().FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
		Filter: document.O("firstName", "Ada", "meta.greeted", document.O("$ne", true)),
		Patch:  document.Set("meta.greeted", true),
		Option: member.FindAndModifyOption{New: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Member.ID, found.Member.Meta)
	// Output:
	// member-1 {"greeted":true}
}

func ExampleEnsureIndex() {
	ctx := context.Background()
	database := memstore.New()
	if err := member.EnsureIndexes(ctx, database); err != nil {
		fmt.Println(err)
		return
	}
	// The bot looks for members by the plan that it keeps in their meta.
	fmt.Println(member.EnsureIndex(ctx, database, "meta.plan"))
	// Output:
	// <nil>
}
