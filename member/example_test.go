package member_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func Example() {
	ctx := context.Background()
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	found, err := ada.Context().FindAndModifyMember(ctx, member.FindAndModifyParams{
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
