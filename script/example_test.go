package script_test

import (
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// With CacheDir, later processes need not compile the engine again.
var options = script.Options{CacheDir: scripttest.CacheDir()}

// Load reports all errors of a folder at once.
func ExampleLoad_problems() {
	_, err := script.Load(folder(
		"shop/nodes.json", `{"tree": "shop", "nodes": [
  {"compositeId": "menu", "trigger": {"text": "menu"}, "responses": [{"type": "TEXT", "text": "Tea?"}]},
  {"compositeId": "a", "parent": "menu", "trigger": {"text": "a"}, "preActions": "claim.js"},
  {"compositeId": "b", "parent": "menue", "trigger": {"text": "b"}, "preActions": "clain.js"}
]}`,
		"shop/claim.js", "this.code = 1;\nreturn 1 +;",
	), options)
	fmt.Println(err)
	// Output:
	// 3 problems:
	//   shop/claim.js:2:11: invalid argument: unexpected token in expression: ';'
	//   shop/nodes.json:4:34: invalid argument: nodes[2].parent: the tree "shop" has no node menue, which is the parent of b (tree shop): pass the parent to Handle first, or in the same call: did you mean "menu"?
	//   shop/nodes.json:4:83: invalid argument: nodes[2].preActions: "clain.js" is not there: did you mean "claim.js"?
}

func Example() {
	engine, err := script.New(options)
	if err != nil {
		panic(err)
	}
	greet, err := engine.Compile("greet.js", `
		this.member.meta.visits = (this.member.meta.visits ?? 0) + 1
		await this.sendResponse({response: {type: 'TEXT', text: 'Hello ' + this.member.firstName}})
	`)
	if err != nil {
		panic(err)
	}
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "hi", Trigger: botctx.AnyText(), Pre: botctx.Do(greet.Action())})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	fmt.Println(ada.Last(), ada.Member().Meta)
	// Output:
	// Hello Ada {"visits":1}
}
