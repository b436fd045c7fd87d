package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// Dialogue is a recorded conversation between a user and an assistant.
type Dialogue struct {
	ID       string   `json:"dialogue_id"`
	Services []string `json:"services"`
	Turns    []Turn   `json:"turns"`
}

// Turn is what one of the two says.
type Turn struct {
	Speaker   string        `json:"speaker"`
	Utterance string        `json:"utterance"`
	Acts      []Act         `json:"acts"`
	Calls     []ServiceCall `json:"calls"`
}

// The speakers of turns.
const (
	speakerUser   = "USER"
	speakerSystem = "SYSTEM"
)

// Act is a part of the meaning of a turn: INFORM, say, of a slot and its values.
type Act struct {
	Act    string   `json:"act"`
	Slot   string   `json:"slot"`
	Values []string `json:"values"`
}

// ServiceCall is what the assistant looked up or booked before it spoke.
type ServiceCall struct {
	Service    string            `json:"service"`
	Method     string            `json:"method"`
	Parameters document.Object   `json:"parameters"`
	Results    []document.Object `json:"results"`
}

// DataSource returns the data source that the call asks: each service has one for
// each of its methods.
func (c ServiceCall) DataSource() string { return c.Service + "." + c.Method }

// Filter returns the call's parameters as a filter. "dontcare" is no constraint.
func (c ServiceCall) Filter() document.Object {
	filter := document.O()
	for slot, value := range c.Parameters.All() {
		if value != "dontcare" {
			filter = filter.With(slot, document.O("$eq", value))
		}
	}
	return filter
}

// maxDialogueSize is the most bytes of a conversation.
const maxDialogueSize = 64 << 20

// ReadDialogues reads conversations, a JSON object on each line. Errors name the line.
func ReadDialogues(in io.Reader) ([]Dialogue, error) {
	var dialogues []Dialogue
	ids := map[string]bool{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxDialogueSize)
	for number := 1; lines.Scan(); number++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		dialogue, err := readDialogue(text)
		if err == nil && ids[dialogue.ID] {
			err = fmt.Errorf("the conversation %s stands on an earlier line, too", dialogue.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		ids[dialogue.ID] = true
		dialogues = append(dialogues, dialogue)
	}
	return dialogues, lines.Err()
}

// readDialogue reads one conversation.
func readDialogue(text []byte) (Dialogue, error) {
	var d Dialogue
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("it is no conversation in JSON: %w", err)
	}
	if d.ID == "" {
		return d, errors.New("dialogue_id is missing")
	}
	if len(d.Turns) == 0 || d.Turns[0].Speaker != speakerUser {
		return d, fmt.Errorf("conversation %s must begin with a turn whose speaker is %s", d.ID, speakerUser)
	}
	for i, turn := range d.Turns {
		if err := turn.validate(); err != nil {
			return d, fmt.Errorf("conversation %s, turns[%d]: %w", d.ID, i, err)
		}
	}
	return d, nil
}

func (t Turn) validate() error {
	if t.Speaker != speakerUser && t.Speaker != speakerSystem {
		return fmt.Errorf("speaker is %q, and must be %s or %s", t.Speaker, speakerUser, speakerSystem)
	}
	if t.Utterance == "" {
		return errors.New("utterance is missing")
	}
	if t.Speaker == speakerUser && len(t.Calls) > 0 {
		return errors.New("calls stand on turns of the " + speakerSystem + " only")
	}
	for i, call := range t.Calls {
		if call.Service == "" || call.Method == "" {
			return fmt.Errorf("calls[%d]: service or method is missing", i)
		}
		if slices.ContainsFunc(call.Results, document.Object.IsZero) {
			return fmt.Errorf("calls[%d]: a row of results is null, and must be an object", i)
		}
	}
	return nil
}

// SaveRows puts the rows that calls returned into data sources. A row that was
// returned several times is one entry, for its _id is made of what it holds.
func SaveRows(ctx context.Context, data datasource.Operations, dialogues []Dialogue) error {
	rows := map[string]map[string]document.Object{}
	var sources []string
	for _, call := range callsOf(dialogues) {
		source := call.DataSource()
		if rows[source] == nil {
			rows[source] = map[string]document.Object{}
			sources = append(sources, source)
		}
		for _, row := range call.Results {
			id := rowID(row)
			rows[source][id] = row.With("_id", id)
		}
	}
	for _, source := range sources {
		if err := saveRows(ctx, data, source, rows[source]); err != nil {
			return fmt.Errorf("the rows of %s: %w", source, err)
		}
	}
	return nil
}

// saveRows puts rows into one data source, in the order of their ids.
func saveRows(ctx context.Context, data datasource.Operations, source string, rows map[string]document.Object) error {
	if len(rows) == 0 {
		return nil
	}
	var entries []document.Object
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		entries = append(entries, rows[id])
	}
	_, err := data.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{DataSourceID: source, Data: entries})
	return err
}

// rowID returns an id that rows share only if they are the same.
func rowID(row document.Object) string {
	sum := sha256.Sum256([]byte(row.String()))
	return hex.EncodeToString(sum[:8])
}

// callsOf returns the calls of conversations in order.
func callsOf(dialogues []Dialogue) []ServiceCall {
	var calls []ServiceCall
	for _, dialogue := range dialogues {
		for _, turn := range dialogue.Turns {
			calls = append(calls, turn.Calls...)
		}
	}
	return calls
}
