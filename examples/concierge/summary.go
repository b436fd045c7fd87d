package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/fakes"
)

// Summary tells what happened in conversations.
type Summary struct {
	conversations, said, messages, entries int
	operations                             map[botctx.Op]int
}

// Summarize counts what happened on a platform in so many conversations.
func Summarize(platform *fakes.Platform, conversations int) Summary {
	s := Summary{conversations: conversations, messages: len(platform.Sent()), operations: map[botctx.Op]int{}}
	for _, choice := range platform.Choices() {
		if !choice.IsMute {
			s.said++
		}
	}
	for _, call := range platform.Calls() {
		s.operations[call.Op]++
		s.entries += entriesIn(call.Result)
	}
	return s
}

// entriesIn returns how many entries of data sources a result holds.
func entriesIn(result any) int {
	switch result := result.(type) {
	case datasource.FetchDataFromDataSourceResult:
		return len(result.Entries)
	case datasource.FetchGeoNearFromDataSourceResult:
		return len(result.Entries)
	case datasource.FindAndModifyDataFromDataSourceResult:
		if result.Value != nil {
			return 1
		}
	}
	return 0
}

// Print writes the summary of what happened in a time.
func (s Summary) Print(out io.Writer, took time.Duration) error {
	called := 0
	var byName strings.Builder
	for _, op := range slices.Sorted(maps.Keys(s.operations)) {
		called += s.operations[op]
		fmt.Fprintf(&byName, "    %-36s %6d\n", op, s.operations[op])
	}
	_, err := fmt.Fprintf(out, summary,
		s.conversations, s.said+s.messages, called, byName.String(), s.entries, s.messages, took.Seconds())
	return err
}

const summary = `
Summary
  conversations     %6d
  turns             %6d
  operations called %6d
%s  entries found     %6d
  messages sent     %6d
  wall time         %6.2f s
`
