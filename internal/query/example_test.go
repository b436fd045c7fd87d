package query_test

import (
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func Example() {
	order := document.O("lines", document.A(document.O("sku", "tea", "quantity", 2)))
	filter, err := query.CompileFilter(document.O("lines.sku", "tea"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Match(order))
	// Output:
	// true
}

func ExampleCompileFilter() {
	_, err := query.CompileFilter(document.O("age", document.O("$greater", 18)))
	fmt.Println(err)
	// Output:
	// invalid argument: age.$greater: $greater is not an operator here, or is not supported
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
