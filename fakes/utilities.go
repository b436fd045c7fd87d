package fakes

import (
	"github.com/botctx/go-sdk/utility"
)

// Utilities is the fake of one domain: the operations that mail, charge and upload, as a
// view of a platform.
type Utilities struct {
	utility.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
	// Account is the payment account "shop".
	Account *Account
}

// NewUtilities returns the operations that mail, charge and upload of a fresh platform.
func NewUtilities(options ...Option) *Utilities {
	p, actor := oneMember(options)
	return &Utilities{Operations: actor.Context(), Platform: p, Member: actor, Account: p.AddAccount("shop")}
}
