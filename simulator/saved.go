package simulator

import (
	"net/http"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/page"
)

// step is what was done, for a saved conversation. A zero one has no place there.
type step struct {
	by   *person
	says string
	// taps is what was tapped, at a place among what has its title.
	taps  *fakes.Tappable
	which int
	// takes is the place of a ticket among those that the agent has seen, from 0 on.
	takes  *int
	isEnd  bool
	passes *time.Duration
	// added is who was added, on a channel of a platform if that was added, too.
	added    *person
	channel  string
	platform channel.Type
	// faultOf is an operation whose next call fails with a code, is late, or times out.
	faultOf  botctx.Op
	code     boterr.Code
	late     time.Duration
	timesOut bool
}

// answerSaved answers with what was done, as a file.
func (s *session) answerSaved(w http.ResponseWriter, _ *http.Request) {
	page.Fail(w, http.StatusNotImplemented, boterr.New(boterr.Unsupported, "", "nothing is saved yet"))
}
