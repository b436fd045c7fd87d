package simulator_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
)

// A bot that needs more than nodes gets a separate platform, with its members. Serve would serve it; here, a
// request loads the page.
func ExampleSimulator_Handler() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "hours", Trigger: botctx.TextIs("hours"), Responses: botctx.Say("From 9 to 18.")})
	p.AddData("orders", document.O("item", "kettle"))
	guest := p.AddMember(member.Member{FirstName: "Guest"})

	page, err := simulator.Simulator{Platform: p, Members: []*fakes.Actor{guest}, Bot: "Shop"}.Handler()
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://localhost/", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
