package fakes

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// PageInbox is the application that gets a conversation on Alpha which is handed on
// without saying to whom: people who answer for the page.
const PageInbox = "page-inbox"

// Thread says who controls a conversation on Alpha.
type Thread struct {
	// AppID is the application that has control, "" where the bot has it.
	AppID string
	// Metadata is what that application was handed.
	Metadata string
}

// IsWithBot reports whether the bot has control.
func (t Thread) IsWithBot() bool { return t.AppID == "" }

// PassThreadControl implements send.ThreadPasser. FailedPrecondition: another application
// has control.
func (a alpha) PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	if err := a.reach(ctx, in); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := answered(ctx, a.outbox, in.ID, "a thread", func() (struct{}, error) { return struct{}{}, a.passThread(in, to, handover) })
	return err
}

// passThread hands a conversation on. The caller holds the mutex.
func (a alpha) passThread(in *channel.Channel, to string, handover send.ThreadHandover) error {
	at := address{in.ID, to}
	if thread, isPassed := a.kept.alpha.threads[at]; isPassed {
		return boterr.New(boterr.FailedPrecondition, "", "the application %q controls the conversation with %s already: "+
			"only it can hand it on", thread.AppID, to)
	}
	thread := Thread{AppID: handover.TargetAppID, Metadata: handover.Metadata}
	if thread.AppID == "" {
		thread.AppID = PageInbox
	}
	put(&a.kept.alpha.threads, at, thread)
	a.platform.notef("the conversation with %s goes to %s: %q", a.called(at), thread.AppID, thread.Metadata)
	return nil
}

// Thread returns who controls the conversation with a member of an Alpha channel.
func (a *Actor) Thread() Thread {
	a.platform.test.Helper()
	a.mustBeOn(channel.Alpha, "threads")
	o := &a.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.alpha.threads[a.address()]
}

// ReturnThread lets the application that controls the conversation with a member of an
// Alpha channel give it back to the bot. It ends the test where the bot has it.
func (a *Actor) ReturnThread() {
	a.platform.test.Helper()
	if a.Thread().IsWithBot() {
		a.platform.test.Fatalf("fakes: the bot controls the conversation with %s: nobody can give it back", a.name)
		return
	}
	o := &a.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.kept.alpha.threads, a.address())
	a.platform.notef("the conversation with %s comes back to the bot", a.name)
}
