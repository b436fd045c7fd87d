package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestMailReader_ReadsOn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(mailSupport)
	ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
	support := p.MailReader("Support <support@SHOP.example>")
	support.SeesNothing()
	ada.Says("It leaks.")
	bob.Says("Mine, too.")
	p.MailReader("sales@shop.example").SeesNothing()
	support.Sees("Ada has a question")
	fork := p.Fork()
	support.Sees("Bob has a question")
	support.SeesNothing()
	require.Equal(t, "Mine, too.", support.In(fork).Reads()[0].Text.Data)
	support.In(fork).SeesNothing()
	ada.Says("Again.")
	ada.Says("And again.")
	support.Sees("Ada has a question", "Ada has a question")
}

func TestMailReader_FailureShowsBoth(t *testing.T) {
	t.Parallel()
	for prints, expects := range map[string]func(support *fakes.MailReader){
		"fakes: s@shop.example sees another mail:\n  \"Bob has a question\"\n  \"Ada has a question\"\n   ^": func(s *fakes.MailReader) { s.Sees("Bob has a question") },
		"fakes: s@shop.example got no further mail, and expected is \"Bye\"":                                 func(s *fakes.MailReader) { s.Reads(); s.Sees("Bye") },
		"fakes: Sees is given no subject: say which s@shop.example sees, or SeesNothing":                     func(s *fakes.MailReader) { s.Sees() },
		"fakes: s@shop.example got what no expectation has read:\n" +
			"  \"Ada has a question\", sent at 2026-01-01 00:00:00": func(s *fakes.MailReader) { s.SeesNothing() },
	} {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) {
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			p.HandleFunc(mailBot("s@shop.example"))
			ada.Says("It leaks.")
			expects(p.MailReader("s@shop.example"))
		})
		require.Equal(t, []string{prints}, tb.failures)
	}
}
