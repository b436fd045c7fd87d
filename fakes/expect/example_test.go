package expect_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func Example() {
	p := fakes.New() // In a test: fakes.New(fakes.For(t)).
	p.Handle(&botctx.Node{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: []send.Response{
		send.Buttons("Which size?", send.Postback("Small", "s"), send.Postback("Large", "l")),
		send.Image("https://shop.example/kettle.png"),
	}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("kettle")
	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
	ada.SeesMessage(expect.Media("https://shop.example/kettle.png"))
	ada.SeesNothing()
	// Output:
}

func ExampleThat() {
	short := expect.That("a short text", func(m send.Response) bool { return len(m.Text()) < 10 })

	fmt.Printf("%q\n", short.Difference(send.Text("Which?")))
	fmt.Println(short.Difference(send.Text("Which size do you want?")))
	// Output:
	// ""
	// this is not so in  "Which size do you want?"
}

func ExampleMatch() {
	price := expect.Match(regexp.MustCompile(`^\d+ EUR$`))

	fmt.Println(price, strings.TrimSpace(price.Difference(send.Text("25 USD"))))
	// Output:
	// a text that matches ^\d+ EUR$ not in  "25 USD"
}
