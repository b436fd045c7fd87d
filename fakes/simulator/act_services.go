package simulator

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// servicePlays are what other services refuse, each of which a conversation can do again.
func servicePlays() map[string]reader {
	return map[string]reader{
		"declineCharge": of(declineCharge),
		"failMail":      of(failMail),
		"failFile":      of(failFile),
		"bounce":        of(bounce),
	}
}

// declineWith is a payment account, and the code with which it declines.
type declineWith struct {
	Account string `json:"account"`
	Code    string `json:"code"`
}

func declineCharge(b *branch, with declineWith) (moment, error) {
	code := strings.TrimSpace(with.Code)
	if code == "" {
		return moment{}, boterr.Missing("code", "why it is declined, such as insufficient_funds")
	}
	return b.does(conversation.DeclinesCharge{Account: with.Account, Code: code},
		moment{what: "The next charge of " + with.Account + " is declined: " + code})
}

// codeWith is a code of boterr.
type codeWith struct {
	Code boterr.Code `json:"code"`
}

// check refuses what is no code.
func (c codeWith) check() error {
	if !slices.Contains(boterr.Codes(), c.Code) {
		return boterr.Invalid("code", "is %q: give one of package boterr", string(c.Code))
	}
	return nil
}

func failMail(b *branch, with codeWith) (moment, error) {
	return with.fails(b, conversation.ServiceMail)
}

func failFile(b *branch, with codeWith) (moment, error) {
	return with.fails(b, conversation.ServiceFile)
}

// fails lets the next request to a service fail.
func (c codeWith) fails(b *branch, of string) (moment, error) {
	if err := c.check(); err != nil {
		return moment{}, err
	}
	return b.does(conversation.ServiceFails{Of: of, Code: c.Code}, moment{what: "Fault: the next " + of + " fails with " + string(c.Code)})
}

// addressWith is the address of a mailbox.
type addressWith struct {
	Address string `json:"address"`
}

func bounce(b *branch, with addressWith) (moment, error) {
	address := strings.TrimSpace(with.Address)
	return b.does(conversation.Bounces{Address: address},
		moment{what: "Mail to " + address + " bounces", out: append(outBut(b, "mail to "+address), "mail to "+address)})
}
