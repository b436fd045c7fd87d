package sendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/send"
)

type verdict struct {
	fault Fault
	rule  string
	text  string
	codes []boterr.Code
	// isOfMessages is true if the fault only affects Send.
	isOfMessages bool
	// mayPass is true if a request may succeed despite the fault.
	mayPass bool
}

// verdicts has a row for each fault that leads to a specific error.
var verdicts = []verdict{
	{
		fault: RateLimited, rule: "RateLimitIsResourceExhausted", codes: []boterr.Code{boterr.ResourceExhausted},
		text: "a rate limit is ResourceExhausted",
	},
	{
		fault: Broken, rule: "FailureOfThePlatformIsUnavailable", codes: []boterr.Code{boterr.Unavailable},
		text: "if the platform fails, the outcome is unknown: the error has no code, or Unavailable",
	},
	{
		fault: NoAnswer, rule: "NoAnswerIsUnavailable", codes: []boterr.Code{boterr.Unavailable},
		text: "if no answer arrives, the outcome is unknown: the error has no code, or Unavailable",
	},
	{
		fault: BadCredentials, rule: "BadCredentialsAreFailedPrecondition", codes: []boterr.Code{boterr.FailedPrecondition},
		text: "refused credentials are FailedPrecondition",
	},
	{
		fault: UnknownRecipient, rule: "UnknownRecipientIsNotFound", codes: []boterr.Code{boterr.NotFound}, isOfMessages: true,
		text: "an unknown recipient is NotFound",
	},
	{
		fault: Blocked, rule: "BlockedRecipientIsFailedPrecondition", codes: []boterr.Code{boterr.FailedPrecondition}, isOfMessages: true,
		text: "a recipient who may not be written to is FailedPrecondition",
	},
	{
		fault: Rejected, rule: "RejectedMessageIsInvalidArgument", codes: []boterr.Code{boterr.InvalidArgument}, isOfMessages: true,
		text: "a message that the platform cannot show is InvalidArgument",
	},
	{
		fault: Garbled, rule: "GarbledAnswerIsNoRefusal", codes: []boterr.Code{boterr.Unavailable}, mayPass: true,
		text: "if the answer cannot be read, the outcome is unknown: the error has no code, or Unavailable; there may be no " +
			"error if the status is enough; nothing panics",
	},
}

func faultRules() []Rule {
	rules := []Rule{
		{
			Name:    "RateLimitTellsWhenToComeAgain",
			Text:    "if the platform names the time to wait, ResourceExhausted wraps a *send.RetryAfterError",
			applies: func(h *Harness) bool { return h.has(RateLimited) },
			check: func(t *trial) {
				t.Fail(RateLimited)
				_, err := t.send(t.Context(), t.message(send.Text("Hello")))
				t.requireCode(boterr.ResourceExhausted, err, "Send")
				hint, has := errors.AsType[*send.RetryAfterError](err)
				require.True(t, has && hint.After > 0, "the error wraps no *send.RetryAfterError with a time: %v", err)
				require.InDelta(t, ComeAgain, hint.After, float64(ComeAgain/2), "the platform asks to wait %v: %v", ComeAgain, err)
			},
		},
		{
			Name: "LostAnswerIsNotSentTwice",
			Text: "if the answer to an accepted message is lost, the connector repeats the request only with a key by which the " +
				"platform detects repeats",
			applies: func(h *Harness) bool { return h.has(LostAnswer) },
			check: func(t *trial) {
				t.Fail(LostAnswer)
				_, err := t.send(t.Context(), t.message(send.Text("Hello")))
				t.requireCode(boterr.Unavailable, err, "Send")
				require.Len(t, t.Arrived(), 1, "messages that arrived")
			},
		},
		rule(connectorOutlivesFaults, "after any fault, the next message arrives as usual"),
		rule(errorsHoldNoCredentials, "no error contains a credential of the channel, even if the platform's answer does"),
	}
	for _, v := range verdicts {
		rules = append(rules, Rule{
			Name: v.rule, Text: v.text, applies: func(h *Harness) bool { return h.has(v.fault) }, check: v.check,
		})
	}
	return rules
}

// check turns on the fault and makes every request that it affects.
func (v verdict) check(t *trial) {
	t.Fail(v.fault)
	for _, ask := range t.meeting(v) {
		for range v.repeats() {
			err := t.try(ask.name, func() error { return ask.do(t, t.Context(), t.Channel) })
			if err != nil || !v.mayPass {
				require.Error(t, err, "%s during the fault %s", ask.name, v.fault)
				require.Contains(t, v.codes, t.codeOf(t.Context(), err), "%s returned: %v", ask.name, err)
			}
		}
	}
	if !v.mayPass {
		require.Empty(t, t.Arrived(), "messages that arrived despite the fault")
	}
}

func (t *trial) meeting(v verdict) []ask {
	all := asks(t.Harness)
	if v.isOfMessages || slices.Contains(t.SendsAlone, v.fault) {
		return all[:1]
	}
	return all
}

// repeats returns how often each request is made: Garbled has several bodies to try.
func (v verdict) repeats() int {
	if v.fault == Garbled {
		return len(garbled)
	}
	return 1
}

func connectorOutlivesFaults(t *trial) {
	for _, fault := range Faults() {
		if !t.has(fault) || fault == Silent {
			continue
		}
		t.Fail(fault)
		_, _ = t.send(t.Context(), t.message(send.Text("Lost")))
		t.Fail(Healthy)
		text := "After " + string(fault)
		t.mustSend(t.message(send.Text(text)))
		arrived := t.Arrived()
		require.NotEmpty(t, arrived)
		require.Equal(t, text, arrived[len(arrived)-1].Text)
	}
}

func errorsHoldNoCredentials(t *trial) {
	secrets := t.credentials()
	for _, fault := range Faults() {
		if !t.has(fault) || fault == Silent {
			continue
		}
		t.Fail(fault)
		for _, ask := range asks(t.Harness) {
			err := t.try(ask.name, func() error { return ask.do(t, t.Context(), t.Channel) })
			for _, secret := range secrets {
				told := fmt.Sprintf("%v %+v %#v", err, err, err)
				require.NotContains(t, told, secret, "the error of %s contains a credential, during the fault %s", ask.name, fault)
				require.False(t, err != nil && strings.Contains(chain(err), secret),
					"the error of %s wraps an error that contains a credential, during the fault %s", ask.name, fault)
			}
		}
	}
}

// chain returns the texts of an error and of all errors that it wraps.
func chain(err error) string {
	var texts []string
	for ; err != nil; err = errors.Unwrap(err) {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// shortestSecret is the minimum length of credentials to search for. Shorter texts occur by chance.
const shortestSecret = 6

// credentials returns the texts that no error may contain: the values in the channel's info that its JSON
// hides, and the harness's Secrets.
func (t *trial) credentials() []string {
	t.Helper()
	secrets := slices.Clone(t.Secrets)
	stored, err := document.Encode(t.Channel)
	require.NoError(t, err)
	text, err := t.Channel.MarshalJSON()
	require.NoError(t, err)
	for _, found := range textsOf(document.Get(stored, "info", document.Object{})) {
		if len(found) >= shortestSecret && !strings.Contains(string(text), found) {
			secrets = append(secrets, found)
		}
	}
	return secrets
}

func textsOf(value any) []string {
	var texts []string
	switch v := value.(type) {
	case string:
		return []string{v}
	case document.Array:
		for _, item := range v.All() {
			texts = append(texts, textsOf(item)...)
		}
	case document.Object:
		for _, field := range v.All() {
			texts = append(texts, textsOf(field)...)
		}
	}
	return texts
}

// The size of the test in concurrentSendsArriveOnce.
const (
	senders       = 8
	eachSenderHas = 6
)

var safetyRules = []Rule{
	rule(concurrentSendsArriveOnce,
		"a connector is safe for concurrent use: each of many concurrent messages arrives once, at its recipient, in its channel"),
	{
		Name: "NothingGivenIsChanged",
		Text: "a connector does not modify the channel, the member or the response of a message",
		check: func(t *trial) {
			for _, sample := range samples() {
				message := t.message(sample.response)
				before := t.picture(message)
				_, _ = t.send(t.Context(), message)
				require.Equal(t, before, t.picture(message), sample.name)
			}
		},
	},
	{
		Name: "AbsentFieldsAreErrors",
		Text: "a message without a channel, a recipient or a response never panics, and is an error unless it is sent",
		check: func(t *trial) {
			for name, message := range map[string]func(m *send.Message){
				"nothing":      func(m *send.Message) { *m = send.Message{} },
				"no channel":   func(m *send.Message) { m.Channel = nil },
				"no recipient": func(m *send.Message) { m.To, m.Member = "", nil },
				"no response":  func(m *send.Message) { m.Response = send.Response{} },
				"empty fields": func(m *send.Message) {
					m.Response = send.Raw(document.O("type", nil, "buttons", 7, "text", document.A()))
				},
			} {
				m := t.message(send.Text("Hello"))
				message(&m)
				before := len(t.Arrived())
				if _, err := t.send(t.Context(), m); err == nil {
					require.Greater(t, len(t.Arrived()), before, "%s: Send returned no error, but nothing arrived", name)
				}
			}
			for _, ask := range asks(t.Harness) {
				require.Error(t, t.try(ask.name, func() error { return ask.do(t, t.Context(), nil) }), "%s without a channel must fail", ask.name)
			}
		},
	},
	{
		Name:    "ChannelWithoutCredentialsIsFailedPrecondition",
		Text:    "a channel without credentials, or with another platform's, is FailedPrecondition, and no request is sent",
		applies: func(h *Harness) bool { return h.has(BadCredentials) },
		check: func(t *trial) {
			for name, info := range map[string]channel.Info{
				"no info": nil, "empty info": channel.OtherInfo{}, "another platform's info": channel.DeltaInfo{TbID: "7"},
			} {
				for _, ask := range asks(t.Harness) {
					err := t.try(ask.name, func() error { return ask.do(t, t.Context(), t.in(info)) })
					t.requireCode(boterr.FailedPrecondition, err, ask.name+" with "+name)
				}
			}
			require.Empty(t, t.Arrived())
		},
	},
}

// picture returns everything in a message as text, including credentials, to detect changes.
func (t *trial) picture(m send.Message) string {
	t.Helper()
	in, err := document.Encode(m.Channel)
	require.NoError(t, err)
	to, err := document.Encode(m.Member)
	require.NoError(t, err)
	return fmt.Sprintf("%s %s %s", in, to, m.Response)
}

func concurrentSendsArriveOnce(t *trial) {
	channels := []*channel.Channel{t.Channel, t.Other}
	var messages []send.Message
	for i := range senders * eachSenderHas {
		message := t.messageTo(t.Members[i%2], send.Text(fmt.Sprintf("message number %d", i)))
		message.Channel = channels[i/2%2]
		messages = append(messages, message)
	}
	errs := conformance.AtOnce(senders, func(sender int) error {
		var errs []error
		for i := range eachSenderHas {
			_, err := t.send(t.Context(), messages[sender*eachSenderHas+i])
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	require.NoError(t, errors.Join(errs...))
	expected, got := map[string]string{}, map[string]string{}
	for _, m := range messages {
		expected[m.Response.Text()] = m.Channel.ID + " " + m.To
	}
	arrived := t.Arrived()
	for _, arrival := range arrived {
		got[arrival.Text] = arrival.Channel + " " + arrival.To
	}
	require.Equal(t, expected, got)
	require.Len(t, arrived, len(messages), "messages that arrived")
}

func canceledContext(ctx context.Context) context.Context {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return ended
}
