package simulator

import (
	"fmt"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/page"
)

// beat is how often a line is sent where nothing happens, so that who is gone is noticed.
const beat = 20 * time.Second

// beat is the constant, or how often it is looked for other nodes.
func (s *session) beat() time.Duration {
	if s.settings.Reload == nil {
		return beat
	}
	return lookEvery
}

// events tells, as server-sent events, that the world has changed: at once where the page knows another
// revision than there is, by Last-Event-ID, and after each change. The page asks for the world then. What
// changes several times in between is told once.
func (s *session) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // A proxy in between hands each on at once.
	w.WriteHeader(http.StatusOK)
	if _, err := fmt.Fprint(w, "retry: 1000\n\n"); err != nil {
		return
	}
	if err := out.Flush(); err != nil {
		return
	}
	ticks := time.NewTicker(s.beat())
	defer ticks.Stop()
	known := r.Header.Get("Last-Event-ID")
	for {
		revision, changed := s.state()
		id := fmt.Sprintf("%s.%d", s.instance, revision)
		line := fmt.Sprintf("id: %s\nevent: changed\ndata: {\"instance\":%q,\"revision\":%d}\n\n", id, s.instance, revision)
		if id == known {
			line = ": here\n\n"
		}
		if _, err := fmt.Fprint(w, line); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		known = id
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ticks.C:
			s.lookNow()
		}
	}
}

// answerWorld answers with the world of the branch that is asked for.
func (s *session) answerWorld(w http.ResponseWriter, r *http.Request) {
	told, err := s.world(fakes.Observing(r.Context()), r.FormValue("branch"))
	if err != nil {
		page.Fail(w, http.StatusNotFound, err)
		return
	}
	page.Answer(w, http.StatusOK, told)
}

// answerAct does what is asked for.
func (s *session) answerAct(w http.ResponseWriter, r *http.Request) {
	var asked act
	err := page.Read(w, r, &asked)
	var acted outcome
	if err == nil {
		acted, err = s.act(r.Context(), asked)
	}
	if err != nil {
		page.Fail(w, statusOf(err), err)
		return
	}
	page.Answer(w, http.StatusOK, acted)
}

// statusOf returns the status of what was refused.
func statusOf(err error) int {
	switch boterr.CodeOf(err) {
	case boterr.NotFound:
		return http.StatusNotFound
	case boterr.Conflict, boterr.FailedPrecondition, boterr.Unsupported, boterr.ResourceExhausted:
		return http.StatusConflict
	default:
		return http.StatusBadRequest
	}
}
