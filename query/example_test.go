package query_test

import (
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
)

func Example() {
	order := document.O("id", "o1", "lines", document.A(document.O("sku", "tea", "quantity", 2)))
	order.Set("customer.name", "Ada")

	filter, err := query.CompileFilter(document.O("lines.sku", "tea"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Match(order))
	fmt.Println(document.Get(order, "customer.name", "nobody"), document.Get(order, "lines.0.quantity", 0))
	fmt.Println(order)
	// Output:
	// true
	// Ada 2
	// {"id":"o1","lines":[{"sku":"tea","quantity":2}],"customer":{"name":"Ada"}}
}

func ExampleCompileFilter() {
	_, err := query.CompileFilter(document.O("age", document.O("$greater", 18)))
	fmt.Println(err)
	// Output:
	// invalid argument: age.$greater: $greater is no operator that can stand here, or is not supported
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

func ExampleFilter_Check() {
	filter, err := query.CompileFilter(document.O("$expr", document.O("$gt", document.A(
		document.O("$divide", document.A("$spent", "$budget")), 0.9,
	))))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Check(document.O("spent", 95, "budget", 100)))
	fmt.Println(filter.Check(document.O("spent", 95, "budget", 0)))
	// Output:
	// true <nil>
	// false invalid argument: $expr.$divide: cannot divide by zero
}
