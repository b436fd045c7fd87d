package agenda_test

import (
	"context"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func Example() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Template("Time for tea, {{firstName}}.")}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	_, err := ada.Context().NewAgenda(context.Background(), agenda.NewParams{
		MemberID:        ada.ID(),
		NodeCompositeID: "reminder",
		NextRunAt:       document.TimestampOf(p.Now().Add(time.Hour)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Advance(time.Hour)
	fmt.Println(ada.Last())
	// Output:
	// Time for tea, Ada.
}
