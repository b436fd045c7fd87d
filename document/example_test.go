package document_test

import (
	"fmt"

	"github.com/botctx/go-sdk/document"
)

func Example() {
	order := document.O("id", "o1", "lines", document.A(document.O("sku", "tea", "quantity", 2)))
	copied := order
	order.Set("customer.name", "Ada")

	fmt.Println(order)
	fmt.Println(document.Get(order, "customer.name", "no name"), document.Get(order, "lines.0.quantity", 0))
	fmt.Println(document.Get(copied, "customer.name", "no name"))
	// Output:
	// {"id":"o1","lines":[{"sku":"tea","quantity":2}],"customer":{"name":"Ada"}}
	// Ada 2
	// no name
}

func ExampleSet() {
	fmt.Println(document.Set("taken", true, "by", "m1"))
	fmt.Println(document.Inc("visits", 1))
	fmt.Println(document.O("$set", document.O("done", true), "$push", document.O("log", "done")))
	// Output:
	// {"$set":{"taken":true,"by":"m1"}}
	// {"$inc":{"visits":1}}
	// {"$set":{"done":true},"$push":{"log":"done"}}
}

func ExampleEncode() {
	type visit struct {
		Place string `json:"place"`
		Stars int    `json:"stars,omitempty"`
	}
	o, err := document.Encode(visit{Place: "Museum", Stars: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read visit
	fmt.Println(o, document.Decode(o, &read), read)
	fmt.Println(document.Decode(document.O("stars", "many"), &read))
	// Output:
	// {"place":"Museum","stars":4} <nil> {Museum 4}
	// invalid argument: stars: must be of type number, got string
}

func ExampleChange() {
	type progress struct {
		Step  int    `json:"step"`
		Order string `json:"order,omitempty"`
	}
	meta := document.O("step", 1, "language", "de")
	if err := document.Change(&meta, func(p *progress) { p.Step, p.Order = p.Step+1, "tea" }); err != nil {
		fmt.Println(err)
		return
	}
	now, err := document.As[progress](meta)
	fmt.Println(meta, now.Order, err)
	// Output:
	// {"step":2,"language":"de","order":"tea"} tea <nil>
}
