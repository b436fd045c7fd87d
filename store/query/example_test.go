package query_test

import (
	"fmt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

func ExampleCompileFilter() {
	filter, err := query.CompileFilter(document.O("age", document.O("$gte", 18)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Source(), filter.Match(document.O("age", 36)))

	_, err = query.CompileFilter(document.O("name", document.O("$regex", "a(?=b)")))
	fmt.Println(err)
	// Output:
	// {"age":{"$gte":18}} true
	// unsupported: name.$regex: the pattern has look-ahead, which patterns do not support: match the text after it as well, or give another condition with $and or $not
}
