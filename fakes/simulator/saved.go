package simulator

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/page"
)

// The forms in which what was done is saved.
const (
	formGo           = "go"
	formConversation = "text"
)

// saved returns what was done in a branch, up to the moment that is shown, as a Go test or as a file of a
// conversation.
func (s *session) saved(id, form string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.branchOf(id)
	if err == nil {
		err = b.checkSaved()
	}
	switch {
	case err != nil:
		return "", err
	case s.busy != "":
		return "", boterr.New(boterr.Conflict, "", "something is under way: try again when the bot has answered")
	case form == formConversation:
		return b.stage.Conversation().String(), nil
	case form == formGo:
		return b.stage.GoTest(s.goTest())
	default:
		return "", boterr.Invalid("form", "is %q: give %q or %q", form, formGo, formConversation)
	}
}

// goTest tells how a test is written.
func (s *session) goTest() conversation.GoTest {
	as := conversation.GoTest{Package: s.settings.Test.Package, Nodes: s.settings.Test.Nodes, Platform: s.settings.Test.Platform}
	if s.isOwn {
		as.Platform = ""
	} else if !s.hasNodes {
		as.Nodes = ""
	}
	return as
}

// checkSaved refuses what no conversation can do again.
func (b *branch) checkSaved() error {
	var unsaved []string
	for number, m := range b.past() {
		if m.isUnsaved {
			unsaved = append(unsaved, fmt.Sprintf("step %d (%s)", number, m.what))
		}
	}
	if len(unsaved) > 0 {
		return boterr.New(boterr.Unsupported, "", "a saved conversation has people, time, and faults of the next call: not %s. "+
			"Go back and do without, in a fork if both are to stay", strings.Join(unsaved, ", "))
	}
	if planned := b.platform.Planned(); len(planned) > 0 {
		return boterr.New(boterr.FailedPrecondition, "", "a fault is still to come, and a test fails that does not meet it: %s. "+
			"Let it happen, or go back before it", planned[0])
	}
	return nil
}

// answerSaved answers with what was done, as a file.
func (s *session) answerSaved(w http.ResponseWriter, r *http.Request) {
	text, err := s.saved(r.FormValue("branch"), r.FormValue("form"))
	if err != nil {
		page.Fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) //nolint:gosec // It is no HTML, and who is gone needs no answer.
}
