package botctx

import (
	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

//go:generate go run ../internal/generate

// Operations is every operation that there is, of all domains together. *Context
// implements it; FromCaller makes one of a door that takes JSON.
type Operations interface {
	channel.Operations
	member.Operations
	datasource.Operations
	agenda.Operations
	NodeOperations
	livechat.Operations
	send.Operations
	utility.Operations
}

// A context has every operation. A method that is missing here is written by make generate.
var _ Operations = (*Context)(nil)

// Op is the name of an operation in the specification, such as OpGetMember. The
// constants name all of them, those that answer Unsupported included.
type Op string
