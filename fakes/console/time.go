package console

import "github.com/botctx/go-sdk/fakes/conversation"

// stamp is how the virtual time is shown.
const stamp = "Mon 2 Jan 2006 15:04:05 MST"

// advance lets time pass.
func (s *session) advance(argument string) error {
	by, err := conversation.Duration(argument)
	if err != nil {
		return err
	}
	s.act(conversation.Waits{For: by})
	s.screen.notef("It is %s.", s.platform.Now().Format(stamp))
	return nil
}
