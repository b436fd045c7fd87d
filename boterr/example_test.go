package boterr_test

import (
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
)

func Example() {
	err := fmt.Errorf("welcome flow: %w",
		boterr.Wrap("getMember", boterr.New(boterr.NotFound, "memberId", "there is no member %s in this app", "m7")))

	fmt.Println(errors.Is(err, boterr.NotFound))
	if e, ok := boterr.AsError(err); ok {
		fmt.Println(e.Op, e.Code, e.Field)
	}
	fmt.Println(err)
	// Output:
	// true
	// getMember not found memberId
	// welcome flow: getMember: not found: memberId: there is no member m7 in this app
}
