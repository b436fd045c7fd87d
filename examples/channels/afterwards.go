package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// printAfterwards prints what the conversation has left on the platforms, and around them.
func (s *stage) printAfterwards() {
	s.printReceived()
	s.page.title("What there is on the platforms now")
	for _, ada := range s.adas {
		for _, line := range append(s.left(ada), s.changed(ada)...) {
			s.page.row(row{on: string(ada.on), text: line})
		}
	}
	s.page.title("Payments, mails and files")
	const form = "  %-8s %-10s %-10s %-10s %-22s %s"
	s.page.line(fmt.Sprintf(form, "", "payment", "charged", "refunded", "mailed to", "file"), indent)
	for i, payment := range s.account.Payments() {
		on := payment.Metadata["channel"]
		s.page.line(fmt.Sprintf(form, on, payment.ID, priceOf(payment.Amount), priceOf(payment.Refunded),
			s.Mails()[i].To[0].Address, s.fileOf(on)), indent)
	}
}

// printReceived prints how many messages of which type Ada has received.
func (s *stage) printReceived() {
	s.page.title("How many messages of each type Ada received")
	s.page.cells("", func(on channel.Type) string { return string(on) })
	count := map[send.Type]map[channel.Type]int{}
	var types []send.Type
	for _, sent := range s.Sent() {
		kind := sent.Response.Type()
		if count[kind] == nil {
			count[kind] = map[channel.Type]int{}
			types = append(types, kind)
		}
		if sent.Member == s.ada(sent.Type).ID() {
			count[kind][sent.Type]++
		}
	}
	for _, kind := range types {
		s.page.cells(string(kind), func(on channel.Type) string {
			if n := count[kind][on]; n > 0 {
				return strconv.Itoa(n)
			}
			return "-"
		})
	}
}

// fileOf returns the key of a platform's file.
func (s *stage) fileOf(on string) string {
	for _, file := range s.Files() {
		if file.Channel == on {
			return file.Key
		}
	}
	return ""
}

// left returns what only Ada's platform has.
func (s *stage) left(ada customer) []string {
	on := string(ada.on)
	switch ada.on {
	case channel.Alpha:
		lines := []string{
			"labels of Ada: " + strings.Join(ada.Labels(), ", "),
			fmt.Sprintf("the conversation is with %s: %q", ada.Thread().AppID, ada.Thread().Metadata),
		}
		for _, kept := range s.Attachments(on) {
			lines = append(lines, fmt.Sprintf("keeps the %s %s as %s", kept.Type, kept.URL, kept.ID))
		}
		for _, sent := range s.Broadcasts(on) {
			lines = append(lines, fmt.Sprintf("broadcast %d of message %d to %q reached %s",
				sent.ID, sent.Message.ID, sent.LabelID, strings.Join(sent.Reached, ", ")))
		}
		return lines
	case channel.Echo:
		return []string{fmt.Sprintf("tags of Ada: %v", ada.Tags())}
	case channel.Charlie:
		chat := s.chatOf(ada)
		return []string{fmt.Sprintf("conversation %s is archived: %t", chat, s.IsArchived(on, chat))}
	default:
		return nil
	}
}

// chatOf returns the platform's id of the conversation with Ada.
func (s *stage) chatOf(ada customer) string {
	for _, sent := range s.Sent() {
		if sent.Member == ada.ID() {
			return sent.ChatID
		}
	}
	return ""
}

// changed returns the messages that show something else than what was sent.
func (s *stage) changed(ada customer) []string {
	var lines []string
	for _, sent := range s.Sent() {
		if sent.Member == ada.ID() && sent.Shown.String() != sent.Response.String() {
			lines = append(lines,
				fmt.Sprintf("%s shows %q", sent.MessageID, sent.Shown.Text()),
				fmt.Sprintf("  in place of %q", sent.Response.Text()))
		}
	}
	return lines
}
