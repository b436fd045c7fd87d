package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// Columns prints two sides: on the left what customers see, on the right what agents do.
type Columns struct{ text strings.Builder }

// width is the number of characters of a column.
const width = 46

// Head prints the heads of the columns.
func (c *Columns) Head(left, right string) { c.print("", left, right) }

// Left prints a text on the left side.
func (c *Columns) Left(at time.Time, text string) { c.rows(at, text, "") }

// Right prints a text on the right side.
func (c *Columns) Right(at time.Time, text string) { c.rows(at, "", text) }

// Both prints a text that concerns both sides.
func (c *Columns) Both(at time.Time, text string) {
	text = "-- " + text + " "
	c.print(at.UTC().Format(time.TimeOnly), text+strings.Repeat("-", width-utf8.RuneCountInString(text)), strings.Repeat("-", width))
}

// rows prints a text on one side, in as many rows as it needs, the first with the time.
func (c *Columns) rows(at time.Time, left, right string) {
	stamp := at.UTC().Format(time.TimeOnly)
	lefts, rights := wrapped(boterr.Visible(left)), wrapped(boterr.Visible(right))
	for i := range max(len(lefts), len(rights)) {
		c.print(stamp, rowOf(lefts, i), rowOf(rights, i))
		stamp = ""
	}
}

// rowOf returns a row, or "" if there are fewer.
func rowOf(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return ""
}

func (c *Columns) print(stamp, left, right string) {
	row := fmt.Sprintf("%8s  %-*s | %s", stamp, width, left, right)
	c.text.WriteString(strings.TrimRight(row, " ") + "\n")
}

// wrapped returns a text in rows that fit into a column, broken between words.
func wrapped(text string) []string {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		row := ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case row == "":
				row = word
			case utf8.RuneCountInString(row+" "+word) <= width:
				row += " " + word
			default:
				rows = append(rows, row)
				row = "  " + word
			}
		}
		rows = append(rows, row)
	}
	return rows
}
