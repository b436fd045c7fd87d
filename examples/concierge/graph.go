package main

import (
	"errors"
	"io"

	"github.com/botctx/go-sdk/botctx"
)

// drawing is the language in which the graph of the bot is printed, "" for none. It is the flag -graph.
type drawing string

// The languages of graphs.
const (
	drawingMermaid drawing = "mermaid"
	drawingDOT     drawing = "dot"
)

// String implements flag.Value.
func (d *drawing) String() string { return string(*d) }

// IsBoolFlag makes -graph alone -graph=true.
func (d *drawing) IsBoolFlag() bool { return true }

// Set implements flag.Value.
func (d *drawing) Set(given string) error {
	switch given {
	case "true", string(drawingMermaid):
		*d = drawingMermaid
	case string(drawingDOT):
		*d = drawingDOT
	default:
		return errors.New("is neither mermaid nor dot")
	}
	return nil
}

// writeTo prints the graph of the bot. It is the same for all places.
func (d *drawing) writeTo(out io.Writer) error {
	graph, err := botctx.GraphOf(Concierge{}.Nodes()...)
	if err != nil {
		return err
	}
	text := graph.Mermaid()
	if *d == drawingDOT {
		text = graph.DOT()
	}
	_, err = io.WriteString(out, text)
	return err
}
