package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// step is a part of the conversation: a patient says something, or days pass.
type step struct {
	patient, says string
	days          int
}

var conversation = []step{
	{patient: "Ada", says: "Hello!"},
	{patient: "Bob", says: "book"},
	{patient: "Bob", says: "1"},
	{patient: "Ada", says: "book"},
	{patient: "Ada", says: "1"},
	{patient: "Bob", says: "stop"}, // He gets no more messages from here on.
	{days: 2},
	{patient: "Ada", says: "move"},
	{patient: "Ada", says: "1"},
	{days: 6}, // The day before comes, then the appointment, which ends the exercises.
	{patient: "Bob", says: "start"},
	{patient: "Bob", says: "book"},
	{patient: "Bob", says: "2"},
	{days: 1},
	{patient: "Bob", says: "cancel"},
	{days: 4}, // No more messages come.
	{patient: "Ada", says: "cancel"},
}

// openings returns the available times after a time, for days of the given length.
func openings(after time.Time, day time.Duration) []time.Time {
	var times []time.Time
	for _, hours := range []int64{73, 101, 169, 265, 293} {
		times = append(times, after.Add(time.Duration(int64(day)*hours/24)))
	}
	return times
}

// Transcript prints the conversation. It is safe for concurrent use.
type Transcript struct {
	Out io.Writer
	mu  sync.Mutex
}

// Print prints a message with its time. Messages cannot control the terminal.
func (t *Transcript) Print(at time.Time, from, to, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := boterr.Visible(fmt.Sprintf("%s  %s > %s: ", at.UTC().Format("Mon _2 Jan 15:04:05"), from, to))
	_, err := fmt.Fprintln(t.Out, head+strings.ReplaceAll(boterr.Visible(text), "\n", "\n"+strings.Repeat(" ", len(head))))
	return err
}
